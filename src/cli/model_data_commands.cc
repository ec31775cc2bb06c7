#include "stator/cli/model_data_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/client/client.h"
#include "stator/runtime/consistency/consistency_manager.h"
#include "stator/runtime/consistency/verify.h"
#include "stator/runtime/migration/migration.h"
#include "stator/server/load_model.h"

namespace stator::cli {

namespace {

constexpr std::string_view kVerifyHelp =
    R"(Compare every row of a model's table with the model's rules: copies, counters and sums, reservations of unique
values, the records of an entity, derived attributes, keys, and rows whose parent is gone.  Other programs may
write at the same time.  The exit status is 1 when something is wrong and was not repaired.  Differences that follow
from changes which wait in the table's stream are pending and not wrong: the consistency manager of a server writes
them.

Usage: stator model verify FILE [--repair] [--endpoint URL | --data FOLDER]

Options:
  --repair
      Repair the differences, as far as possible.  A repair is written only if the rows that it was computed from have
      not changed.  The table is read again until nothing is left to repair, because other rows may copy a repaired
      value.
)";
constexpr std::string_view kParkedHelp =
    R"(Show the changes that the consistency manager could not propagate to dependent rows after several attempts and
has set aside, or propagate them now.

Usage: stator model parked FILE [--replay ID | --replay all] [--endpoint URL | --data FOLDER]

Options:
  --replay ID
      Propagate this change, or all of them.  A change that succeeds is no longer parked.
)";
constexpr std::string_view kMigrateHelp =
    R"(Change a table from one model to another while it is being served: build new indexes, give rows their new form,
drop old indexes.  The plan is shown first.  After an interruption, the same command continues where it
stopped.  With the two models in the other order, the migration is undone.

Rows that programs of the old model write during the migration are rewritten, too.  If these programs cannot be
stopped: run the command with --prepare, switch the programs to the new model, and then run it again without
--prepare.  The second run rewrites the last rows of the old programs and drops old indexes.

Usage: stator model migrate OLD NEW [--yes] [--prepare] [--endpoint URL | --data FOLDER]

Options:
  --prepare
      Drop no index, because programs of the old model still read them.
  --yes
      Migrate without asking.  Without this option, the command asks at the terminal, or only shows the plan.
)";
// The model in a file; tells what is wrong with it when there is none.
std::shared_ptr<const model::Model> load(const std::string& file) {
  auto loaded = server::load_model(file);
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}:{}:{}: {}\n", diagnostic.file, diagnostic.position.line, diagnostic.position.column,
               diagnostic.message);
  }
  if (!loaded.model) return nullptr;
  return std::make_shared<const model::Model>(std::move(*loaded.model));
}

void print_finding(const runtime::Finding& finding, runtime::FindingState state) {
  fmt::print("{}: {} {} {}\n", runtime::finding_name(finding.kind), finding.entity, runtime::key_text(finding.key),
             finding.what);
  fmt::print("  expected {}\n  found    {}\n", finding.expected.empty() ? "nothing" : finding.expected,
             finding.found.empty() ? "nothing" : finding.found);
  using enum runtime::FindingState;
  if (state == Repaired || state == Propagated) fmt::print("  repaired\n");
  if (state == Pending)
    fmt::print("  pending: a change waits in the stream; the consistency manager will write this\n");
  if (!finding.repairable) fmt::print("  a person has to decide what is right\n");
}

// Runs `work` on the model of FILE and its database.
template <typename Work>
int with_model_and_database(const CLI::App& action, Work work) {
  const auto file = option(action, "FILE");
  if (!file) {
    return fail(kWrongArguments, fmt::format("model {0} needs a file; see stator model {0} --help", action.get_name()));
  }
  const auto model = load(*file);
  if (model == nullptr) return kFailed;
  const auto database = open_database(action);
  if (!database) return fail(kFailed, database.error().message);
  auto random = Random::from_system();
  return work(model, *database->client, random);
}

bool confirmed() {
  if (isatty(STDIN_FILENO) == 0) return false;
  fmt::print("Do it? (yes/no) ");
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes" || answer == "y";
}

void print_plan(const runtime::MigrationPlan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) fmt::print("{}. {}\n", i + 1, plan.steps[i].text);
  for (const auto& remark : plan.remarks) fmt::print("note: {}\n", remark);
}

}  // namespace

std::string model_verify_help() { return fmt::format("{}{}", kVerifyHelp, kWhereHelp); }
std::string model_parked_help() { return fmt::format("{}{}", kParkedHelp, kWhereHelp); }
std::string model_migrate_help() { return fmt::format("{}{}", kMigrateHelp, kWhereHelp); }

void add_model_verify_options(CLI::App& action) {
  action.add_option("FILE")->expected(1);
  action.add_flag("--repair");
  add_where_options(action);
  add_store_option(action);
}

int verify_model(const CLI::App& action) {
  return with_model_and_database(action, [&](const auto& model, client::Client& client, Random& random) {
    const SystemClock clock;
    runtime::Dynamo dynamo(client, random, clock);
    runtime::Reconciler reconciler(*model, dynamo, random);
    runtime::VerifyOptions options;
    options.report = print_finding;
    const auto changes = runtime::PendingChanges::read(reconciler);
    if (!changes) return fail(kFailed, changes.error().message);
    options.changes = &*changes;
    const bool repair = action.count("--repair") > 0;
    const auto result = repair ? runtime::repair_wholly(reconciler, options) : runtime::verify(reconciler, options);
    if (!result) return fail(kFailed, result.error().message);
    const auto passes = result->passes > 1 ? fmt::format(" in {} passes", result->passes) : std::string();
    const auto pending = result->pending > 0 ? fmt::format(", {} pending", result->pending) : std::string();
    fmt::print("{} rows, {} findings, {} repaired{}{}\n", result->rows, result->findings, result->repaired, passes,
               pending);
    if (!result->complete)
      return fail(kFailed, "there may be more to repair, because other programs change the same rows; run it again");
    return result->findings == result->repaired ? kDone : kFailed;
  });
}

void add_model_parked_options(CLI::App& action) {
  action.add_option("FILE")->expected(1);
  action.add_option("--replay")->expected(1);
  add_where_options(action);
  add_store_option(action);
}

int show_parked(const CLI::App& action) {
  return with_model_and_database(action, [&](const auto& model, client::Client& client, Random& random) {
    const SystemClock clock;
    runtime::ConsistencyManager manager(model, client, clock, random);
    const auto parked = manager.parked();
    if (!parked) return fail(kFailed, parked.error().message);
    const auto replay = option(action, "--replay");
    int status = kDone;
    bool found = !replay || replay == "all";
    for (const auto& record : *parked) {
      if (!replay) {
        fmt::print("{}  parked {} after {} attempts: {}\n{}\n", record.id, record.parked_at, record.attempts,
                   record.problem, record.record);
        continue;
      }
      if (replay != "all" && replay != record.id) continue;
      found = true;
      const auto replayed = manager.replay(record.id);
      if (!replayed) status = fail(kFailed, fmt::format("{}: {}", record.id, replayed.error().message));
      if (replayed) fmt::print("{}  carried\n", record.id);
    }
    if (!found) return fail(kFailed, fmt::format("no parked record is called {}", *replay));
    return status;
  });
}

void add_model_migrate_options(CLI::App& action) {
  action.add_option("OLD")->expected(1);
  action.add_option("NEW")->expected(1);
  action.add_flag("--yes");
  action.add_flag("--prepare");
  add_where_options(action);
  add_store_option(action);
}

int migrate_model(const CLI::App& action) {
  const auto old_file = option(action, "OLD");
  const auto new_file = option(action, "NEW");
  if (!old_file || !new_file) {
    return fail(kWrongArguments,
                "model migrate needs two files, the old model and the new one; see stator model migrate --help");
  }
  const auto from = load(*old_file);
  const auto to = load(*new_file);
  if (from == nullptr || to == nullptr) return kFailed;

  auto plan = runtime::plan_migration(*from, *to);
  if (action.count("--prepare") > 0) {
    std::erase_if(plan.steps, [](const auto& step) { return step.kind == runtime::MigrationStep::Kind::DropIndex; });
  }
  print_plan(plan);
  for (const auto& obstacle : plan.obstacles) fmt::print(stderr, "stator: not possible: {}\n", obstacle);
  if (!plan.obstacles.empty()) return kFailed;
  if (plan.steps.empty()) return fmt::print("nothing to do: both models need the same rows\n"), kDone;
  if (action.count("--yes") == 0 && !confirmed()) {
    return fmt::print("nothing was done; --yes does it\n"), kDone;
  }

  const auto database = open_database(action);
  if (!database) return fail(kFailed, database.error().message);
  auto random = Random::from_system();
  const SystemClock clock;
  const auto report = runtime::migrate(
      *from, *to, plan, *database->client, clock, random, [&](const runtime::MigrationProgress& progress) {
        fmt::print(stderr, "step {} of {}: {} rows\n", progress.step + 1, plan.steps.size(), progress.rows);
      });
  if (!report) return fail(kFailed, report.error().message + "; run the same command to continue");
  for (const auto& finding : report->unresolved) print_finding(finding, runtime::FindingState::Found);
  fmt::print("{} things rewritten\n", report->rewritten);
  if (!report->complete)
    return fail(kFailed, "some rows must be repaired by hand first; then run the same command to continue");
  return kDone;
}

}  // namespace stator::cli
