#include "stator/server/access_keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "stator/base/assert.h"
#include "stator/base/log.h"

namespace stator::server {
namespace {

constexpr std::string_view kFileName = "keys.yaml";
constexpr std::size_t kMaxFileBytes = 1024 * 1024;
constexpr std::size_t kMaxKeys = 1000;
constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxIdBytes = 128;  // as IAM allows
constexpr std::size_t kMaxSecretBytes = 256;
constexpr std::string_view kHeading =
    "# Access keys of this database.  `stator key add`, `list` and `remove` look after this file, and a running "
    "server\n"
    "# follows it.  Whoever can read it can sign as any of these keys.\n";

Error usage(std::string message) { return {ErrorCode::Usage, std::move(message)}; }

Error system_failure(std::string_view what, const std::string& path, int code) {
  return {ErrorCode::Storage, fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(code))};
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0;
}

// Secrets come from the kernel; Random is for replaying tests.  Each character is one of 32 or 62, without bias.
std::string random_text(std::size_t length, std::string_view alphabet) {
  std::string text;
  const std::size_t fair = 256 / alphabet.size() * alphabet.size();
  while (text.size() < length) {
    std::array<unsigned char, 64> bytes;
    STATOR_ASSERT(::getentropy(bytes.data(), bytes.size()) == 0, "the kernel has random bytes for whoever asks");
    for (const auto byte : bytes) {
      if (byte < fair && text.size() < length) text += alphabet[byte % alphabet.size()];
    }
  }
  return text;
}

std::string timestamp(WallTime now) {
  const auto time = std::chrono::floor<std::chrono::seconds>(now);
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

bool is_printable(std::string_view text, char first) {
  return std::ranges::all_of(text, [&](char c) { return (c < 0 || c >= first) && c != 0x7f; });
}

// Neither a slash nor a comma: both end an id in an Authorization header.
bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdBytes && is_printable(text, '!') &&
         text.find_first_of("/,;=") == std::string_view::npos;
}

Result<std::vector<AccessKeyRecord>> read_keys(const YAML::Node& root, const std::string& path) {
  const auto at = [&](const YAML::Node& node, std::string_view what) {
    const auto mark = node.Mark();
    return mark.is_null() ? usage(fmt::format("{}: {}", path, what))
                          : usage(fmt::format("{}:{}:{}: {}", path, mark.line + 1, mark.column + 1, what));
  };
  const auto scalar = [](const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : std::string(); };

  if (!root.IsMap() || !root["version"] || !root["keys"]) return at(root, "expects `version: 1` and `keys`");
  if (scalar(root["version"]) != "1") {
    return at(root["version"], "is of a version that this stator does not know: use a newer stator");
  }
  const auto list = root["keys"];
  if (!list.IsSequence() || list.size() > kMaxKeys)
    return at(list, fmt::format("expects a list of at most {} keys", kMaxKeys));
  std::vector<AccessKeyRecord> keys;
  std::set<std::string> ids;
  for (const auto& entry : list) {
    if (!entry.IsMap()) return at(entry, "expects a key with its id and secret");
    AccessKeyRecord key;
    for (const auto& field : entry) {
      const auto name = scalar(field.first);
      auto* const member = name == "id"        ? &key.id
                           : name == "secret"  ? &key.secret
                           : name == "name"    ? &key.name
                           : name == "created" ? &key.created
                                               : nullptr;
      if (member == nullptr) return at(field.first, "a key has an id, a secret, a name and a time it was created");
      *member = scalar(field.second);
    }
    if (!is_id(key.id))
      return at(entry, "a key needs an id: up to 128 characters, none of them a space or one of / , ; =");
    if (key.secret.empty() || key.secret.size() > kMaxSecretBytes) return at(entry, "a key needs a secret");
    if (!ids.insert(key.id).second) return at(entry, fmt::format("{} is there a second time", key.id));
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string print_keys(const std::vector<AccessKeyRecord>& keys) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "version" << YAML::Value << 1 << YAML::Key << "keys" << YAML::Value
      << YAML::BeginSeq;
  for (const auto& key : keys) {
    out << YAML::BeginMap << YAML::Key << "id" << YAML::Value << key.id << YAML::Key << "secret" << YAML::Value
        << key.secret;
    if (!key.name.empty()) out << YAML::Key << "name" << YAML::Value << key.name;
    out << YAML::Key << "created" << YAML::Value << key.created << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return fmt::format("{}{}\n", kHeading, out.c_str());
}

// Held while a file is read, changed and replaced.
Result<void> lock_folder(const Descriptor& folder, const std::string& path) {
  if (!folder.is_open()) return system_failure("open", path, errno);
  while (::flock(folder.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_failure("lock", path, errno);
  }
  return {};
}

}  // namespace

AccessKeyFile::AccessKeyFile(std::string data_folder)
    : folder_(std::move(data_folder)), path_(fmt::format("{}/{}", folder_, kFileName)) {}

Result<std::vector<AccessKeyRecord>> AccessKeyFile::load() const {
  const Descriptor file(path_, O_RDONLY);
  if (!file.is_open() && (errno == ENOENT || errno == ENOTDIR)) return std::vector<AccessKeyRecord>();
  if (!file.is_open()) return system_failure("open", path_, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure("look at", path_, errno);
  if (!S_ISREG(status.st_mode)) return usage(fmt::format("{} is not a file", path_));
  if ((status.st_mode & 077U) != 0) {
    return usage(fmt::format("{} can be read by other users of this machine: chmod 600 {}", path_, path_));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const auto count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("read", path_, errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
    if (size > kMaxFileBytes) return usage(fmt::format("{} is longer than {} bytes", path_, kMaxFileBytes));
  }
  text.resize(size);
  try {
    return read_keys(YAML::Load(text), path_);
  } catch (const YAML::Exception& exception) {
    // The library's only way to say that a file is not YAML.
    return usage(fmt::format("{}:{}: is not YAML: {}", path_, exception.mark.line + 1, exception.msg));
  }
}

Result<AccessKeyRecord> AccessKeyFile::add(std::string_view name, const Clock& clock) {
  if (name.size() > kMaxNameBytes || !is_printable(name, ' ')) {
    return usage(fmt::format("a key's name is at most {} characters, without line breaks", kMaxNameBytes));
  }
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code) return usage(fmt::format("cannot create data folder {}: {}", folder_, code.message()));
  const Descriptor folder(folder_, O_RDONLY | O_DIRECTORY);
  TRY(lock_folder(folder, folder_));
  auto keys = TRY(load());
  if (keys.size() >= kMaxKeys)
    return usage(fmt::format("{} holds {} keys already, which is the most", path_, kMaxKeys));
  // The shape of AWS's, which some tools check, but not their prefix, which others hunt for.  No character needs quoting.
  AccessKeyRecord key{.id = "STAT" + random_text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
                      .secret = random_text(40, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
                      .name = std::string(name),
                      .created = timestamp(clock.now())};
  keys.push_back(key);
  TRY(replace(keys));
  return key;
}

Result<std::vector<AccessKeyRecord>> AccessKeyFile::remove(std::string_view id) {
  const Descriptor folder(folder_, O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) TRY(lock_folder(folder, folder_));
  auto keys = TRY(load());
  if (std::erase_if(keys, [&](const AccessKeyRecord& key) { return key.id == id; }) == 0) {
    return usage(fmt::format("{} has no key {}; stator key list shows those it has", path_, id));
  }
  TRY(replace(keys));
  return keys;
}

Result<void> AccessKeyFile::replace(const std::vector<AccessKeyRecord>& keys) const {
  const auto temporary = path_ + ".new";
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!file.is_open() || ::fchmod(file.get(), 0600) != 0) return system_failure("write", temporary, errno);
    // An administrator's sudo must not take the file away from the server's user.
    struct stat status{};
    if (::geteuid() == 0 && ::stat(folder_.c_str(), &status) == 0 &&
        ::fchown(file.get(), status.st_uid, status.st_gid) != 0) {
      return system_failure("give away", temporary, errno);
    }
    if (!write_all(file.get(), print_keys(keys))) return system_failure("write", temporary, errno);
  }
  if (::rename(temporary.c_str(), path_.c_str()) != 0) return system_failure("rename", temporary, errno);
  const Descriptor folder(folder_, O_RDONLY | O_DIRECTORY);
  if (!folder.is_open() || ::fsync(folder.get()) != 0) return system_failure("sync", folder_, errno);
  return {};
}

AccessKeyFollower::AccessKeyFollower(AccessKeyFile file, http::SignatureVerifier& verifier)
    : file_(std::move(file)), verifier_(verifier) {}

Result<void> AccessKeyFollower::start() {
  seen_ = stamp();
  TRY(apply());
  return {};
}

void AccessKeyFollower::poll() {
  const auto now = stamp();  // taken before the file is read: what changes in between is seen the next time
  if (now == std::exchange(seen_, now)) return;
  if (const auto keys = apply()) {
    log::info("access_keys_changed", {{"keys", *keys}});
  } else {
    log::error("access_keys_unreadable", {{"error", keys.error().message}});
  }
}

AccessKeyFollower::Stamp AccessKeyFollower::stamp() const {
  struct stat status{};
  if (::stat(file_.path().c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
}

Result<std::size_t> AccessKeyFollower::apply() {
  const auto records = TRY(file_.load());
  std::vector<http::AccessKey> keys;
  for (const auto& record : records) keys.push_back({record.id, record.secret});
  verifier_.set_keys(keys);
  return keys.size();
}

}  // namespace stator::server
