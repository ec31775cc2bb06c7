#include "stator/cli/model_data_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/client/client.h"
#include "stator/runtime/consistency/consistency_manager.h"
#include "stator/runtime/consistency/verify.h"
#include "stator/runtime/migration/migration.h"
#include "stator/runtime/migration/resolve.h"
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

If programs of the old model cannot be stopped first: run the command with --prepare, switch the programs to the new
model, and then run it again without --prepare.  The second run rewrites the last rows of programs of older versions,
drops old indexes, and removes their keys from the rows.

Programs of both models find every row while both run, if the keys of the old model's indexes stay as they are and new
keys are in a new index.  The programs of the old model then write the new keys as well.  The plan names each pattern
that would not find all rows ("blind"), and prints what to write into NEW to avoid that.  When nothing of the old model
runs any longer, take the old index out of the model and migrate once more.

If a primary key changes, rows move.  While they do, every write of such an entity is refused (503 with Retry-After).
Afterwards only programs of the old model are refused.

Usage: stator model migrate OLD NEW [--yes] [--prepare] [--accept NAME] [--endpoint URL | --data FOLDER]
       stator model migrate OLD NEW --resolve show|newest|old|new [--row KEY] [--yes] [--endpoint URL | --data FOLDER]

Options:
  --prepare
      Drop no index and remove no key, because programs of the old model still read them.  Refused if a pattern would
      not find all rows and was not accepted.
  --accept NAME
      With --prepare: it is all right that the pattern or entity of this name does not find all rows while programs of
      both models run.  Can be given more than once; `all` accepts everything that the plan names.
  --resolve show|newest|old|new
      Decide entities that have two rows, one at the old primary key and one at the new one, because programs wrote
      both.  `newest` keeps the row that was changed last, `old` the row at the old key, `new` the row at the new key;
      `show` only prints them.  Without --yes, the command asks at the terminal, or only shows what it would do.
      Then run the migration again.
  --row KEY
      With --resolve: decide only the entity whose old row has this primary key, as `show` prints it.  Can be given
      more than once.
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

void print_finding(const runtime::RowFinding& finding, runtime::FindingState state) {
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
  for (const auto& blind : plan.blind) fmt::print("blind: {}\n", blind.text);
  if (plan.advice.empty()) return;
  fmt::print(
      "Programs of both models find every row with these indexes and keys in the new model.  Take the old index out "
      "when\nnothing of the old model runs any longer, and migrate once more.\n\n{}\n",
      plan.advice);
}

std::vector<std::string> all_of_option(const CLI::App& action, const std::string& name) {
  return action.get_option(name)->results();
}

// Whether all blind patterns and entities are accepted; prints those that are not.
int check_accepted(const CLI::App& action, const runtime::MigrationPlan& plan) {
  const auto accepted = all_of_option(action, "--accept");
  std::vector<std::string> missing;
  for (const auto& blind : plan.blind) {
    const bool known = std::any_of(accepted.begin(), accepted.end(),
                                   [&](const std::string& name) { return name == blind.name || name == "all"; });
    const bool told = std::find(missing.begin(), missing.end(), blind.name) != missing.end();
    if (!known && !told) missing.push_back(blind.name);
  }
  for (const auto& name : accepted) {
    const bool named = std::any_of(plan.blind.begin(), plan.blind.end(),
                                   [&](const runtime::Blindness& blind) { return blind.name == name; });
    if (!named && name != "all") {
      return fail(kWrongArguments,
                  fmt::format("--accept {}: the plan has no blind pattern or entity of that name", name));
    }
  }
  if (missing.empty()) return kDone;
  const auto way = plan.advice.empty() ? std::string() : "change the new model as shown above, or ";
  return fail(kFailed,
              fmt::format("not prepared: while programs of both models run, not all rows would be found by {}; "
                          "{}accept it with --accept {}",
                          fmt::join(missing, ", "), way, fmt::join(missing, " --accept ")));
}

void print_double(const runtime::Double& pair) {
  fmt::print("double: {}\n  old {}\n  new {}\n", pair.entity, runtime::key_text(pair.old_row),
             runtime::key_text(pair.new_row));
  if (!pair.kept) return fmt::print("  not decided: {}\n", pair.why);
  const auto side = *pair.kept == runtime::Kept::Old ? "old" : "new";
  fmt::print("  {} the {} row\n", pair.done ? "kept" : "would keep", side);
}

int resolve_doubles(const CLI::App& action, const model::Model& from, const model::Model& to) {
  const auto choice = *option(action, "--resolve");
  runtime::ResolveOptions options;
  if (choice == "newest") options.keep = runtime::Kept::Newest;
  if (choice == "old") options.keep = runtime::Kept::Old;
  if (choice == "new") options.keep = runtime::Kept::New;
  if (!options.keep && choice != "show") {
    return fail(kWrongArguments, fmt::format("--resolve takes show, newest, old or new, and not {}", choice));
  }
  for (auto& row : all_of_option(action, "--row")) options.rows.insert(std::move(row));
  const auto database = open_database(action);
  if (!database) return fail(kFailed, database.error().message);
  auto random = Random::from_system();
  const SystemClock clock;
  options.report = print_double;
  options.progress = [](std::uint64_t rows) { fmt::print(stderr, "{} rows\n", rows); };
  const auto run = [&] { return runtime::resolve_doubles(from, to, options, *database->client, clock, random); };
  const bool yes = action.count("--yes") > 0;
  options.write = options.keep && yes;
  auto result = run();
  if (result && options.keep && !yes && result->resolved > 0) {
    fmt::print("{} doubles, {} would be decided\n", result->doubles, result->resolved);
    if (!confirmed()) return fmt::print("nothing was done; --yes does it\n"), kDone;
    options.write = true;
    result = run();
  }
  if (!result) return fail(kFailed, result.error().message + "; run the same command to continue");
  const auto decided = options.write ? result->resolved : 0;
  fmt::print("{} doubles, {} decided\n", result->doubles, decided);
  if (decided > 0) fmt::print("run the migration again to finish it\n");
  return decided == result->doubles ? kDone : kFailed;
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
      if (replayed) fmt::print("{}  propagated\n", record.id);
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
  action.add_option("--resolve")->expected(1)->allow_extra_args(false);
  for (const auto* name : {"--accept", "--row"}) {
    action.add_option(name)->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
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
  const bool prepares = action.count("--prepare") > 0;
  const bool resolves = action.count("--resolve") > 0;
  if (prepares && resolves) return fail(kWrongArguments, "--prepare and --resolve cannot be given together");
  if (!prepares && action.count("--accept") > 0) return fail(kWrongArguments, "--accept goes with --prepare");
  if (!resolves && action.count("--row") > 0) return fail(kWrongArguments, "--row goes with --resolve");
  const auto from = load(*old_file);
  const auto to = load(*new_file);
  if (from == nullptr || to == nullptr) return kFailed;
  if (resolves) return resolve_doubles(action, *from, *to);

  auto plan = runtime::plan_migration(*from, *to);
  if (prepares) runtime::only_prepare(plan);
  print_plan(plan);
  for (const auto& obstacle : plan.obstacles) fmt::print(stderr, "stator: not possible: {}\n", obstacle);
  if (!plan.obstacles.empty()) return kFailed;
  if (plan.steps.empty()) return fmt::print("nothing to do: both models need the same rows\n"), kDone;
  if (prepares) {
    if (const int status = check_accepted(action, plan); status != kDone) return status;
  }
  if (action.count("--yes") == 0 && !confirmed()) {
    return fmt::print("nothing was done; --yes does it\n"), kDone;
  }

  const auto database = open_database(action);
  if (!database) return fail(kFailed, database.error().message);
  auto random = Random::from_system();
  const SystemClock clock;
  const bool alone = database->instance != nullptr;  // a folder has one program at a time
  const auto report = runtime::migrate(
      *from, *to, plan, *database->client, clock, random,
      [&](const runtime::MigrationProgress& progress) {
        const auto what = progress.waiting ? std::string("waiting until every program knows of it")
                                           : fmt::format("{} rows", progress.rows);
        fmt::print(stderr, "step {} of {}: {}\n", progress.step + 1, plan.steps.size(), what);
      },
      alone);
  if (!report) return fail(kFailed, report.error().message + "; run the same command to continue");
  for (const auto& finding : report->unresolved) print_finding(finding, runtime::FindingState::Found);
  fmt::print("{} things rewritten\n", report->rewritten);
  if (report->complete) return kDone;
  const bool taken = std::any_of(report->unresolved.begin(), report->unresolved.end(), [](const auto& finding) {
    return finding.kind == runtime::RowFinding::Kind::Key && finding.what == runtime::kPrimaryKey;
  });
  if (taken) {
    fmt::print(stderr,
               "stator: entities have two rows; show and decide them with: stator model migrate {} {} "
               "--resolve show\n",
               *old_file, *new_file);
  }
  return fail(kFailed, "some rows must be repaired by hand first; then run the same command to continue");
}

}  // namespace stator::cli
