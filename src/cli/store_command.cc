#include "stator/cli/store_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/cli/progress_bar.h"
#include "stator/library/shared_store.h"
#include "stator/server/store_copy.h"

namespace stator::cli {
namespace {

constexpr std::string_view kStoreHelp =
    R"(Make, upgrade or copy a store: a PostgreSQL database that a server uses instead of a data folder (--store).

The first start of a server makes its tables, if its role may.  Otherwise, make them with init and a role that may, and
grant the role of the server USAGE on the schema stator, and SELECT, INSERT, UPDATE, DELETE on its tables.

Servers of a new version can use a store beside those of the version before.  When the older ones have gone,
upgrade ends that: older servers cannot use the store any more, and those that still run stop.

Copy copies a whole database from a data folder to a store, or from a store to a data folder, with its access keys and
the secret of tokens.  No server may use either of them.  The source is not changed; the target is empty.  Everything is
compared at the end.  If the copy was ended, run it again: it goes on where it stopped.  Until it is done, servers
refuse the target.

Passwords come from PGPASSWORD or ~/.pgpass.

Usage: stator store init [--store URL] [--lanes N] [--print]
       stator store upgrade [--store URL]
       stator store copy FROM TO

FROM and TO are the path of a data folder, or the address of a store.

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

std::string described_place(const std::string& place) {
  return library::is_store_url(place) ? library::described_store(place) : place;
}

Result<std::string> store_of(const CLI::App& command) {
  auto loaded = TRY(load_settings(command));
  if (!loaded.config.store.empty()) return std::move(loaded.config.store);
  return usage_error(
      fmt::format("{} needs the address of a database: --store postgres://host/database", path_of(command)));
}

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
      init_(add_command(*app_, "init", std::string(kStoreHelp))),
      upgrade_(add_command(*app_, "upgrade", std::string(kStoreHelp))),
      copy_(add_command(*app_, "copy", std::string(kStoreHelp))) {
  app_->require_subcommand(0, 1);
  for (auto* command : {init_, upgrade_}) {
    add_store_option(*command);
    command->add_option("--config")->expected(1)->allow_extra_args(false);
  }
  init_->add_option("--lanes")->expected(1)->allow_extra_args(false);
  init_->add_flag("--print");
  for (const auto* name : {"FROM", "TO"}) copy_->add_option(name)->expected(1);
}

int StoreCommand::run() const {
  if (app_->remaining_size() > 0) return fail(kWrongArguments, no_such_command(*app_, app_->remaining().front()));
  if (init_->parsed()) return init();
  if (upgrade_->parsed()) return upgrade();
  if (copy_->parsed()) return copy();
  return fmt::print(stderr, "{}", kStoreHelp), kWrongArguments;
}

int StoreCommand::init() const {
  if (const auto wrong = objection_to_rest(*init_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto lanes = lanes_of(*init_);
  if (!lanes) return fail(kWrongArguments, "--lanes is 1, 2, 4, 8, 16, 32 or 64");
  if (init_->count("--print") > 0) return fmt::print("{}", library::store_schema(*lanes)), kDone;
  const auto store = store_of(*init_);
  if (!store) return fail(kWrongArguments, store.error().message);
  const auto made = library::make_store(*store, *lanes);
  if (!made) return fail(kFailed, made.error().message);
  const auto place = library::described_store(*store);
  if (*made != *lanes && init_->count("--lanes") > 0) {
    return fail(kFailed, fmt::format("the tables are in the schema stator of {} already, with {} lanes", place, *made));
  }
  fmt::print("the tables are in the schema stator of {}\n", place);
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

int StoreCommand::copy() const {
  if (const auto wrong = objection_to_rest(*copy_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto from = option(*copy_, "FROM"), to = option(*copy_, "TO");
  if (!from || !to || from->empty() || to->empty()) {
    return fail(kWrongArguments,
                "store copy needs two places: stator store copy FROM TO, each a data folder or the address of a store");
  }
  const auto copied = [&] {
    ProgressBar bar;
    return server::copy_database({.from = *from, .to = *to, .progress = [&](auto stage, auto done, auto total) {
                                    bar.show(stage, done, total, ProgressBar::Unit::Records);
                                  }});
  }();
  if (!copied) return fail(kFailed, copied.error().message);
  fmt::print("{} is {} as of its commit {}: {} records, {}, all compared{}\n", described_place(*to),
             described_place(*from), copied->last_commit, copied->records, bytes_text(copied->bytes),
             copied->resumed ? "; an earlier copy had begun it" : "");
  if (!copied->texts.empty()) fmt::print("{} came along\n", fmt::join(copied->texts, ", "));
  if (!copied->left_behind.empty()) {
    fmt::print("{} was not copied: a data folder does not use it\n", fmt::join(copied->left_behind, ", "));
  }
  return kDone;
}

}  // namespace stator::cli
