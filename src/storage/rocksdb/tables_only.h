#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stator::storage {

// A database opened for reading as if its logs were empty, to tell commits in table files from others. Changes nothing
// in the folder.  Not thread-safe.
class TablesOnly {
 public:
  // Damage of table files is found when they are opened, or only when they are read.
  enum class Damage : std::uint8_t { FoundAtOnce, FoundWhenRead };
  explicit TablesOnly(std::string folder, Damage damage = Damage::FoundAtOnce);
  ~TablesOnly();
  TablesOnly(const TablesOnly&) = delete;
  TablesOnly& operator=(const TablesOnly&) = delete;

  rocksdb::Status open();  // once
  rocksdb::DB& db() { return *db_; }

  // Logs that the manifest names, and the problem of each: "is missing".
  const std::vector<std::pair<std::uint64_t, std::string>>& bad_logs() const { return bad_logs_; }

 private:
  class EmptyLogs;

  const std::string folder_;
  const Damage damage_;
  const std::shared_ptr<EmptyLogs> files_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::vector<std::pair<std::uint64_t, std::string>> bad_logs_;
  std::unique_ptr<rocksdb::DB> db_;  // last: it uses the rest
};

// The tables that the manifest of a folder names, also damaged ones; nothing if the manifest cannot be read.
std::optional<std::vector<rocksdb::LiveFileMetaData>> named_tables(const std::string& folder);

}  // namespace stator::storage
