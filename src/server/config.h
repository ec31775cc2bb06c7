#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stator/base/log.h"
#include "stator/base/result.h"
#include "stator/storage/durability.h"

namespace stator::server {

using storage::Durability;

enum class Mode : std::uint8_t {
  Serve,  // the database alone
  Up,     // everything
  App,    // systems over REST only, on a database of its own or at an endpoint
};
enum class LogFormat : std::uint8_t { Auto, Text, Json };  // Auto: text on a terminal, JSON elsewhere

// All settings, with their defaults.  settings() has their descriptions.  A value type.
struct Config {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::uint16_t console_port = 8001;
  bool console_read_only = false;
  std::string tls_cert;
  std::string tls_key;
  std::string data = "./stator-data";
  bool in_memory = false;
  std::string store;  // the address of a database server that has the items; empty: the data folder has them
  Durability durability = Durability::Sync;
  std::uint32_t threads = 0;  // 0: one per core
  std::vector<std::string> cors_origins;
  std::vector<std::string> allowed_hosts;
  bool allow_unsigned = false;
  log::Level log_level = log::Level::Info;
  LogFormat log_format = LogFormat::Auto;
  std::string memory_limit;  // a size; empty: half of the available memory
  std::string cache_size;    // a size; empty: half of memory_limit
  std::uint32_t max_connections = 10'000;
  std::uint32_t max_connections_per_address = 1'000;
  std::vector<std::string> trusted_proxies;
  std::uint32_t max_header_bytes = 16 * 1024;  // as the service
  std::uint32_t max_body_bytes = 16 * 1024 * 1024;
  std::uint32_t max_rest_body_bytes = 1024 * 1024;
  std::uint32_t idle_timeout_seconds = 300;
  std::uint32_t drain_seconds = 0;
  std::uint32_t request_timeout_seconds = 30;
  std::vector<std::string> models;
  bool demo = false;
  std::uint16_t app_port = 8001;
  std::string endpoint;
  std::string jwt_secret;
  std::string jwks;
  std::string jwt_issuer;
  std::string jwt_audience;
  std::string jwt_roles_claim = "roles";
  std::uint32_t jwt_clock_skew_seconds = 60;
  std::uint32_t app_workers = 64;
  bool access_log = false;
  bool public_info = false;
  bool stop_with_parent = false;

  friend bool operator==(const Config&, const Config&) = default;
};

// One setting.  The table of them is the only place that knows a setting's name: from it come the key in stator.yaml
// (log_level), the flag (--log-level), the environment variable (STATOR_LOG_LEVEL), their checks and their help.
struct Setting {
  static constexpr std::uint8_t bit(Mode mode) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(mode)); }
  static constexpr std::uint8_t kEveryMode = 0xff;

  using Member =
      std::variant<std::string Config::*, bool Config::*, std::uint16_t Config::*, std::uint32_t Config::*,
                   Durability Config::*, log::Level Config::*, LogFormat Config::*, std::vector<std::string> Config::*>;

  std::string_view name;
  Member member;
  std::string_view placeholder;  // for the value: PORT, or the choices
  std::string_view help;
  std::uint32_t minimum = 0;  // of a number
  std::uint32_t maximum = 0;
  std::uint8_t modes = kEveryMode;                    // bits of the modes that use it
  bool for_one_start = false;                         // a switch for one start only: the file cannot turn it on
  std::string (*objection)(const Config&) = nullptr;  // the error of a value beyond its type; empty: none

  bool is_for(std::optional<Mode> mode) const { return !mode || (modes & bit(*mode)) != 0; }
  std::string flag() const;
  std::string variable() const;
  bool is_switch() const { return std::holds_alternative<bool Config::*>(member); }
};
std::span<const Setting> settings();

// The sources of settings.  They are passed in, so that a test can choose them.
struct ConfigSources {
  std::vector<std::pair<std::string, std::string>> flags = {};  // a setting's name, and its text
  std::optional<std::string> file = {};                         // --config
  std::map<std::string, std::string> environment = {};
};

// The STATOR_* variables of this process.
std::map<std::string, std::string> stator_environment();

// The source that decided a setting, weakest first.
enum class SettingSource : std::uint8_t { Default, File, Environment, Flag };

struct LoadedConfig {
  Config config;
  std::map<std::string, SettingSource, std::less<>> origins;  // by name; a setting that is not there has its default
  std::string file;                                           // the one that was read, or empty
  std::vector<std::string> warnings;                          // a line each
};

// Flags win over STATOR_* variables, and variables over a file: --config, else STATOR_CONFIG, else ./stator.yaml if it
// is there.  An unknown key, a wrong type, a duplicate or a value out of range is an error that names its place
// ("stator.yaml:3:7") and the word that was probably meant.  An unknown STATOR_* variable may belong to another
// program, so it is only a warning, and only when it looks like a misspelled setting.  Errors: Usage.
Result<LoadedConfig> load_config(const ConfigSources& sources);

// Whether only this machine can reach the address.
bool is_loopback(const std::string& host);

// The address of the console.  Other machines can reach it only if they can reach the API, which then has access keys,
// and only over TLS, because people sign in there with a secret.
std::string console_host(const Config& config);

// " --data FOLDER", to be added to a command that is suggested; empty for the default.
std::string data_flag(const Config& config);

// Checks settings that depend on each other: two servers cannot share a port, a certificate needs its key, an address
// that other machines can reach needs an access key in the data folder, and an app needs a model. Errors: Usage,
// Storage.
Result<void> check_config(const Config& config, Mode mode);

// Every setting with its explanation, as a stator.yaml; settings with their default are commented out.  A password in
// the address of the store is not shown.
std::string config_as_yaml(const LoadedConfig& loaded);

// The settings as the lines of a command's --help; without a mode, all of them.
std::string settings_help(std::optional<Mode> mode);

}  // namespace stator::server
