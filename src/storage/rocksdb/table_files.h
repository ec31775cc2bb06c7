#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stator/storage/store.h"

namespace rocksdb {
class DB;
struct LiveFileMetaData;
}  // namespace rocksdb

namespace stator::storage {

// The folder within a data folder for frozen files.  Files that are in it when a store is opened were left behind by a
// process.
inline constexpr std::string_view kFrozenFolder = "FROZEN";

// One table file, opened by itself.  The status does not name the file.
struct TableCheck {
  bool opened = false;  // its end, with the index of its blocks, could be read
  rocksdb::Status status;
};
enum class Blocks : std::uint8_t { Skipped, Read };
TableCheck check_table_file(const std::string& path, Blocks blocks);

// Reads one table file by itself and compares the checksum of every block.  Errors: Corruption, Storage.
Result<void> verify_table_file(const std::string& path);

// StoreFiles::verify() for the table files of a database.  `still_live` tells whether a file that could not be read is
// still part of it: compaction deletes files that it has replaced.
Result<std::vector<DamagedFile>> verify_table_files(const std::vector<rocksdb::LiveFileMetaData>& files,
                                                    const std::function<bool(const std::string& name)>& still_live,
                                                    const StoreFiles::Progress& progress);

// Links the table files of an open database to a new folder below `data_folder`, and copies the rest.  The caller keeps
// commits away meanwhile; identify() the files afterwards.  The folder goes with the answer.
class Checkpoint final : public FrozenFiles {
 public:
  static Result<std::unique_ptr<Checkpoint>> create(rocksdb::DB& db, const std::string& data_folder,
                                                    CommitSequence last_commit);
  ~Checkpoint() override;
  // Finds the size and the content id of every file.  Errors: Storage, Corruption.
  Result<void> identify();

  CommitSequence last_commit() const override { return last_commit_; }
  const std::vector<StoreFile>& files() const override { return files_; }
  Result<Bytes> read(std::size_t file, std::uint64_t offset, std::size_t limit) const override;

 private:
  Checkpoint(std::string folder, CommitSequence last_commit);

  const std::string folder_;
  const CommitSequence last_commit_;
  std::vector<StoreFile> files_;
};

// The files of a folder without a writer, in their places.  Errors: Storage, Corruption.
Result<std::unique_ptr<FrozenFiles>> freeze_in_place(rocksdb::DB& db, const std::string& data_folder,
                                                     CommitSequence last_commit);

// Removes the frozen files that a process left behind.
void remove_frozen_files(const std::string& data_folder);

}  // namespace stator::storage
