#include "stator/cli/app_commands.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "stator/app/auth/jwt.h"
#include "stator/base/clock.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/server/secrets/secret_file.h"
#include "stator/server/systems.h"

namespace stator::cli {
namespace {

constexpr std::string_view kTokenHelp =
    R"help(Make a token for development, which `stator app` and `stator up` accept.  It is signed (HS256) with the
setting jwt_secret or, without that setting, with the secret of the database.  In production, tokens come from an
identity provider; see jwks.

Usage: stator token --subject WHO [OPTIONS]

Options:
  --subject WHO
      The user of the token: {me} in a model.
  --role ROLE
      A role; may be given several times.
  --expires TIME
      How long it is valid: 90s, 30m, 12h, 7d.  Default 12h.
  --name NAME, --email ADDRESS
      The claims of that name.
  --data FOLDER
      The database whose secret to use, as for the server; else from $STATOR_DATA, else from stator.yaml.
  --store URL
      The same for a database in a store, such as postgres://host/database; else from $STATOR_STORE.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.

Example:
  curl -H "Authorization: Bearer $(stator token --subject ann)" http://127.0.0.1:8001/systems/notebook/v1/notebooks
)help";

// "12h"
std::optional<std::chrono::seconds> read_duration(std::string_view text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const auto unit = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || count == 0) return std::nullopt;
  if (unit == "s") return std::chrono::seconds(count);
  if (unit == "m") return std::chrono::minutes(count);
  if (unit == "h") return std::chrono::hours(count);
  if (unit == "d") return std::chrono::days(count);
  return std::nullopt;
}

}  // namespace

TokenCommand::TokenCommand(CLI::App& app) : app_(add_command(app, "token", std::string(kTokenHelp))) {
  for (const auto* flag : {"--subject", "--role", "--expires", "--name", "--email", "--data", "--config"}) {
    app_->add_option(flag)->expected(1)->allow_extra_args(false);
  }
  add_store_option(*app_);
  app_->get_option("--role")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

int TokenCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto text_of = [&](const std::string& flag) { return option(*app_, flag).value_or(""); };
  const auto subject = text_of("--subject");
  if (subject.empty()) return fail(kWrongArguments, "token needs the name of a user: --subject NAME");
  const auto expires = text_of("--expires");
  const auto lifetime = expires.empty() ? std::chrono::hours(12) : read_duration(expires);
  if (!lifetime) {
    return fail(kWrongArguments, fmt::format("--expires expects a time such as 30m, 12h or 7d, not \"{}\"", expires));
  }
  const auto loaded = load_server_settings(*app_);
  if (!loaded) return fail(kWrongArguments, loaded.error().message);
  const auto& config = loaded->config;
  const auto opened = server::open_files(config);
  if (!opened) return fail(kFailed, opened.error().message);
  const auto had_secret = config.jwt_secret.empty() ? server::has_secret(*opened->files) : Result<bool>(true);
  if (!had_secret) return fail(kFailed, had_secret.error().message);
  const auto secrets = server::token_secrets(config, *opened->files);
  if (!secrets) return fail(kFailed, secrets.error().message);
  if (!*had_secret && config.store.empty()) {
    fmt::print(stderr, "stator: made a new secret in {}/app_secret; a server uses it only with that data folder\n",
               config.data);
  }
  if (secrets->signing.empty()) {
    return fail(kFailed,
                "jwks is set and jwt_secret is not, so only the identity provider of that key set can make tokens");
  }
  fmt::print("{}\n", app::make_token({.subject = subject,
                                      .roles = app_->get_option("--role")->results(),
                                      .name = text_of("--name"),
                                      .email = text_of("--email"),
                                      .issuer = config.jwt_issuer,
                                      .audience = config.jwt_audience,
                                      .roles_claim = config.jwt_roles_claim,
                                      .lifetime = *lifetime},
                                     secrets->signing, SystemClock()));
  return kDone;
}

}  // namespace stator::cli
