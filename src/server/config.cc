#include "stator/server/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <type_traits>

#include "stator/base/suggest.h"
#include "stator/base/trim.h"
#include "stator/http/connection_limits.h"
#include "stator/library/shared_store.h"
#include "stator/server/memory_limit.h"
#include "stator/server/secrets/access_keys.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves its declaration to us

namespace stator::server {
namespace {

constexpr std::string_view kVariablePrefix = "STATOR_";
constexpr std::string_view kFileVariable = "STATOR_CONFIG";
constexpr std::string_view kDefaultFile = "stator.yaml";
constexpr std::size_t kMaxConfigBytes = 1024 * 1024;
constexpr std::uint32_t kMaxPort = 65535;
constexpr std::size_t kHelpColumns = 100;
constexpr std::size_t kMinSecretBytes = 32;
constexpr auto kUpOnly = Setting::bit(Mode::Up);
constexpr auto kAppOnly = Setting::bit(Mode::App);
constexpr auto kUpAndApp = static_cast<std::uint8_t>(kUpOnly | kAppOnly);
constexpr auto kServeAndUp = static_cast<std::uint8_t>(kUpOnly | Setting::bit(Mode::Serve));

std::string objection_to_host(const Config& config) {
  in_addr v4{};
  in6_addr v6{};
  const auto& host = config.host;
  if (host == "localhost" || inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1)
    return {};
  return fmt::format("expects an address such as 127.0.0.1, ::1 or 0.0.0.0, or localhost, not \"{}\"", host);
}

std::string objection_to_origins(const Config& config) {
  for (const auto& origin : config.cors_origins) {
    const auto scheme_end = origin.find("://");
    const bool looks_like_one = scheme_end != std::string::npos && scheme_end > 0 && scheme_end + 3 < origin.size() &&
                                origin.find_first_of("/ ", scheme_end + 3) == std::string::npos;
    if (origin != "*" && origin != "null" && !looks_like_one) {
      return fmt::format("expects origins such as https://example.org or http://localhost:3000, or *, not \"{}\"",
                         origin);
    }
  }
  return {};
}

std::string objection_to_hosts(const Config& config) {
  for (const auto& host : config.allowed_hosts) {
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (!bracketed && (host.empty() || host.find_first_of(":/ *@[]") != std::string::npos)) {
      return fmt::format("expects names such as db.example.org, without a port, not \"{}\"", host);
    }
  }
  return {};
}

std::string objection_to_secret(const Config& config) {
  const auto size = config.jwt_secret.size();  // empty: none
  return size > 0 && size < kMinSecretBytes ? fmt::format("expects at least {} bytes", kMinSecretBytes) : "";
}

std::string objection_to_memory_limit(const Config& config) {
  if (config.memory_limit.empty()) return {};
  const auto bytes = parse_bytes(config.memory_limit);
  if (bytes && *bytes >= kLeastMemoryLimit) return {};
  return fmt::format("expects a size such as 512MB or 4GB, at least {}MB, not \"{}\"", kLeastMemoryLimit >> 20,
                     config.memory_limit);
}

std::string objection_to_cache_size(const Config& config) {
  if (config.cache_size.empty()) return {};
  const auto bytes = parse_bytes(config.cache_size);
  if (!bytes || *bytes < kLeastCache) {
    return fmt::format("expects a size such as 256MB or 2GB, at least {}MB, not \"{}\"", kLeastCache >> 20,
                       config.cache_size);
  }
  const auto limit = parse_bytes(config.memory_limit);
  if (!limit || *bytes <= most_cache(*limit)) return {};
  return fmt::format("is at most three quarters of memory_limit without the program itself: {}MB",
                     most_cache(*limit) >> 20);
}

std::string objection_to_proxies(const Config& config) {
  for (const auto& proxy : config.trusted_proxies) {
    if (const auto network = http::Network::parse(proxy); !network) return network.error().message;
  }
  return {};
}

std::string objection_to_data(const Config& config) {
  return config.data.empty() ? "expects a folder, not an empty name" : "";
}

std::string objection_to_store(const Config& config) {
  if (config.store.empty() || library::is_store_url(config.store)) return {};
  return fmt::format("expects the address of a PostgreSQL database such as postgres://host/database, not \"{}\"",
                     library::described_store(config.store));
}

constexpr auto kSettings = std::to_array<Setting>({
    {.name = "host",
     .member = &Config::host,
     .placeholder = "ADDRESS",
     .help = "Address to listen on.  If other machines can reach it, such as 0.0.0.0, the DynamoDB API needs an access "
             "key: stator key add.",
     .objection = objection_to_host},
    {.name = "port",
     .member = &Config::port,
     .placeholder = "PORT",
     .help = "Port of the DynamoDB API; 0 takes a free one.",
     .maximum = kMaxPort,
     .modes = kServeAndUp},
    {.name = "console_port",
     .member = &Config::console_port,
     .placeholder = "PORT",
     .help = "Port of the console and of the systems; 0 takes a free one.",
     .maximum = kMaxPort,
     .modes = kUpOnly},
    {.name = "console_read_only",
     .member = &Config::console_read_only,
     .placeholder = "true|false",
     .help = "The console shows data and changes none.  The DynamoDB API and the REST APIs are not affected.",
     .modes = kUpOnly},
    {.name = "tls_cert",
     .member = &Config::tls_cert,
     .placeholder = "FILE",
     .help = "Certificate with its chain, in PEM form.  With it, the DynamoDB API uses HTTPS.  SIGHUP makes a running "
             "server read it again."},
    {.name = "tls_key",
     .member = &Config::tls_key,
     .placeholder = "FILE",
     .help = "Private key of tls_cert, in PEM form without a passphrase."},
    {.name = "data",
     .member = &Config::data,
     .placeholder = "FOLDER",
     .help = "Folder of the database and its access keys.  The server creates it if it does not exist.  One server "
             "uses it at a time.",
     .objection = objection_to_data},
    {.name = "in_memory",
     .member = &Config::in_memory,
     .placeholder = "true|false",
     .help = "Keep all data in memory and nothing on disk.  Only the access keys are read from the data folder."},
    {.name = "store",
     .member = &Config::store,
     .placeholder = "URL",
     .help = "Keep all data in a PostgreSQL database, such as postgres://host1,host2/database, instead of the data "
             "folder.  The password comes from PGPASSWORD or ~/.pgpass.  Access keys and the secret of tokens are "
             "there, too.  Any number of servers can share the database.",
     .objection = objection_to_store},
    {.name = "durability",
     .member = &Config::durability,
     .placeholder = "sync|relaxed",
     .help = "sync: a write is answered when it is on disk.  relaxed: the disk follows a few milliseconds later, which "
             "is faster, but the last writes are lost if the machine fails."},
    {.name = "threads",
     .member = &Config::threads,
     .placeholder = "N",
     .help = "Threads that serve requests; 0 means one per core.",
     .maximum = 1024},
    {.name = "cors_origins",
     .member = &Config::cors_origins,
     .placeholder = "ORIGIN,...",
     .help = "Web pages of these origins may call the API from a browser; * means every page.  None by default.",
     .objection = objection_to_origins},
    {.name = "allowed_hosts",
     .member = &Config::allowed_hosts,
     .placeholder = "NAME,...",
     .help = "Names, in addition to localhost, for a server that listens to this machine only.  The header Host of a "
             "request must have one of them, without the port.  Other names are refused, because a web page could give "
             "its own name the address of this machine.  With access keys, the DynamoDB API accepts every name.",
     .objection = objection_to_hosts},
    {.name = "allow_unsigned",
     .member = &Config::allow_unsigned,
     .placeholder = "true|false",
     .help = "Accept requests without a signature again, on this machine, when the database was used with access keys "
             "and has none now.  The database then forgets that there were keys.  For one start only, so it cannot be "
             "set in a file.",
     .modes = kServeAndUp,
     .for_one_start = true},
    {.name = "log_level",
     .member = &Config::log_level,
     .placeholder = "debug|info|warning|error",
     .help = "Log events of this level and above."},
    {.name = "log_format",
     .member = &Config::log_format,
     .placeholder = "auto|text|json",
     .help = "Format of the log on standard error.  auto: text on a terminal and JSON elsewhere."},
    {.name = "memory_limit",
     .member = &Config::memory_limit,
     .placeholder = "SIZE",
     .help = "Memory that this process may use, such as 512MB or 4GB: caches, items in memory, and requests.  Requests "
             "beyond it are throttled.  At least 192MB; by default half of the memory of the machine or the container.",
     .objection = objection_to_memory_limit},
    {.name = "cache_size",
     .member = &Config::cache_size,
     .placeholder = "SIZE",
     .help = "The part of memory_limit that holds data of a database on disk, such as 256MB or 2GB: blocks that were "
             "read, and changes that are not in data files yet.  At least 16MB; by default half of memory_limit.  If "
             "it is larger, requests get less.",
     .objection = objection_to_cache_size},
    {.name = "max_connections",
     .member = &Config::max_connections,
     .placeholder = "N",
     .help = "Connections that can be open at the same time, on all ports together.  A further connection is closed "
             "immediately.",
     .minimum = 1,
     .maximum = 1'000'000},
    {.name = "max_connections_per_address",
     .member = &Config::max_connections_per_address,
     .placeholder = "N",
     .help = "Connections that can be open at the same time from one address, or from one IPv6 network of 64 bits.  "
             "This machine and trusted_proxies have no such limit.",
     .minimum = 1,
     .maximum = 1'000'000},
    {.name = "trusted_proxies",
     .member = &Config::trusted_proxies,
     .placeholder = "ADDRESS,...",
     .help = "Addresses of proxies that forward requests of many clients, or networks such as 10.0.0.0/8.",
     .objection = objection_to_proxies},
    {.name = "max_header_bytes",
     .member = &Config::max_header_bytes,
     .placeholder = "BYTES",
     .help = "Largest head of a request.  A larger one is refused.",
     .minimum = 4096,
     .maximum = 1024 * 1024},
    {.name = "max_body_bytes",
     .member = &Config::max_body_bytes,
     .placeholder = "BYTES",
     .help = "Largest body of a request.  A larger one is refused.  DynamoDB accepts up to 16 MB.",
     .minimum = 1024,
     .maximum = 1024 * 1024 * 1024},
    {.name = "max_rest_body_bytes",
     .member = &Config::max_rest_body_bytes,
     .placeholder = "BYTES",
     .help = "Largest body of a REST request, also after decompression.  Files can have up to max_body_bytes.",
     .minimum = 1024,
     .maximum = 1024 * 1024 * 1024},
    {.name = "idle_timeout_seconds",
     .member = &Config::idle_timeout_seconds,
     .placeholder = "SECONDS",
     .help = "A connection is closed after this time without a request.",
     .minimum = 1,
     .maximum = 24 * 3600},
    {.name = "drain_seconds",
     .member = &Config::drain_seconds,
     .placeholder = "SECONDS",
     .help =
         "After SIGTERM, the server answers requests for this long, while GET /ready tells load balancers that it is "
         "stopping.  A second signal ends it at once.",
     .minimum = 0,
     .maximum = 3600},
    {.name = "request_timeout_seconds",
     .member = &Config::request_timeout_seconds,
     .placeholder = "SECONDS",
     .help = "Time for the head of a request to arrive.  A slower connection is closed.  So is a connection that takes "
             "longer than 10 seconds for 256 KB of a body.",
     .minimum = 1,
     .maximum = 3600},
    {.name = "models",
     .member = &Config::models,
     .placeholder = "FILE,...",
     .help =
         "Model files, or names of systems that come with Stator.  Each becomes a REST API below /systems/<name>/v1.",
     .modes = kUpAndApp},
    {.name = "demo",
     .member = &Config::demo,
     .placeholder = "true|false",
     .help = "Serve all systems that come with Stator, and load the sample data of those that are new to the database.",
     .modes = kUpAndApp},
    {.name = "app_port",
     .member = &Config::app_port,
     .placeholder = "PORT",
     .help = "Port of the REST APIs of `stator app`; 0 takes a free one.",
     .maximum = kMaxPort,
     .modes = kAppOnly},
    {.name = "endpoint",
     .member = &Config::endpoint,
     .placeholder = "URL",
     .help = "DynamoDB endpoint that stores the data, instead of a database in the data folder.  Region and "
             "credentials come from the usual AWS variables and profile files.",
     .modes = kAppOnly},
    {.name = "jwt_secret",
     .member = &Config::jwt_secret,
     .placeholder = "SECRET",
     .help = "Secret of HS256 tokens.  Use the environment variable, because other users can see flags.  Without this "
             "setting and without jwks, a secret is made in the data folder, and `stator token` uses it.",
     .modes = kUpAndApp,
     .objection = objection_to_secret},
    {.name = "jwks",
     .member = &Config::jwks,
     .placeholder = "FILE|URL",
     .help = "Key set (JWKS) of RS256 and ES256 tokens.  It is read again every five minutes, and when a token names "
             "an unknown key.",
     .modes = kUpAndApp},
    {.name = "jwt_issuer",
     .member = &Config::jwt_issuer,
     .placeholder = "TEXT",
     .help = "The value that the claim iss of a token must have.  Empty: any value.",
     .modes = kUpAndApp},
    {.name = "jwt_audience",
     .member = &Config::jwt_audience,
     .placeholder = "TEXT",
     .help = "The value that the claim aud of a token must be or contain.  Empty: any value.",
     .modes = kUpAndApp},
    {.name = "jwt_roles_claim",
     .member = &Config::jwt_roles_claim,
     .placeholder = "NAME",
     .help = "The claim that holds the caller's roles.",
     .modes = kUpAndApp},
    {.name = "jwt_clock_skew_seconds",
     .member = &Config::jwt_clock_skew_seconds,
     .placeholder = "SECONDS",
     .help = "Largest difference between the clock of this machine and the clock of the issuer of tokens.",
     .maximum = 3600,
     .modes = kUpAndApp},
    {.name = "app_workers",
     .member = &Config::app_workers,
     .placeholder = "N",
     .help = "REST requests that are processed at the same time.  Further requests wait.",
     .minimum = 1,
     .maximum = 1024,
     .modes = kUpAndApp},
    {.name = "access_log",
     .member = &Config::access_log,
     .placeholder = "true|false",
     .help = "Log every REST request: method, path, operation, status and time.",
     .modes = kUpAndApp},
    {.name = "public_info",
     .member = &Config::public_info,
     .placeholder = "true|false",
     .help = "Answer /metrics, /systems and openapi.json without a token, also where other machines can reach the REST "
             "APIs.",
     .modes = kUpAndApp},
    {.name = "stop_with_parent",
     .member = &Config::stop_with_parent,
     .placeholder = "true|false",
     .help = "Stop when the process that started the server ends, for any reason.  For servers that a test or another "
             "program starts."},
});

const Setting* find_setting(std::string_view name) {
  const auto* found = std::ranges::find(kSettings, name, &Setting::name);
  return found == kSettings.end() ? nullptr : found;
}

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> names;
  for (const auto& setting : kSettings) names.push_back(setting.name);
  return names;
}

// The enumerators of a choice, in the order in which its placeholder spells them.
template <typename T>
T enumerator(std::size_t index) {
  return static_cast<T>(index);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Reads the text of one setting into a config.  The answer is empty, or what is wrong: "expects ..., not ...".
std::string assign(const Setting& setting, std::string_view text, Config& config) {
  const auto wrong = std::visit(
      [&](auto member) -> std::string {
        auto& value = config.*member;
        using T = std::remove_reference_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          value = text;
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          value.clear();
          for (const auto part : split(text, ',')) {
            if (!trim(part).empty()) value.emplace_back(trim(part));
          }
        } else if constexpr (std::is_same_v<T, bool>) {
          if (text != "true" && text != "false") return fmt::format("expects true or false, not \"{}\"", text);
          value = text == "true";
        } else if constexpr (std::is_enum_v<T>) {
          const auto choices = split(setting.placeholder, '|');
          const auto chosen = std::ranges::find(choices, text);
          if (chosen == choices.end()) {
            return fmt::format("expects one of {}, not \"{}\"{}", fmt::join(choices, ", "), text,
                               did_you_mean(text, choices));
          }
          value = enumerator<T>(static_cast<std::size_t>(chosen - choices.begin()));
        } else {
          std::uint32_t number = 0;
          const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
          if (error != std::errc() || end != text.data() + text.size() || number < setting.minimum ||
              number > setting.maximum) {
            return fmt::format("expects a whole number from {} to {}, not \"{}\"", setting.minimum, setting.maximum,
                               text);
          }
          value = static_cast<T>(number);
        }
        return {};
      },
      setting.member);
  if (!wrong.empty()) return wrong;
  return setting.objection ? setting.objection(config) : std::string();
}

std::string value_as_yaml(const Setting& setting, const Config& config) {
  return std::visit(
      [&](auto member) -> std::string {
        const auto& value = config.*member;
        using T = std::remove_cvref_t<decltype(value)>;
        const auto quoted = [](std::string_view text) {
          YAML::Emitter emitter;
          emitter << std::string(text);
          return std::string(emitter.c_str());
        };
        if constexpr (std::is_same_v<T, std::string>) {
          return quoted(value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          std::vector<std::string> parts;
          for (const auto& part : value) parts.push_back(quoted(part));
          return fmt::format("[{}]", fmt::join(parts, ", "));
        } else if constexpr (std::is_enum_v<T>) {
          return std::string(split(setting.placeholder, '|')[static_cast<std::size_t>(value)]);
        } else {
          return fmt::format("{}", value);
        }
      },
      setting.member);
}

// "stator.yaml:3:7", counting from one as editors do.
std::string place(std::string_view file, const YAML::Mark& mark) {
  return mark.is_null() ? std::string(file) : fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
}

std::string_view kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Sequence: return "a list";
    case YAML::NodeType::Map: return "a map";
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined: return "nothing";
    case YAML::NodeType::Scalar: return "a text";
  }
  return "something else";
}

// The text of a value in the form that assign() reads, or what is wrong with its type.
Result<std::string> text_of(const Setting& setting, const YAML::Node& node) {
  if (std::holds_alternative<std::vector<std::string> Config::*>(setting.member)) {
    if (!node.IsSequence()) return usage_error(fmt::format("expects a list, not {}", kind_of(node)));
    std::vector<std::string> parts;
    for (const auto& part : node) {
      if (!part.IsScalar())
        return usage_error(fmt::format("expects a list of texts, not of {}", kind_of(part).substr(2)));
      parts.push_back(part.Scalar());
    }
    return fmt::format("{}", fmt::join(parts, ","));
  }
  if (!node.IsScalar()) return usage_error(fmt::format("expects a single value, not {}", kind_of(node)));
  const bool expects_text = std::holds_alternative<std::string Config::*>(setting.member);
  const bool expects_word = !expects_text && setting.maximum == 0 && !setting.is_switch();
  if (node.Tag() == "!" && !expects_text && !expects_word) {  // "!" is how yaml-cpp marks quotes
    return usage_error(fmt::format("expects {}, not the text \"{}\"; write it without quotes",
                                   setting.is_switch() ? "true or false" : "a number", node.Scalar()));
  }
  return node.Scalar();
}

Result<void> apply_yaml(const YAML::Node& root, const std::string& file, LoadedConfig& loaded) {
  if (root.IsNull()) return {};  // only comments
  if (!root.IsMap())
    return usage_error(
        fmt::format("{}: expects settings such as `port: 8000`, not {}", place(file, root.Mark()), kind_of(root)));
  for (const auto& entry : root) {
    if (!entry.first.IsScalar())
      return usage_error(
          fmt::format("{}: a setting's name is a word, not {}", place(file, entry.first.Mark()), kind_of(entry.first)));
    const auto& name = entry.first.Scalar();
    const auto* setting = find_setting(name);
    if (setting == nullptr) {
      return usage_error(fmt::format("{}: no setting is called {}{}", place(file, entry.first.Mark()), name,
                                     did_you_mean(name, setting_names())));
    }
    if (!loaded.origins.emplace(name, SettingSource::File).second) {
      return usage_error(fmt::format("{}: {} is set a second time", place(file, entry.first.Mark()), name));
    }
    const auto text = text_of(*setting, entry.second);
    const auto wrong = text ? assign(*setting, *text, loaded.config) : text.error().message;
    if (!wrong.empty()) {
      // Nothing has no place of its own.
      const auto& where = entry.second.IsNull() ? entry.first : entry.second;
      return usage_error(fmt::format("{}: {} {}", place(file, where.Mark()), name, wrong));
    }
    if (setting->for_one_start && loaded.config.*std::get<bool Config::*>(setting->member)) {
      return usage_error(
          fmt::format("{}: {} is for one start and would stay on in a file: take it out, and start once with {}",
                      place(file, entry.first.Mark()), name, setting->flag()));
    }
  }
  return {};
}

Result<std::string> read_file(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return usage_error(fmt::format("{}: is a folder, not a file of settings", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) return usage_error(fmt::format("{}: cannot be read", file));
  std::string text(kMaxConfigBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxConfigBytes)
    return usage_error(fmt::format("{}: is longer than {} bytes", file, kMaxConfigBytes));
  return text;
}

Result<void> apply_file(const std::string& file, LoadedConfig& loaded) {
  const auto text = TRY(read_file(file));
  loaded.file = file;
  try {
    return apply_yaml(YAML::Load(text), file, loaded);
  } catch (const YAML::Exception& exception) {
    // The library's only way to say where a file is not YAML; here that is a person's mistake, not ours.
    return usage_error(fmt::format("{}: is not YAML: {}", place(file, exception.mark), exception.msg));
  }
}

Result<void> apply_environment(const std::map<std::string, std::string>& environment, LoadedConfig& loaded) {
  for (const auto& [variable, text] : environment) {
    if (!variable.starts_with(kVariablePrefix) || variable == kFileVariable || text.empty()) continue;
    std::string name = variable.substr(kVariablePrefix.size());
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* setting = find_setting(name);
    if (setting == nullptr || setting->variable() != variable) {
      if (const auto meant = closest(name, setting_names())) {
        loaded.warnings.push_back(
            fmt::format("{} is not a setting; did you mean {}?", variable, find_setting(*meant)->variable()));
      }
      continue;
    }
    if (const auto wrong = assign(*setting, text, loaded.config); !wrong.empty()) {
      return usage_error(fmt::format("{} {}", variable, wrong));
    }
    loaded.origins.insert_or_assign(std::string(setting->name), SettingSource::Environment);
  }
  return {};
}

Result<void> apply_flags(const std::vector<std::pair<std::string, std::string>>& flags, LoadedConfig& loaded) {
  for (const auto& [name, text] : flags) {
    const auto* setting = find_setting(name);
    if (setting == nullptr)
      return usage_error(fmt::format("no setting is called {}{}", name, did_you_mean(name, setting_names())));
    const auto before = loaded.origins.find(name);
    if (before != loaded.origins.end() && before->second == SettingSource::Flag) {
      return usage_error(fmt::format("{} is given twice", setting->flag()));
    }
    auto wrong = assign(*setting, text, loaded.config);
    // --store "$URL" without the variable must not mean the data folder.
    if (name == "store" && text.empty()) wrong = "expects an address, not an empty one";
    if (!wrong.empty()) return usage_error(fmt::format("{} {}", setting->flag(), wrong));
    loaded.origins.insert_or_assign(name, SettingSource::Flag);
  }
  return {};
}

// Breaks text at spaces; every line begins with `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out;
  std::string line(indent);
  for (const auto word : split(text, ' ')) {
    if (line.size() > indent.size() && line.size() + 1 + word.size() > kHelpColumns) {
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;  // an empty word is the second space behind a full stop
  }
  return out + line + "\n";
}

std::string_view origin_text(SettingSource origin) {
  switch (origin) {
    case SettingSource::Default: return "the default";
    case SettingSource::File: return "the file";
    case SettingSource::Environment: return "the environment";
    case SettingSource::Flag: return "a flag";
  }
  return "";
}

// A folder that somebody names is meant to hold the items, though a weaker source keeps them in memory.
void warn_of_unused_folder(LoadedConfig& loaded) {
  const auto folder = loaded.origins.find("data");
  const auto memory = loaded.origins.find("in_memory");
  if (!loaded.config.in_memory || folder == loaded.origins.end() || folder->second <= memory->second) return;
  loaded.warnings.push_back(fmt::format(
      "data is {} (from {}), but in_memory (from {}) keeps all items in memory; --in-memory=false stores them in the "
      "folder",
      loaded.config.data, origin_text(folder->second), origin_text(memory->second)));
}

}  // namespace

std::string Setting::flag() const {
  auto text = fmt::format("--{}", name);
  std::ranges::replace(text, '_', '-');
  return text;
}

std::string Setting::variable() const {
  auto text = fmt::format("{}{}", kVariablePrefix, name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::span<const Setting> settings() { return kSettings; }

std::map<std::string, std::string> stator_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (text.starts_with(kVariablePrefix) && equals != std::string_view::npos) {
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return found;
}

Result<LoadedConfig> load_config(const ConfigSources& sources) {
  LoadedConfig loaded;
  const auto variable = sources.environment.find(std::string(kFileVariable));
  std::error_code error;
  if (sources.file) {
    TRY(apply_file(*sources.file, loaded));
  } else if (variable != sources.environment.end() && !variable->second.empty()) {
    TRY(apply_file(variable->second, loaded));
  } else if (std::filesystem::exists(kDefaultFile, error)) {
    TRY(apply_file(std::string(kDefaultFile), loaded));
  }
  TRY(apply_environment(sources.environment, loaded));
  TRY(apply_flags(sources.flags, loaded));
  warn_of_unused_folder(loaded);
  return loaded;
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  return host == "localhost" || (inet_pton(AF_INET, host.c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24U) == 127) ||
         (inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

std::string console_host(const Config& config) {
  return is_loopback(config.host) || !config.tls_cert.empty() ? config.host : Config().host;
}

std::string data_flag(const Config& config) {
  return config.data == Config().data ? std::string() : fmt::format(" --data {}", config.data);
}

Result<void> check_config(const Config& config, Mode mode) {
  if (mode == Mode::Up && config.port != 0 && config.port == config.console_port) {
    return usage_error(fmt::format("port and console_port are both {}; each needs its own", config.port));
  }
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return usage_error(fmt::format("tls_cert and tls_key belong together, and {} is not set",
                                   config.tls_cert.empty() ? "tls_cert" : "tls_key"));
  }
  if (!config.store.empty() && config.in_memory) return usage_error("store and in_memory cannot be set together");
  if (mode == Mode::App) {
    if (config.models.empty() && !config.demo) {
      return usage_error("app needs a model: stator app books.yaml, or stator app media-library");
    }
    if (!config.endpoint.empty() && config.in_memory) {
      return usage_error("endpoint and in_memory cannot be set together");
    }
    if (!config.endpoint.empty() && !config.store.empty()) {
      return usage_error("endpoint and store cannot be set together");
    }
    return {};  // tokens guard it, wherever it listens
  }
  // Keys in a store are looked at when it is open.
  const AccessKeyFile file(config.data);
  if (!is_loopback(config.host) && config.store.empty() && TRY(file.load()).empty()) return no_keys(config, file);
  return {};
}

std::string config_as_yaml(const LoadedConfig& loaded) {
  std::string out =
      "# Settings of Stator.  A setting that is commented out has the value shown.\n"
      "# A flag wins over an environment variable, and that over this file.\n";
  auto shown = loaded.config;
  if (!shown.store.empty()) shown.store = library::store_without_passwords(shown.store);
  for (const auto& setting : kSettings) {
    out += "\n" + wrapped(setting.help, "# ");
    out += fmt::format("# {}, {}\n", setting.flag(), setting.variable());
    const auto origin = loaded.origins.find(setting.name);
    const auto value = value_as_yaml(setting, shown);
    const bool hides = value != value_as_yaml(setting, loaded.config);
    out += origin == loaded.origins.end() || setting.for_one_start
               ? fmt::format("#{}: {}\n", setting.name, value)
               : fmt::format("{}: {}  # from {}{}\n", setting.name, value, origin_text(origin->second),
                             hides ? "; its password is not shown" : "");
  }
  return out;
}

std::string settings_help(std::optional<Mode> mode) {
  const Config defaults;
  std::string out;
  for (const auto& setting : kSettings) {
    if (!setting.is_for(mode)) continue;
    out += fmt::format("  {}{}\n", setting.flag(), setting.is_switch() ? "" : fmt::format(" {}", setting.placeholder));
    const auto value = value_as_yaml(setting, defaults);
    const bool unset = setting.is_switch() || value == "[]" || value == "\"\"";
    out += wrapped(unset ? std::string(setting.help) : fmt::format("{}  Default {}.", setting.help, value), "      ");
  }
  out += "  --config FILE\n";
  out += wrapped(fmt::format("Read settings from this file; else from $STATOR_CONFIG, else from ./{} if it is there.",
                             kDefaultFile),
                 "      ");
  out +=
      "\nEvery setting is also an environment variable (--log-level is STATOR_LOG_LEVEL) and a line in stator.yaml\n";
  out += "(log_level: info); a flag wins over a variable, and that over the file.  `stator config` prints them all.\n";
  return out;
}

}  // namespace stator::server
