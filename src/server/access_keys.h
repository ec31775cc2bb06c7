#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/engine/engine.h"
#include "stator/http/sigv4.h"
#include "stator/server/private_file.h"

namespace stator::server {

struct AccessKeyRecord {
  std::string id, secret;
  std::string name;     // what its owner calls it; may be empty
  std::string created;  // 2026-11-15T10:30:00Z

  friend bool operator==(const AccessKeyRecord&, const AccessKeyRecord&) = default;
};

// The access keys of a database: the file keys.yaml in its data folder, which only its owner may read.
//
// A file beside the store rather than a record in it, so that keys can be made before the first start and while a server
// has the store open.  It is replaced as a whole, and changes of several processes take turns.  Holds no state, so it is
// as thread-safe as the folder.  docs/formats/access_keys.md.
class AccessKeyFile {
 public:
  explicit AccessKeyFile(std::string data_folder);

  const std::string& folder() const { return folder_; }
  const std::string& path() const { return path_; }

  // In the order in which they were made; none when there is no file.  Errors: Usage (not ours, or open to other users),
  // Storage.
  Result<std::vector<AccessKeyRecord>> load() const;

  // Makes a key, and the folder if it is not there.  Errors: Usage, Storage.
  Result<AccessKeyRecord> add(std::string_view name, const Clock& clock);
  // The keys that are left.  Errors: Usage (no such key), Storage.
  Result<std::vector<AccessKeyRecord>> remove(std::string_view id);

 private:
  Result<std::vector<AccessKeyRecord>> read(const PrivateFolder& folder) const;

  const std::string folder_, path_;
};

// Tells a verifier what the file says, whenever that changes, and lets the database remember that there were keys: a
// file that is lost, emptied or linked to nothing must not open the door.  Confined to one thread.
class AccessKeyFollower {
 public:
  // Verifier and engine outlive the follower.
  AccessKeyFollower(AccessKeyFile file, http::SignatureVerifier& verifier, engine::Engine& engine);

  // The first look.  Where there were keys and are none, or the file cannot be read, signatures are required, so that
  // everybody is refused, and the log says what to do; `allow_unsigned` makes the database forget that there were keys,
  // if there are none.  Errors: those of AccessKeyFile::load() where there never were keys; Storage, Corruption.
  Result<void> start(bool allow_unsigned);
  // Looks again.  A file that cannot be read leaves the keys as they are, and is logged once.
  void poll();

 private:
  // Differs when the file has been written, replaced, or given other permissions.
  using Stamp = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;
  Stamp stamp() const;
  Result<std::size_t> apply();
  // Lets the database remember that there are keys.  It is tried again with the next poll() while the database cannot
  // be written to.
  void remember();
  void log_shut(std::string_view why) const;

  const AccessKeyFile file_;
  http::SignatureVerifier& verifier_;
  engine::Engine& engine_;
  Stamp seen_{};
  bool to_remember_ = false;
};

}  // namespace stator::server
