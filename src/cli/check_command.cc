#include "stator/cli/check_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/cli/progress_bar.h"
#include "stator/engine/check/check.h"
#include "stator/library/data_folder.h"
#include "stator/library/shared_store.h"
#include "stator/server/tool_client.h"

namespace stator::cli {
namespace {

constexpr std::string_view kCheckHelp =
    R"(Read the whole database and report what is wrong: checksums of files, items that cannot be decoded or have the
wrong key, indexes that differ from their table, counts and sizes, time to live, streams, the catalog.  For each
kind of finding, the report says what to do.  A running server keeps serving; the check reads the database as it
was at one moment.

Usage: stator check [--endpoint URL | --data FOLDER [--repair] | --store URL [--repair]]

Options:
  --endpoint URL
      Check the database of a running server.  If the server has access keys, give one of them in
      AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or in a profile, as for any AWS tool.
  --data FOLDER
      Check a data folder that no server uses; nothing in it is changed.  Else from $STATOR_DATA, else from stator.yaml.
  --store URL
      Check a store, such as postgres://host/database, that no server uses.  Else from $STATOR_STORE, else from
      stator.yaml.
  --repair
      Repair everything that follows from the items: index entries, expiries, counts and sizes.  Stop the server and
      make a backup (stator backup) first.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.

Exit status: 0 nothing is wrong, or everything was repaired; 1 something is wrong; 2 the check could not run.

Examples:
  stator check --endpoint http://127.0.0.1:8000
  stator check --data ./stator-data
  stator check --data ./stator-data --repair
)";

constexpr int kClean = 0;
constexpr int kFindings = 1;
constexpr int kNotChecked = 2;
constexpr std::chrono::milliseconds kPollInterval{200};

void show(ProgressBar& bar, const engine::CheckProgress& progress) {
  const bool files = progress.stage == engine::CheckProgress::Stage::Files;
  bar.show(files ? "checking files" : "checking records", progress.done, progress.total,
           files ? ProgressBar::Unit::Bytes : ProgressBar::Unit::Records);
}

std::string place_of(const engine::Finding& finding) {
  std::string text;
  if (!finding.table.empty()) text += " in " + finding.table;
  if (!finding.index.empty()) text += "." + finding.index;
  if (!finding.key.empty()) text += " " + finding.key;
  return text;
}

// The advice, with the place of the database if it is known: "--data ./stator-data".
std::string advice(engine::FindingKind kind, const std::string& place, bool damaged) {
  static constexpr std::string_view kPlaceholder = "--data DATA_FOLDER";
  std::string text(engine::remedy(kind));
  if (damaged && engine::is_repairable(kind)) text = "When the damage is repaired, check again. " + text;
  if (const auto at = text.find(kPlaceholder); at != text.npos && !place.empty()) {
    text.replace(at, kPlaceholder.size(), place);
  }
  return text;
}

// `place` is empty for a server, whose folder only it knows.
void print_report(const engine::CheckReport& report, const std::string& place) {
  for (const auto& finding : report.findings) {
    fmt::print("{}{}: {}\n", engine::finding_name(finding.kind), place_of(finding), finding.what);
  }
  if (!report.clean()) fmt::print("\n");
  for (std::size_t i = 0; i < engine::kFindingKinds; ++i) {
    if (report.totals[i] == 0) continue;
    const auto kind = static_cast<engine::FindingKind>(i);
    fmt::print("{} x {}{}\n  {}\n", report.totals[i], engine::finding_name(kind),
               report.totals[i] > engine::CheckReport::kMaxFindings
                   ? fmt::format(", of which {} are shown", engine::CheckReport::kMaxFindings)
                   : std::string(),
               advice(kind, place, report.damaged()));
  }
  fmt::print("{}{} tables, {} items, {} index entries, {} of files: {}\n", report.damaged() ? "readable: " : "",
             report.tables, report.items, report.index_entries, bytes_text(report.file_bytes),
             report.clean() ? "nothing is wrong" : fmt::format("{} findings", report.total()));
}

// The failure to open a folder or a store.
int cannot_open(const Error& error) {
  const bool in_use = error.message.find("in use") != std::string::npos || error.message.starts_with("another Stator");
  if (error.code == ErrorCode::Usage && in_use) {
    return fail(kNotChecked, error.message + "; to check the database of a running server, use --endpoint URL");
  }
  return fail(error.code == ErrorCode::Corruption ? kFindings : kNotChecked, error.message);
}

// `place` is the flag that names the store.
int check_store(Result<std::unique_ptr<storage::Store>> store, const std::string& place, bool repairs) {
  if (!store) return cannot_open(store.error());
  const auto checked = [&](bool mends) {
    ProgressBar bar;
    const engine::CheckOptions options{.progress = [&](const engine::CheckProgress& progress) {
      show(bar, progress);
      return true;
    }};
    return mends ? engine::repair(**store, options) : engine::check(**store, options);
  };
  auto report = checked(repairs);
  if (!report) return fail(kNotChecked, report.error().message);
  if (report->repaired > 0) {
    fmt::print("{} records repaired; checking again\n", report->repaired);
    report = checked(false);
    if (!report) return fail(kNotChecked, report.error().message);
  }
  print_report(*report, place);
  if (repairs && report->damaged()) {
    fmt::print(stderr, "stator: nothing was repaired, because of the damage; first run stator repair {}\n", place);
  }
  return report->clean() ? kClean : kFindings;
}

int check_server(const std::string& endpoint) {
  const SystemClock clock;
  const auto client = server::ToolClient::connect(endpoint, client::process_environment());
  if (!client) return fail(kNotChecked, client.error().message);
  auto check = (*client)->start_check();
  {
    ProgressBar bar;
    const auto number = check ? check->number : 0;
    while (check && check->state == server::RemoteCheck::State::Running) {
      show(bar, check->progress);
      clock.wait(kPollInterval);
      check = (*client)->look_at_check();
      if (check && check->number != number) return fail(kNotChecked, "another check has begun; try again");
    }
  }
  if (!check) return fail(kNotChecked, check.error().message);
  if (check->state != server::RemoteCheck::State::Done) {
    return fail(kNotChecked, check->error.empty() ? "the server has been started again; try again" : check->error);
  }
  print_report(check->report, {});
  return check->report.clean() ? kClean : kFindings;
}

}  // namespace

CheckCommand::CheckCommand(CLI::App& app) : app_(add_command(app, "check", std::string(kCheckHelp))) {
  add_where_options(*app_);
  add_store_option(*app_);
  app_->add_flag("--repair");
}

int CheckCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto where = find_database(*app_);
  if (!where) return fail(kNotChecked, where.error().message);
  const bool repairs = app_->count("--repair") > 0;
  if (!where->endpoint.empty()) {
    if (repairs) return fail(kWrongArguments, "--repair needs a stopped server, and its folder with --data");
    return check_server(where->endpoint);
  }
  if (!where->store.empty()) {
    auto store = library::open_store(where->store, library::IfMissing::Refuse);
    return check_store(std::move(store), "--store " + library::described_store(where->store), repairs);
  }
  auto folder =
      library::open_data_folder(where->folder, repairs ? library::FolderUse::Write : library::FolderUse::Read);
  return check_store(std::move(folder), "--data " + where->folder, repairs);
}

}  // namespace stator::cli
