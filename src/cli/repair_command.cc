#include "stator/cli/repair_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/cli/progress_bar.h"
#include "stator/library/repair.h"
#include "stator/library/shared_store.h"

namespace stator::cli {
namespace {

constexpr std::string_view kRepairHelp =
    R"(Look for damage in the data folder of a stopped server, and repair it as far as possible.  Without --accept-loss
nothing is changed.  With --accept-loss all readable data is saved, damaged files are moved into a folder
damaged-TIME inside the data folder, and the lost data is reported.  Nothing is deleted.  If a table file or the
manifest is damaged, the data is copied; this needs as much free disk space as the data takes.  An interrupted
repair can be started again.

An undamaged backup is better than a repair: see stator restore.

Usage: stator repair [--accept-loss] [--data FOLDER]

Options:
  --accept-loss
      Repair, and give up the data that cannot be read.
  --data FOLDER
      The database, as for the server; else from $STATOR_DATA, else from stator.yaml.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.

Exit status: 0 nothing is damaged, or it was repaired; 1 failure; 2 wrong arguments; 3 damage was found and nothing
changed.
)";
constexpr int kDamaged = 3;

}  // namespace

RepairCommand::RepairCommand(CLI::App& app) : app_(add_command(app, "repair", std::string(kRepairHelp))) {
  app_->add_flag("--accept-loss");
  for (const auto* name : {"--data", "--config"}) app_->add_option(name)->expected(1)->allow_extra_args(false);
}

int RepairCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto loaded = load_settings(*app_);
  if (!loaded) return fail(kWrongArguments, loaded.error().message);
  if (!loaded->config.store.empty() && app_->count("--data") == 0) {
    return fail(kFailed,
                fmt::format("the database is in the store {}, and this repairs data folders; name one with --data",
                            library::described_store(loaded->config.store)));
  }
  const auto& folder = loaded->config.data;
  const bool accept_loss = app_->count("--accept-loss") > 0;
  const auto outcome = [&] {
    ProgressBar bar;
    return library::repair({.data_folder = folder,
                            .accept_loss = accept_loss,
                            .progress = [&](auto stage, auto done,
                                            auto total) { bar.show(stage, done, total, ProgressBar::Unit::Steps); }},
                           SystemClock());
  }();
  if (!outcome) return fail(kFailed, outcome.error().message);
  for (const auto& line : outcome->lines) fmt::print("{}\n", line);
  if (!outcome->damaged || outcome->repaired) return kDone;
  fmt::print(stderr, "stator: nothing was changed; stator repair --accept-loss --data {} saves what can be read\n",
             folder);
  return kDamaged;
}

}  // namespace stator::cli
