#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/engine/engine.h"
#include "stator/http/signature/sigv4.h"
#include "stator/server/secrets/private_files.h"

namespace stator::server {

struct AccessKeyRecord {
  std::string id, secret;
  std::string name;     // given by its owner; may be empty
  std::string created;  // 2026-11-15T10:30:00Z

  friend bool operator==(const AccessKeyRecord&, const AccessKeyRecord&) = default;
};

// The access keys of a database: the private file keys.yaml.
//
// In a data folder it is a file beside the store rather than a record in it, so that keys can be made before the first
// start and while a server has the store open.  Holds no state, so it is as thread-safe as the files.
// docs/formats/access_keys.md.
class AccessKeyFile {
 public:
  explicit AccessKeyFile(std::shared_ptr<PrivateFiles> files) : files_(std::move(files)) {}
  explicit AccessKeyFile(std::string data_folder) : files_(files_in_folder(std::move(data_folder))) {}

  PrivateFiles& files() const { return *files_; }
  std::string path() const;
  // Differs when the keys may have changed.  Errors: Storage, Corruption.
  Result<std::string> stamp() const;

  // In the order in which they were made; none when there is no file.  Errors: Usage (not ours, or open to other
  // users), Storage.
  Result<std::vector<AccessKeyRecord>> load() const;

  // Makes a key, and the data folder if it is not there.  Errors: Usage, Storage.
  Result<AccessKeyRecord> add(std::string_view name, const Clock& clock);
  // The keys that are left.  Errors: Usage (no such key), Storage.
  Result<std::vector<AccessKeyRecord>> remove(std::string_view id);

 private:
  Result<std::vector<AccessKeyRecord>> parse(const std::optional<std::string>& text) const;

  std::shared_ptr<PrivateFiles> files_;
};

// Why a server that other machines can reach does not start without keys.
Error no_keys(const Config& config, const AccessKeyFile& file);

// Gives the keys of the file to a verifier whenever the file changes, and records in the database that there were keys:
// if the file is lost, emptied or a broken link, unsigned requests must still be refused.  Confined to one thread.
class AccessKeyFollower {
 public:
  // Verifier and engine outlive the follower.
  AccessKeyFollower(AccessKeyFile file, http::SignatureVerifier& verifier, engine::Engine& engine);

  // Reads the file for the first time.  If there were keys before and there are none now, or if the file cannot be
  // read, every request is refused, and the log names the way out.  `allow_unsigned` removes the record that there were
  // keys, if there are none now.  Errors: those of AccessKeyFile::load() where there never were keys; Storage,
  // Corruption.
  Result<void> start(bool allow_unsigned);
  // Reads the file again if it has changed.  If it cannot be read, the keys stay as they are, and the log says so once;
  // see SignatureOptions::keys_last.
  void poll();

 private:
  Result<std::size_t> apply();
  void note_seen(std::string stamp, const Result<std::size_t>& keys, SteadyTime asked);
  void log_unconfirmed(const Error& error);
  // Lets the database remember that there are keys.  It is tried again with the next poll() while the database cannot
  // be written to.
  void remember();
  void log_shut(std::string_view why) const;

  const AccessKeyFile file_;
  http::SignatureVerifier& verifier_;
  engine::Engine& engine_;
  std::optional<std::string> seen_;  // the stamp of the file that was read last
  bool to_remember_ = false;
  bool told_unconfirmed_ = false;
};

}  // namespace stator::server
