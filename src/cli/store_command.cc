#include "stator/cli/store_command.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/library/shared_store.h"

namespace stator::cli {
namespace {

constexpr std::string_view kStoreHelp =
    R"(Make the tables of a store, a PostgreSQL database that a server uses instead of a data folder (--store).  The first
start of a server makes them, too, if its role may.  Otherwise, make them with a role that may, and grant the role
of the server USAGE on the schema stator, and SELECT, INSERT, UPDATE, DELETE on its tables.

Servers of a new version can use a store beside those of the version before.  When the older ones have gone,
upgrade ends that: older servers cannot use the store any more, and those that still run stop.

Passwords come from PGPASSWORD or ~/.pgpass.

Usage: stator store init [--store URL] [--print]
       stator store upgrade [--store URL]

Options:
  --store URL
      The database, such as postgres://host/database; else from $STATOR_STORE, else from stator.yaml.
  --print
      Print the statements, for psql for example, and change nothing.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.
)";

Result<std::string> store_of(const CLI::App& command) {
  auto loaded = TRY(load_settings(command));
  if (!loaded.config.store.empty()) return std::move(loaded.config.store);
  return usage_error(
      fmt::format("{} needs the address of a database: --store postgres://host/database", path_of(command)));
}

}  // namespace

StoreCommand::StoreCommand(CLI::App& app)
    : app_(add_command(app, "store", std::string(kStoreHelp))),
      init_(add_command(*app_, "init", std::string(kStoreHelp))),
      upgrade_(add_command(*app_, "upgrade", std::string(kStoreHelp))) {
  app_->require_subcommand(0, 1);
  for (auto* command : {init_, upgrade_}) {
    add_store_option(*command);
    command->add_option("--config")->expected(1)->allow_extra_args(false);
  }
  init_->add_flag("--print");
}

int StoreCommand::run() const {
  if (app_->remaining_size() > 0) return fail(kWrongArguments, no_such_command(*app_, app_->remaining().front()));
  if (init_->parsed()) return init();
  if (upgrade_->parsed()) return upgrade();
  return fmt::print(stderr, "{}", kStoreHelp), kWrongArguments;
}

int StoreCommand::init() const {
  if (const auto wrong = objection_to_rest(*init_); !wrong.empty()) return fail(kWrongArguments, wrong);
  if (init_->count("--print") > 0) return fmt::print("{}", library::store_schema()), kDone;
  const auto store = store_of(*init_);
  if (!store) return fail(kWrongArguments, store.error().message);
  if (const auto made = library::make_store(*store); !made) return fail(kFailed, made.error().message);
  fmt::print("the tables are in the schema stator of {}\n", library::described_store(*store));
  return kDone;
}

int StoreCommand::upgrade() const {
  if (const auto wrong = objection_to_rest(*upgrade_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto store = store_of(*upgrade_);
  if (!store) return fail(kWrongArguments, store.error().message);
  const auto upgraded = library::upgrade_store(*store);
  if (!upgraded) return fail(kFailed, upgraded.error().message);
  fmt::print("{}\n", *upgraded);
  return kDone;
}

}  // namespace stator::cli
