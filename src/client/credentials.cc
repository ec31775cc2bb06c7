#include "stator/client/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stator/base/trim.h"

namespace stator::client {
namespace {

namespace fs = std::filesystem;

using Profile = std::map<std::string, std::string, std::less<>>;
using Profiles = std::map<std::string, Profile, std::less<>>;  // by the name in brackets, as it is written

// Settings of a profile whose credentials have to be fetched from somewhere.
constexpr std::array<std::string_view, 6> kIndirect = {"role_arn",           "sso_session",    "sso_start_url",
                                                       "credential_process", "source_profile", "login_session"};

// Up to a comment, which begins behind white space.
std::string_view without_comment(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if ((text[i] == '#' || text[i] == ';') && (text[i - 1] == ' ' || text[i - 1] == '\t')) return text.substr(0, i);
  }
  return text;
}

Profiles parse_profiles(std::string_view text) {
  Profiles profiles;
  Profile* current = nullptr;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);  // written on another system
    // An indented line belongs to a nested setting, none of which is ours.
    if (line.empty() || line.front() == '#' || line.front() == ';' || line.front() == ' ' || line.front() == '\t')
      continue;
    if (line.front() == '[') {
      current = &profiles[std::string(trim(line.substr(1, line.find(']') - 1)))];
    } else if (const auto equals = line.find('='); equals != std::string_view::npos && current != nullptr) {
      const auto value = trim(without_comment(line.substr(equals + 1)));
      current->insert_or_assign(std::string(trim(line.substr(0, equals))), std::string(value));
    }
  }
  return profiles;
}

// No file is no profiles.  Errors: Usage.
Result<Profiles> read_profiles(const fs::path& path) {
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) return Profiles();
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, '\0');  // all of it
  if (!file.is_open() || file.bad()) return usage_error(fmt::format("{}: cannot be read", path.string()));
  return parse_profiles(text);
}

std::string value_of(const Profile* profile, std::string_view name) {
  if (profile == nullptr) return {};
  const auto found = profile->find(name);
  return found == profile->end() ? std::string() : found->second;
}

const Profile* find_profile(const Profiles& profiles, std::string_view name) {
  const auto found = profiles.find(name);
  return found == profiles.end() ? nullptr : &found->second;
}

// Everything that is known, before anything is decided.
struct Sources {
  std::string profile_name;
  fs::path credentials_path, config_path;
  Profiles credentials_file, config_file;

  const Profile* in_credentials() const { return find_profile(credentials_file, profile_name); }
  const Profile* in_config() const {
    const auto* const named = find_profile(config_file, "profile " + profile_name);
    return named == nullptr && profile_name == "default" ? find_profile(config_file, "default") : named;
  }
};

Result<Sources> read_sources(const Environment& environment) {
  const auto file = [&](const char* variable, const char* name) -> fs::path {
    if (const auto path = environment(variable)) return *path;
    const auto home = environment("HOME");
    return home ? fs::path(*home) / ".aws" / name : fs::path();
  };
  Sources sources;
  sources.profile_name = environment("AWS_PROFILE").value_or("default");
  sources.credentials_path = file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  sources.config_path = file("AWS_CONFIG_FILE", "config");
  sources.credentials_file = TRY(read_profiles(sources.credentials_path));
  sources.config_file = TRY(read_profiles(sources.config_path));
  return sources;
}

// Nothing when there are none.  Errors: Usage, for half a pair.
Result<std::optional<Credentials>> pair_of(std::string id, std::string secret, std::string token,
                                           std::string_view id_name, std::string_view secret_name) {
  if (id.empty() != secret.empty()) {
    return usage_error(fmt::format("{} is set and {} is not; set both or neither", id.empty() ? secret_name : id_name,
                                   id.empty() ? id_name : secret_name));
  }
  if (id.empty()) return std::optional<Credentials>();
  return std::optional(Credentials{
      .access_key_id = std::move(id), .secret_access_key = std::move(secret), .session_token = std::move(token)});
}

Result<std::optional<Credentials>> find_credentials(const Sources& sources, const Environment& environment) {
  auto found =
      TRY(pair_of(environment("AWS_ACCESS_KEY_ID").value_or(""), environment("AWS_SECRET_ACCESS_KEY").value_or(""),
                  environment("AWS_SESSION_TOKEN").value_or(""), "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"));
  if (found) return found;
  for (const auto& [profile, path] : {std::pair(sources.in_credentials(), &sources.credentials_path),
                                      std::pair(sources.in_config(), &sources.config_path)}) {
    const auto where = fmt::format(" of the profile {} in {}", sources.profile_name, path->string());
    found = TRY(pair_of(value_of(profile, "aws_access_key_id"), value_of(profile, "aws_secret_access_key"),
                        value_of(profile, "aws_session_token"), "aws_access_key_id" + where,
                        "aws_secret_access_key" + where));
    if (found) return found;
  }
  return found;
}

// The way out if there are no credentials for an endpoint that needs some.
std::string no_credentials(const http::Origin& endpoint, const Sources& sources) {
  const auto& name = sources.profile_name;
  for (const auto* profile : {sources.in_credentials(), sources.in_config()}) {
    for (const auto setting : kIndirect) {
      if (value_of(profile, setting).empty()) continue;
      return fmt::format(
          "the profile {} has {}, which is not followed here; `eval \"$(aws configure export-credentials --profile {} "
          "--format env)\"` sets the variables to its credentials",
          name, setting, name);
    }
  }
  return fmt::format(
      "no credentials for {}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into the profile {} of {} "
      "with "
      "`aws configure --profile {}`",
      endpoint.url(), name, sources.credentials_path.empty() ? "~/.aws/credentials" : sources.credentials_path.string(),
      name);
}

// eu-central-1 for dynamodb.eu-central-1.amazonaws.com, and the like; empty for other hosts.
std::string region_of_host(std::string_view host) {
  for (const std::string_view domain : {".amazonaws.com", ".amazonaws.com.cn", ".api.aws"}) {
    if (!host.ends_with(domain)) continue;
    host.remove_suffix(domain.size());
    const auto dot = host.rfind('.');
    return dot == std::string_view::npos ? std::string() : std::string(host.substr(dot + 1));
  }
  return {};
}

std::string find_region(const http::Origin& endpoint, const Sources& sources, const Environment& environment) {
  for (const auto* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = environment(variable)) return *region;
  }
  auto region = value_of(sources.in_config(), "region");
  return region.empty() ? region_of_host(endpoint.host) : region;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const auto* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

Result<SigningScope> find_signing_scope(const http::Origin& endpoint, const Environment& environment) {
  const auto sources = TRY(read_sources(environment));
  auto credentials = TRY(find_credentials(sources, environment));
  auto region = find_region(endpoint, sources, environment);
  if (!credentials) {
    if (!endpoint.loopback()) return usage_error(no_credentials(endpoint, sources));
    credentials = Credentials{.access_key_id = "local", .secret_access_key = "local"};
  }
  if (region.empty()) {
    if (!endpoint.loopback()) {
      return usage_error(
          fmt::format("no region for {}: set AWS_REGION, or write it into the profile {} with `aws configure "
                      "--profile {}`",
                      endpoint.url(), sources.profile_name, sources.profile_name));
    }
    region = "us-east-1";
  }
  return SigningScope{.credentials = std::move(*credentials), .region = std::move(region)};
}

}  // namespace stator::client
