#include "stator/server/secrets/access_keys.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

#include "stator/base/log.h"
#include "stator/base/random.h"

namespace stator::server {
namespace {

constexpr auto kFileName = "keys.yaml";
constexpr std::size_t kMaxKeysBytes = 1024 * 1024;
constexpr std::size_t kMaxKeys = 1000;
constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxIdBytes = 128;  // as IAM allows
constexpr std::size_t kMaxSecretBytes = 256;
constexpr std::string_view kNewerStator = ": use a newer stator";
constexpr std::string_view kHeading =
    "# Access keys of this database.  `stator key add`, `list` and `remove` look after this file, and a running "
    "server\n"
    "# follows it.  Everybody who can read it can sign with these keys.\n";

// Secrets come from the kernel; Random is for replaying tests.  Each character is one of 32 or 62, without bias.
std::string random_text(std::size_t length, std::string_view alphabet) {
  std::string text;
  const std::size_t fair = 256 / alphabet.size() * alphabet.size();
  while (text.size() < length) {
    std::array<unsigned char, 64> bytes;
    fill_with_entropy(bytes);
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

// The end of an error about a damaged file: the way out.
std::string way_out(const PrivateFiles& files) {
  return fmt::format("; if it cannot be mended, {}, then stator key add {}", files.removal(kFileName), files.option());
}

Result<std::vector<AccessKeyRecord>> read_keys(const YAML::Node& root, const std::string& path) {
  const auto at = [&](const YAML::Node& node, std::string_view what) {
    const auto mark = node.Mark();
    return mark.is_null() ? usage_error(fmt::format("{}: {}", path, what))
                          : usage_error(fmt::format("{}:{}:{}: {}", path, mark.line + 1, mark.column + 1, what));
  };
  const auto scalar = [](const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : std::string(); };

  if (!root.IsMap() || !root["version"] || !root["keys"]) return at(root, "expects `version: 1` and `keys`");
  if (scalar(root["version"]) != "1") {
    return at(root["version"], fmt::format("is of a version that this stator does not know{}", kNewerStator));
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

}  // namespace

std::string AccessKeyFile::path() const { return files_->path(kFileName); }

Result<std::string> AccessKeyFile::stamp() const { return files_->stamp(kFileName); }

Result<std::vector<AccessKeyRecord>> AccessKeyFile::load() const {
  return parse(TRY(files_->read(kFileName, kMaxKeysBytes)));
}

Result<std::vector<AccessKeyRecord>> AccessKeyFile::parse(const std::optional<std::string>& text) const {
  if (!text) return std::vector<AccessKeyRecord>();
  try {
    auto keys = read_keys(YAML::Load(*text), path());
    if (keys || keys.error().message.ends_with(kNewerStator)) return keys;
    return usage_error(keys.error().message + way_out(*files_));
  } catch (const YAML::Exception& exception) {
    // The library's only way to say that a file is not YAML.
    return usage_error(
        fmt::format("{}:{}: is not YAML: {}{}", path(), exception.mark.line + 1, exception.msg, way_out(*files_)));
  }
}

Result<AccessKeyRecord> AccessKeyFile::add(std::string_view name, const Clock& clock) {
  if (name.size() > kMaxNameBytes || !is_printable(name, ' ')) {
    return usage_error(fmt::format("a key's name is at most {} characters, without line breaks", kMaxNameBytes));
  }
  // The id has the form of AWS's ids, which some tools check, but not their prefix, which secret scanners look for.  No
  // character needs quoting.
  const AccessKeyRecord key{.id = "STAT" + random_text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
                            .secret = random_text(40, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
                            .name = std::string(name),
                            .created = timestamp(clock.now())};
  TRY(files_->change(kFileName, kMaxKeysBytes, [&](const auto& text) -> Result<std::string> {
    auto keys = TRY(parse(text));
    if (keys.size() >= kMaxKeys) {
      return usage_error(fmt::format("{} holds {} keys already, which is the most", path(), kMaxKeys));
    }
    keys.push_back(key);
    return print_keys(keys);
  }));
  return key;
}

Result<std::vector<AccessKeyRecord>> AccessKeyFile::remove(std::string_view id) {
  std::vector<AccessKeyRecord> left;
  TRY(files_->change(kFileName, kMaxKeysBytes, [&](const auto& text) -> Result<std::string> {
    left = TRY(parse(text));
    if (std::erase_if(left, [&](const AccessKeyRecord& key) { return key.id == id; }) == 0) {
      return usage_error(fmt::format("{} has no key {}; stator key list shows those it has", path(), id));
    }
    return print_keys(left);
  }));
  return left;
}

Error no_keys(const Config& config, const AccessKeyFile& file) {
  const auto option = config.store.empty() ? data_flag(config) : " " + file.files().option();
  return usage_error(fmt::format(
      "with host {}, other machines can connect, and {} has no access keys, so anyone there could read and change "
      "everything: make a key with `stator key add{}`, and set tls_cert and tls_key, too; or listen on 127.0.0.1",
      config.host, file.path(), option));
}

namespace {

// Warns at each start.  If the setting stays, the server accepts unsigned requests once keys.yaml is lost.
void warn_of_allow_unsigned(bool has_keys) {
  log::warning("allow_unsigned_is_set",
               {{"message", fmt::format("{}remove it from the environment (STATOR_ALLOW_UNSIGNED) or the command: it "
                                        "is meant for one start, and while it is set and keys.yaml is lost, every "
                                        "program on this machine may do everything",
                                        has_keys ? "allow_unsigned is ignored, because there are access keys; "
                                                 : "allow_unsigned is set; ")}});
}

}  // namespace

AccessKeyFollower::AccessKeyFollower(AccessKeyFile file, http::SignatureVerifier& verifier, engine::Engine& engine)
    : file_(std::move(file)), verifier_(verifier), engine_(engine) {}

Result<void> AccessKeyFollower::start(bool allow_unsigned) {
  const auto asked = verifier_.steady_now();
  auto stamp = TRY(file_.stamp());
  const bool were_keys = TRY(engine_.signed_only());
  const auto keys = apply();
  if (!keys && !were_keys) return keys.error();
  note_seen(std::move(stamp), keys, asked);
  const bool has_keys = keys && *keys > 0;
  if (allow_unsigned) warn_of_allow_unsigned(has_keys);
  if (has_keys) {
    remember();
    return {};
  }
  if (!were_keys) return {};
  if (keys && allow_unsigned) {
    TRY(engine_.set_signed_only(false));
    log::warning(
        "unsigned_requests_accepted",
        {{"message", "this database has no access keys any more; every program on this machine may do everything"}});
    return {};
  }
  verifier_.require();
  if (keys) {
    log_shut(fmt::format("{} has no keys, and this database has been used with some", file_.path()));
  } else {
    log::error("all_requests_refused",
               {{"message",
                 "every request is refused until the keys can be read; a running server reads them again by itself"},
                {"error", keys.error().message}});
  }
  return {};
}

void AccessKeyFollower::poll() {
  if (to_remember_) remember();
  const auto asked = verifier_.steady_now();
  auto now = file_.stamp();  // taken before the file is read, so that a change in between is seen the next time
  if (!now) return log_unconfirmed(now.error());
  if (*now == seen_) return verifier_.confirm_keys(asked);
  const auto keys = apply();
  note_seen(std::move(*now), keys, asked);
  if (!keys) return log::error("access_keys_unreadable", {{"error", keys.error().message}});
  log::info("access_keys_changed", {{"keys", *keys}});
  if (*keys > 0) {
    remember();
  } else if (verifier_.required()) {
    log_shut(fmt::format("{} has no keys any more", file_.path()));
  }
}

void AccessKeyFollower::note_seen(std::string stamp, const Result<std::size_t>& keys, SteadyTime asked) {
  // A file that is wrong stays so until it changes.  One that could not be read is read again.
  if (!keys && keys.error().code != ErrorCode::Usage) return;
  seen_ = std::move(stamp);
  verifier_.confirm_keys(asked);
}

// Once: a store that cannot be read has its own log.
void AccessKeyFollower::log_unconfirmed(const Error& error) {
  if (verifier_.keys_are_confirmed()) {
    told_unconfirmed_ = false;
  } else if (!std::exchange(told_unconfirmed_, true)) {
    log::error("access_keys_not_confirmed",
               {{"message", "signed requests are refused until the keys can be read again"}, {"error", error.message}});
  }
}

void AccessKeyFollower::remember() {
  const auto remembered = engine_.set_signed_only(true);
  if (!remembered && !to_remember_) {
    log::warning(
        "access_keys_not_remembered",
        {{"message",
          "the database cannot be written to; until it can, it would accept unsigned requests after a restart without "
          "keys.yaml"},
         {"error", remembered.error().message}});
  }
  to_remember_ = !remembered;
}

void AccessKeyFollower::log_shut(std::string_view why) const {
  log::error("all_requests_refused",
             {{"message", fmt::format("{}: every request is refused until there is a key (stator key add {}; a running "
                                      "server reads it by itself) or the server is started with --allow-unsigned",
                                      why, file_.files().option())}});
}

Result<std::size_t> AccessKeyFollower::apply() {
  const auto records = TRY(file_.load());
  std::vector<http::AccessKey> keys;
  for (const auto& record : records) keys.push_back({record.id, record.secret});
  verifier_.set_keys(keys);
  return keys.size();
}

}  // namespace stator::server
