#include "stator/cli/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/log.h"
#include "stator/cli/app_commands.h"
#include "stator/cli/backup_command.h"
#include "stator/cli/check_command.h"
#include "stator/cli/command.h"
#include "stator/cli/console_command.h"
#include "stator/cli/database_option.h"
#include "stator/cli/demo_command.h"
#include "stator/cli/documentation_commands.h"
#include "stator/cli/model_command.h"
#include "stator/cli/repair_command.h"
#include "stator/cli/store_command.h"
#include "stator/server/config.h"
#include "stator/server/run.h"
#include "stator/server/secrets/access_keys.h"
#include "stator/server/version.h"

namespace stator::cli {
namespace {

constexpr std::string_view kHelp =
    R"(Stator is a database that speaks DynamoDB's API: any AWS SDK and the AWS CLI work with it as they are.

Usage: stator COMMAND [OPTIONS]

Commands:
  up         Start everything: the DynamoDB API on port 8000, the console on port 8001
  serve      Start the database alone
  app        Serve models over REST
  console    Show another DynamoDB endpoint in the console
  token      Make a token for the REST APIs, for development
  demo       Load the sample data of a system that comes with Stator
  key        Make, list and remove the access keys that requests are signed with
  model      Check a single-table design, print its document, picture and types; verify and migrate its table
  repair     Look for damage in the data of a stopped server, and save the readable data
  check      Read the whole database, and report damage and contradictions
  backup     Copy the database of a running or a stopped server
  restore    Make a data folder from a backup
  store      Make the tables of a store in PostgreSQL
  config     Print every setting, its meaning and its value, in the form of a stator.yaml
  version    Print the version, how it was built, and the data formats it knows
  man        Print the manual page of a command
  completion Print a script for bash, zsh or fish that completes commands and options

`stator COMMAND --help` tells more about each.

First steps, with the server running in another terminal (`stator up`; Ctrl-C stops it):
  export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any AWS_DEFAULT_REGION=us-east-1
  aws dynamodb create-table --endpoint-url http://127.0.0.1:8000 --table-name Music \
      --attribute-definitions AttributeName=Artist,AttributeType=S \
      --key-schema AttributeName=Artist,KeyType=HASH --billing-mode PAY_PER_REQUEST
  aws dynamodb put-item --endpoint-url http://127.0.0.1:8000 --table-name Music --item '{"Artist":{"S":"Can"}}'
  aws dynamodb scan --endpoint-url http://127.0.0.1:8000 --table-name Music
)";

constexpr std::string_view kUpHelp =
    R"(Start everything: the DynamoDB API, and the console on a port of its own.  Ctrl-C, or SIGTERM, stops it.

Usage: stator up [OPTIONS]

)";
constexpr std::string_view kServeHelp =
    R"(Start the database alone.  Ctrl-C, or SIGTERM, stops it.

Usage: stator serve [OPTIONS]

)";
constexpr std::string_view kAppHelp =
    R"(Serve models over REST, each below /systems/<name>/v1, with a database of its own in the data folder.  A caller
needs a token (JWT); `stator token` makes one.  /systems/<name>/v1/ is a web page to try the API, and
openapi.json beside it describes the API for programs.  Ctrl-C, or SIGTERM, stops the server.

Usage: stator app FILE|NAME... [OPTIONS]

NAME is a system that comes with Stator: media-library, stories, shops, book-tracker or worthwatch.

)";
constexpr std::string_view kKeyHelp =
    R"(Make, list and remove access keys.  Without a key, every client that reaches the server may do everything, so
the server listens to this machine only.  With the first key, every request must be signed with a key, as AWS
SDKs do, and the console asks its users to sign in with a key.  A running server notices a change within two
seconds.  The keys are in keys.yaml in the data folder, and only the owner of the file may read it.  With --store
they are in the store, and all servers that use it notice.  A database that was used with keys and has none any more
refuses every request, until there is a key again or the server is started with --allow-unsigned.

Usage: stator key add [--name NAME] [OPTIONS]
       stator key list [OPTIONS]
       stator key remove ID [OPTIONS]

Options:
  --name NAME
      A name for the new key, which the list shows.
  --data FOLDER
      The database, as for the server; else from $STATOR_DATA, else from stator.yaml.
  --store URL
      The same for a database in a store, such as postgres://host/database; else from $STATOR_STORE.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.
)";
constexpr std::string_view kConfigHelp =
    R"(Print every setting, its meaning and its value, in the form of a stator.yaml.  To make a first settings file:
stator config >stator.yaml

Usage: stator config [OPTIONS]

)";
constexpr std::string_view kVersionHelp =
    R"(Print the version, how it was built, and the data formats it knows.

Usage: stator version
)";

constexpr int kMostModels = 100;

// A command that takes settings as flags.
class SettingsCommand {
 public:
  SettingsCommand(CLI::App& app, const std::string& name, std::optional<server::Mode> mode, std::string_view help)
      : app_(add_command(app, name, [=] { return fmt::format("{}Options:\n{}", help, server::settings_help(mode)); })) {
    app_->add_option("--config")->type_name("FILE")->expected(1);  // first: --con is most likely a slip of it
    for (const auto& setting : server::settings()) {
      if (!setting.is_for(mode)) continue;
      auto* option = setting.is_switch() ? app_->add_flag(setting.flag())
                                         : app_->add_option(setting.flag())
                                               ->type_name(std::string(setting.placeholder))
                                               ->expected(1)
                                               ->allow_extra_args(false);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // load_config objects to duplicates
      options_.push_back({&setting, option});
    }
    if (mode == server::Mode::App) models_ = app_->add_option("FILE")->expected(1, kMostModels)->allow_extra_args();
  }

  explicit operator bool() const { return app_->parsed(); }

  Result<server::LoadedConfig> load() const {
    if (auto wrong = objection_to_rest(*app_); !wrong.empty()) return usage_error(std::move(wrong));
    server::ConfigSources sources{.environment = server::stator_environment()};
    sources.file = option(*app_, "--config");
    for (const auto& [setting, option] : options_) {
      for (const auto& text : option->results()) sources.flags.emplace_back(setting->name, text);
    }
    auto loaded = TRY(server::load_config(sources));
    if (models_ != nullptr) {
      for (const auto& file : models_->results()) loaded.config.models.push_back(file);
    }
    return loaded;
  }

 private:
  struct SettingOption {
    const server::Setting* setting;
    const CLI::Option* option;
  };

  CLI::App* app_;
  const CLI::Option* models_ = nullptr;  // files named without a flag
  std::vector<SettingOption> options_;
};

// stator key add|list|remove.
class KeyCommand {
 public:
  explicit KeyCommand(CLI::App& app)
      : app_(add_command(app, "key", std::string(kKeyHelp))),
        add_(add_action("add")),
        list_(add_action("list")),
        remove_(add_action("remove")) {
    app_->require_subcommand(0, 1);
    add_->add_option("--name")->type_name("NAME")->expected(1);
    remove_->add_option("ID")->expected(1);
  }

  explicit operator bool() const { return app_->parsed(); }

  int run() const {
    if (app_->remaining_size() > 0) return fail(kWrongArguments, no_such_command(*app_, app_->remaining().front()));
    const auto* action = add_->parsed() ? add_ : list_->parsed() ? list_ : remove_->parsed() ? remove_ : nullptr;
    if (action == nullptr) return fmt::print(stderr, "{}", kKeyHelp), kWrongArguments;
    if (const auto wrong = objection_to_rest(*action); !wrong.empty()) return fail(kWrongArguments, wrong);
    const auto loaded = load_server_settings(*action);
    if (!loaded) return fail(kWrongArguments, loaded.error().message);
    auto opened = server::open_files(loaded->config);
    if (!opened) return fail(kFailed, opened.error().message);
    server::AccessKeyFile file(opened->files);
    return action == add_ ? add(file, loaded->config) : action == list_ ? list(file) : remove(file);
  }

 private:
  CLI::App* add_action(const std::string& name) {
    auto* action = add_command(*app_, name, std::string(kKeyHelp));
    action->add_option("--data")->type_name("FOLDER")->expected(1);
    add_store_option(*action);
    action->add_option("--config")->type_name("FILE")->expected(1);
    return action;
  }

  // Text for programs goes to standard output, in the form of an environment file.  Text for people does not.
  int add(server::AccessKeyFile& file, const server::Config& config) const {
    const bool makes_folder = config.store.empty() && !std::filesystem::exists(config.data);
    const auto key = file.add(option(*add_, "--name").value_or(""), SystemClock());
    if (!key) return fail(kFailed, key.error().message);
    if (makes_folder && ::geteuid() == 0) {
      fmt::print(
          stderr,
          "stator: made the data folder {0}, which belongs to root; for a server that runs as another user: chown "
          "-R USER {0}\n",
          config.data);
    }
    fmt::print("AWS_ACCESS_KEY_ID={}\nAWS_SECRET_ACCESS_KEY={}\n", key->id, key->secret);
    fmt::print(stderr, "stator: the secret is not shown again; from now on every request must be signed with a key\n");
    return kDone;
  }

  static int list(const server::AccessKeyFile& file) {
    const auto keys = file.load();
    if (!keys) return fail(kFailed, keys.error().message);
    for (const auto& key : *keys) {
      fmt::print("{}  {}{}{}\n", key.id, key.created, key.name.empty() ? "" : "  ", key.name);
    }
    if (keys->empty()) fmt::print(stderr, "stator: no keys in {}; stator key add makes one\n", file.path());
    return kDone;
  }

  int remove(server::AccessKeyFile& file) const {
    const auto id = option(*remove_, "ID");
    if (!id) return fail(kWrongArguments, "key remove needs the id of a key; stator key list shows them");
    const auto left = file.remove(*id);
    if (!left) return fail(kFailed, left.error().message);
    if (left->empty()) {
      fmt::print(
          stderr,
          "stator: that was the last key: every request is refused from now on, also after a restart, until there is "
          "a new key or the server is started with --allow-unsigned\n");
    }
    return kDone;
  }

  CLI::App* app_;
  CLI::App* add_;
  CLI::App* list_;
  CLI::App* remove_;
};

int start(const SettingsCommand& command, server::Mode mode) {
  const auto loaded = command.load();
  if (!loaded) return fail(kWrongArguments, loaded.error().message);
  const auto& config = loaded->config;
  const auto format = config.log_format == server::LogFormat::Auto   ? log::default_format()
                      : config.log_format == server::LogFormat::Text ? log::Format::Text
                                                                     : log::Format::Json;
  log::configure(config.log_level, format);
  for (const auto& warning : loaded->warnings) log::warning("setting_without_effect", {{"message", warning}});
  if (const auto checked = server::check_config(config, mode); !checked)
    return fail(kWrongArguments, checked.error().message);
  const auto ran = mode == server::Mode::App ? server::run_app(config) : server::run_server(config, mode);
  return ran ? kDone : fail(kFailed, ran.error().message);
}

int print_config(const SettingsCommand& command) {
  const auto loaded = command.load();
  if (!loaded) return fail(kWrongArguments, loaded.error().message);
  for (const auto& warning : loaded->warnings) fmt::print(stderr, "stator: warning: {}\n", warning);
  fmt::print("{}", server::config_as_yaml(*loaded));
  return kDone;
}

// The word at the place of the command.
int unknown_command(const CLI::App& app, const std::string& word) {
  if (word == "help") return fmt::print("{}", kHelp), kDone;
  if (word.starts_with("-")) {
    for (const auto& setting : server::settings()) {
      if (word.substr(0, word.find('=')) == setting.flag()) {
        return fail(kWrongArguments, fmt::format("{0} belongs behind a command: stator up {0} ...", setting.flag()));
      }
    }
    return fail(kWrongArguments, fmt::format("no option {}; see stator --help", word));
  }
  return fail(kWrongArguments, no_such_command(app, word));
}

// Runs a command and returns its status, or nullopt if another command was given.
using RunIfGiven = std::function<std::optional<int>()>;

struct KnownCommand {
  std::string_view name;
  std::function<RunIfGiven(CLI::App&)> make;
};

template <typename Command>
KnownCommand command(std::string_view name) {
  return {name, [](CLI::App& app) -> RunIfGiven {
            return [made = std::make_shared<const Command>(app)] {
              return *made ? std::optional(made->run()) : std::nullopt;
            };
          }};
}

KnownCommand settings_command(std::string_view name, std::optional<server::Mode> mode, std::string_view help) {
  return {name, [=](CLI::App& app) -> RunIfGiven {
            const auto made = std::make_shared<const SettingsCommand>(app, std::string(name), mode, help);
            return [=] {
              if (!*made) return std::optional<int>();
              return std::optional(mode ? start(*made, *mode) : print_config(*made));
            };
          }};
}

KnownCommand version_command(std::string_view commit) {
  return {"version", [=](CLI::App& app) -> RunIfGiven {
            const auto* made = add_command(app, "version", std::string(kVersionHelp));
            return [=]() -> std::optional<int> {
              if (!made->parsed()) return std::nullopt;
              if (const auto wrong = objection_to_rest(*made); !wrong.empty()) return fail(kWrongArguments, wrong);
              return fmt::print("{}", server::version_text(commit)), kDone;
            };
          }};
}

std::vector<KnownCommand> commands_of(std::string_view commit) {
  using server::Mode;
  return {settings_command("up", Mode::Up, kUpHelp),
          settings_command("serve", Mode::Serve, kServeHelp),
          settings_command("app", Mode::App, kAppHelp),
          command<ConsoleCommand>("console"),
          command<TokenCommand>("token"),
          command<DemoCommand>("demo"),
          command<KeyCommand>("key"),
          command<ModelCommand>("model"),
          command<RepairCommand>("repair"),
          command<CheckCommand>("check"),
          command<BackupCommand>("backup"),
          command<RestoreCommand>("restore"),
          command<StoreCommand>("store"),
          settings_command("config", std::nullopt, kConfigHelp),
          version_command(commit),
          command<ManCommand>("man"),
          command<CompletionCommand>("completion")};
}

// Options and their texts take a large part of the time of a start, so a command of a server that is the first word is
// made alone.  Every other command line may need all of them: for a list, or for a suggestion.
std::vector<RunIfGiven> make_commands(CLI::App& app, const std::vector<KnownCommand>& known, std::string_view word) {
  const bool alone = word == "up" || word == "serve" || word == "app";
  std::vector<RunIfGiven> made;
  for (const auto& one : known) {
    if (!alone || one.name == word) made.push_back(one.make(app));
  }
  return made;
}

}  // namespace

int run(int argc, const char* const* argv, std::string_view commit) {
  CLI::App app;
  app.name("stator");
  app.allow_extras();
  app.formatter_fn([](const auto*, const auto&, auto) { return std::string(kHelp); });
  const auto* version_flag = app.add_flag("--version");
  app.require_subcommand(0, 1);
  const auto commands = make_commands(app, commands_of(commit), argc > 1 ? argv[1] : "");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(kWrongArguments, error.what());
  }

  if (const auto words = app.remaining(); !words.empty()) return unknown_command(app, words.front());
  for (const auto& run_if_given : commands) {
    if (const auto status = run_if_given()) return *status;
  }
  if (version_flag->count() > 0) return fmt::print("{}", server::version_text(commit)), kDone;
  fmt::print(stderr, "{}", kHelp);
  return kWrongArguments;
}

}  // namespace stator::cli
