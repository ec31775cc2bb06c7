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

namespace stator::cli {
namespace {

constexpr std::string_view kRepairHelp =
    R"(Look for damage in the data folder of a server that is stopped, and mend what can be mended.  Without --accept-loss nothing
is changed.  With it, everything that can be read is saved, the damaged files are moved into a folder damaged-TIME inside
the data folder, and what was lost is told.  Nothing is deleted.  Where a table file or the manifest is damaged, the data is
copied, which needs as much room as it takes.  A repair that was interrupted can be run again.

A backup that is whole is better than a repair: see stator restore.

Usage: stator repair [--accept-loss] [--data FOLDER]

Options:
  --accept-loss
      Mend, and go on without what cannot be read.
  --data FOLDER
      The database, as for the server; else from $STATOR_DATA, else from stator.yaml.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.

Exit status: 0 nothing is damaged, or it was mended; 1 it failed; 2 wrong arguments; 3 there is damage, and nothing was changed.
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
