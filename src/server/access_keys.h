#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/http/sigv4.h"

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

  const std::string& path() const { return path_; }

  // In the order in which they were made; none when there is no file.  Errors: Usage (not ours, or open to other users),
  // Storage.
  Result<std::vector<AccessKeyRecord>> load() const;

  // Makes a key, and the folder if it is not there.  Errors: Usage, Storage.
  Result<AccessKeyRecord> add(std::string_view name, const Clock& clock);
  // The keys that are left.  Errors: Usage (no such key), Storage.
  Result<std::vector<AccessKeyRecord>> remove(std::string_view id);

 private:
  Result<void> replace(const std::vector<AccessKeyRecord>& keys) const;

  const std::string folder_, path_;
};

// Tells a verifier what the file says, whenever that changes.  Confined to one thread.
class AccessKeyFollower {
 public:
  AccessKeyFollower(AccessKeyFile file, http::SignatureVerifier& verifier);  // the verifier outlives the follower

  // The first look.  Errors: those of AccessKeyFile::load().
  Result<void> start();
  // Looks again.  A file that cannot be read leaves the keys as they are, and is logged once.
  void poll();

 private:
  // Differs when the file has been written, replaced, or given other permissions.
  using Stamp = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;
  Stamp stamp() const;
  Result<std::size_t> apply();

  const AccessKeyFile file_;
  http::SignatureVerifier& verifier_;
  Stamp seen_{};
};

}  // namespace stator::server
