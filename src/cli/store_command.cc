#include "stator/cli/store_command.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>
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
of the server USAGE on the schema stator, and SELECT, INSERT, UPDATE, DELETE on its tables.  Tables of an
older form get the newest one; an older Stator does not open them then.  Passwords come from PGPASSWORD or ~/.pgpass.

Usage: stator store init [--store URL] [--lanes N] [--print]

Options:
  --store URL
      The database, such as postgres://host/database; else from $STATOR_STORE, else from stator.yaml.
  --lanes N
      How many lanes the tables have: 1 (default), 2, 4, 8, 16, 32 or 64.  Writes in different lanes do not wait for
      each other.  It cannot be changed later.
  --print
      Print the statements, for psql for example, and change nothing.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.
)";

constexpr std::uint32_t kMostLanes = 64;

std::optional<std::uint32_t> lanes_of(const CLI::App& command) {
  if (command.count("--lanes") == 0) return 1;
  const auto text = command.get_option("--lanes")->as<std::string>();
  std::uint32_t lanes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lanes);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && lanes <= kMostLanes && std::has_single_bit(lanes) ? std::optional(lanes) : std::nullopt;
}

}  // namespace

StoreCommand::StoreCommand(CLI::App& app)
    : app_(add_command(app, "store", std::string(kStoreHelp))),
      init_(add_command(*app_, "init", std::string(kStoreHelp))) {
  app_->require_subcommand(0, 1);
  add_store_option(*init_);
  init_->add_option("--lanes")->expected(1)->allow_extra_args(false);
  init_->add_flag("--print");
  init_->add_option("--config")->expected(1)->allow_extra_args(false);
}

int StoreCommand::run() const {
  if (app_->remaining_size() > 0) return fail(kWrongArguments, no_such_command(*app_, app_->remaining().front()));
  if (!init_->parsed()) return fmt::print(stderr, "{}", kStoreHelp), kWrongArguments;
  if (const auto wrong = objection_to_rest(*init_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto lanes = lanes_of(*init_);
  if (!lanes) return fail(kWrongArguments, "--lanes is 1, 2, 4, 8, 16, 32 or 64");
  if (init_->count("--print") > 0) return fmt::print("{}", library::store_schema(*lanes)), kDone;
  const auto loaded = load_settings(*init_);
  if (!loaded) return fail(kWrongArguments, loaded.error().message);
  const auto& store = loaded->config.store;
  if (store.empty()) {
    return fail(kWrongArguments, "store init needs the address of a database: --store postgres://host/database");
  }
  const auto made = library::make_store(store, *lanes);
  if (!made) return fail(kFailed, made.error().message);
  const auto place = library::described_store(store);
  if (*made != *lanes && init_->count("--lanes") > 0) {
    return fail(kFailed, fmt::format("the tables are in the schema stator of {} already, with {} lanes", place, *made));
  }
  fmt::print("the tables are in the schema stator of {}\n", place);
  return kDone;
}

}  // namespace stator::cli
