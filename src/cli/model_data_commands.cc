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
#include "stator/systems/catalog/catalog.h"

namespace stator::cli {

namespace {

constexpr std::string_view kVerifyHelp =
    R"(Compare every row of a model's table with what the model's rules say: copies, counters and sums, reservations of
unique values, the records of an entity, derived attributes, keys, and rows whose parent is gone.  Safe while others
write.  The exit status is 1 when something is wrong and was not repaired.

Usage: stator model verify FILE [--repair] [--endpoint URL | --data FOLDER]

Options:
  --repair
      Put right what can be: each repair is conditioned on what it was computed from.  Goes over the table until there
      is nothing left to repair, since what is put right may be what other rows copy.
)";
constexpr std::string_view kParkedHelp =
    R"(Show the changes that the consistency manager could not carry to what depends on them, after several attempts, and
set aside; or carry them now.

Usage: stator model parked FILE [--replay ID | --replay all] [--endpoint URL | --data FOLDER]

Options:
  --replay ID
      Carry this one, or all of them; what succeeds is no longer parked.
)";
constexpr std::string_view kMigrateHelp =
    R"(Change a table from one model to another while it is being served: new indexes are built, rows get their new form,
old indexes are dropped.  Shows the plan first.  When it is interrupted, the same command goes on where it was; with the
two models the other way round it is taken back.

What programs of the old model write meanwhile is rewritten, too.  Where they must go on until the end: run it with
--prepare, switch them to the new model, and when none is left run it again without, for what they wrote last and for
old indexes.

Usage: stator model migrate OLD NEW [--yes] [--prepare] [--endpoint URL | --data FOLDER]

Options:
  --prepare
      Drop no index: programs of the old model still read them.
  --yes
      Do it; without it, and without somebody at the terminal who says so, only the plan is shown.
)";
// The model in a file; tells what is wrong with it when there is none.
std::shared_ptr<const model::Model> load(const std::string& file) {
  auto loaded = systems::load_model(file);
  for (const auto& diagnostic : loaded.diagnostics) {
    fmt::print(stderr, "{}:{}:{}: {}\n", diagnostic.file, diagnostic.position.line, diagnostic.position.column,
               diagnostic.message);
  }
  if (!loaded.model) return nullptr;
  return std::make_shared<const model::Model>(std::move(*loaded.model));
}

void print_finding(const runtime::Finding& finding, bool repaired) {
  fmt::print("{}: {} {} {}\n", runtime::finding_name(finding.kind), finding.entity, runtime::key_text(finding.key),
             finding.what);
  fmt::print("  expected {}\n  found    {}\n", finding.expected.empty() ? "nothing" : finding.expected,
             finding.found.empty() ? "nothing" : finding.found);
  if (repaired) fmt::print("  repaired\n");
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
}

int verify_model(const CLI::App& action) {
  return with_model_and_database(action, [&](const auto& model, client::Client& client, Random& random) {
    const SystemClock clock;
    runtime::Dynamo dynamo(client, random, clock);
    runtime::Settler settler(*model, dynamo, random);
    runtime::VerifyOptions options;
    options.report = print_finding;
    const bool repair = action.get_option("--repair")->count() > 0;
    const auto result = repair ? runtime::repair_wholly(settler, options) : runtime::verify(settler, options);
    if (!result) return fail(kFailed, result.error().message);
    const auto passes = result->passes > 1 ? fmt::format(" in {} passes", result->passes) : std::string();
    fmt::print("{} rows, {} findings, {} repaired{}\n", result->rows, result->findings, result->repaired, passes);
    if (!result->complete) return fail(kFailed, "there may be more to repair; others change what it repairs");
    return result->findings == result->repaired ? kDone : kFailed;
  });
}

void add_model_parked_options(CLI::App& action) {
  action.add_option("FILE")->expected(1);
  action.add_option("--replay")->expected(1);
  add_where_options(action);
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
  if (action.get_option("--prepare")->count() > 0) {
    std::erase_if(plan.steps, [](const auto& step) { return step.kind == runtime::MigrationStep::Kind::DropIndex; });
  }
  print_plan(plan);
  for (const auto& obstacle : plan.obstacles) fmt::print(stderr, "stator: not possible: {}\n", obstacle);
  if (!plan.obstacles.empty()) return kFailed;
  if (plan.steps.empty()) return fmt::print("nothing to do: both models need the same rows\n"), kDone;
  if (action.get_option("--yes")->count() == 0 && !confirmed()) {
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
  if (!report) return fail(kFailed, report.error().message + "; the same command goes on where it was");
  for (const auto& finding : report->unresolved) print_finding(finding, false);
  fmt::print("{} things rewritten\n", report->rewritten);
  if (!report->complete) return fail(kFailed, "some rows need a person first; the same command goes on then");
  return kDone;
}

}  // namespace stator::cli
