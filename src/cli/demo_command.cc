#include "stator/cli/demo_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/suggest.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/server/load_model.h"
#include "stator/systems/catalog/catalog.h"
#include "stator/systems/catalog/demo.h"

namespace stator::cli {
namespace {

constexpr std::string_view kDemoHelp =
    R"(Load the sample data of one system that comes with Stator, or of all of them.  A system whose table already
contains data is not changed.  `stator app NAME` then serves the system.  `stator up --demo` serves all systems,
and loads the sample data of those that are new.

Usage: stator demo NAME [--endpoint URL | --data FOLDER | --store URL]
       stator demo all [--endpoint URL | --data FOLDER | --store URL]

Systems:
  media-library   Libraries of books and videos, lent to friends, shared read-only
  stories         Branching stories
  shops           Shops, their URLs, and when each was crawled and scraped
  book-tracker    Books, notes, and a log of what was read when
  worthwatch      Curated watchlists of movies and shows

Options:
)";

}  // namespace

DemoCommand::DemoCommand(CLI::App& app) : app_(add_command(app, "demo", fmt::format("{}{}", kDemoHelp, kWhereHelp))) {
  app_->add_option("NAME")->expected(1);
  add_where_options(*app_);
  add_store_option(*app_);
}

int DemoCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto name = option(*app_, "NAME");
  if (!name) return fail(kWrongArguments, "demo needs the name of a system, or all; see stator demo --help");
  const auto known = systems::names();
  if (*name != "all" && !systems::is_built_in(*name)) {
    const auto suggestion = did_you_mean(*name, std::vector<std::string_view>(known.begin(), known.end()));
    return fail(kWrongArguments, fmt::format("no system is called {}{}", *name,
                                             suggestion.empty() ? "; see stator demo --help" : suggestion));
  }
  const auto database = open_database(*app_);
  if (!database) return fail(kFailed, database.error().message);
  const SystemClock clock;
  const bool is_shared = database->instance == nullptr || database->instance->engine().is_shared();
  const systems::DemoParts parts{.client = *database->client, .clock = clock, .is_shared = is_shared};
  const bool person_watches = isatty(STDERR_FILENO) == 1;
  for (const auto& system : *name == "all" ? known : std::vector<std::string>{*name}) {
    std::size_t requests = 0;
    const auto model = server::load_model_to_serve(system);
    if (!model) return fail(kFailed, model.error().message);
    const auto loaded = systems::load_demo(*model, parts, [&](std::size_t done, std::size_t all) {
      requests = all;
      if (person_watches) fmt::print(stderr, "\r{}: {} of {} requests", system, done, all);
    });
    if (person_watches && requests > 0) fmt::print(stderr, "\r\x1b[K");
    if (!loaded) return fail(kFailed, loaded.error().message);
    switch (*loaded) {
      case systems::DemoOutcome::Loaded:
        fmt::print("{}: loaded, {} requests; `stator app {}` serves it\n", system, requests, system);
        break;
      case systems::DemoOutcome::LoadedByAnother: fmt::print("{}: loaded by another program\n", system); break;
      case systems::DemoOutcome::LeftAlone:
        if (*name != "all") return fail(kFailed, fmt::format("{} holds data already; nothing was loaded", system));
        fmt::print("{}: left alone, its table holds data already\n", system);
        break;
    }
  }
  return kDone;
}

}  // namespace stator::cli
