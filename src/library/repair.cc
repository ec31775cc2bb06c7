#include "stator/library/repair.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "stator/engine/catalog.h"
#include "stator/engine/keyspace.h"
#include "stator/storage/rocksdb/repair.h"
#include "stator/storage/rocksdb/rocksdb_store.h"

namespace stator::library {
namespace {

using storage::KeyRange;

// "damaged-20260131-235959", and another one where that is taken.
std::string aside_name(const std::string& folder, const Clock& clock) {
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(clock.now());
  const auto name = fmt::format("damaged-{:%Y%m%d-%H%M%S}", fmt::gmtime(seconds.time_since_epoch().count()));
  for (int i = 1;; ++i) {
    auto candidate = i == 1 ? name : fmt::format("{}-{}", name, i);
    if (!std::filesystem::exists(std::filesystem::path(folder) / candidate)) return candidate;
  }
}

bool overlap(const KeyRange& a, const KeyRange& b) { return a.begin < b.end && b.begin < a.end; }

std::vector<std::string> tables_in(const engine::Catalog& catalog, const std::vector<KeyRange>& ranges) {
  std::vector<std::string> names;
  for (const auto& table : catalog.all()) {
    const auto items = engine::table_items(table->id);
    if (std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) { return overlap(range, items); })) {
      names.push_back(table->name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Tables that have items and no record of what they are.
Result<std::size_t> tables_without_record(const storage::Store& store, const engine::Catalog& catalog) {
  std::size_t count = 0;
  const auto snapshot = store.snapshot();
  for (auto rest = engine::all_items(); rest.begin < rest.end;) {
    const auto first = snapshot->cursor(rest, storage::Direction::Forward);
    TRY(first->status());
    if (!first->valid()) break;
    const auto table = engine::table_of_item(first->key());
    if (!table) break;
    if (catalog.find(*table) == nullptr) ++count;
    rest.begin = engine::table_items(*table).end;
  }
  return count;
}

void tell_loss(const storage::RepairReport& report, bool done, std::vector<std::string>& lines) {
  const auto* is = done ? "are" : "would be";
  const auto* lost = done ? "lost" : "would lose";
  for (const auto& file : report.tables_lost) lines.push_back(fmt::format("{}: all of {}", lost, file));
  if (!report.tables_lost.empty()) {
    lines.push_back(fmt::format(
        "{}: items that were in those files; some may be back as they were before their last change", lost));
  }
  if (report.commits_lost > 0) {
    lines.push_back(fmt::format("lost: {} commits of {} {} gone; each may hold many writes", report.commits_lost,
                                report.acknowledged, is));
  }
  if (report.commits_saved > 0) lines.push_back(fmt::format("saved: {} commits from the logs", report.commits_saved));
}

// The tables whose items and definitions are in the damaged files, as far as the other files tell.
void tell_tables_at_risk(const std::string& folder, const std::vector<KeyRange>& ranges,
                         std::vector<std::string>& lines) {
  if (ranges.empty()) return;
  const auto store = storage::open_rocksdb_store({.path = folder, .read_only = true, .despite_damage = true});
  engine::Catalog catalog;
  if (!store || !catalog.load(**store)) {
    const auto records = engine::all_table_records();
    if (std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) { return overlap(range, records); })) {
      lines.emplace_back(
          "would lose: definitions of tables, which are among what is damaged; the items of such a table are kept, but "
          "cannot be reached");
    }
    lines.emplace_back("would lose: items of tables whose names cannot be read");
    return;
  }
  const auto names = tables_in(catalog, ranges);
  if (names.empty()) {
    lines.emplace_back("would lose: items of no table; what is damaged are indexes, counts or changes");
    return;
  }
  lines.push_back(fmt::format("would lose: items of {} in the damaged blocks; all definitions of tables can be read",
                              fmt::join(names, ", ")));
}

}  // namespace

Result<RepairOutcome> repair(const RepairRequest& request, const Clock& clock) {
  const auto aside = aside_name(request.data_folder, clock);
  const auto report = TRY(storage::repair_folder(
      request.data_folder, {.accept_loss = request.accept_loss, .aside = aside, .progress = request.progress}));
  RepairOutcome outcome{.damaged = !report.damage.empty(), .repaired = report.repaired, .lines = {}};
  auto& lines = outcome.lines;
  for (const auto& one : report.damage) lines.push_back(fmt::format("damaged: {} {}", one.file, one.what));
  if (report.mark_lost) {
    lines.emplace_back("unknown: MARK is missing or cannot be read: whether the log has lost its end cannot be told");
  }
  if (!outcome.damaged) {
    lines.emplace_back("nothing is damaged");
    return outcome;
  }
  tell_loss(report, report.repaired, lines);
  if (!report.repaired) {
    const bool unfinished = report.damage.front().kind == storage::FolderDamage::Kind::Repair;
    if (!unfinished) tell_tables_at_risk(request.data_folder, report.ranges_lost, lines);
    return outcome;
  }

  const auto store = TRY(storage::open_rocksdb_store({.path = request.data_folder}));
  engine::Catalog catalog;
  TRY(catalog.load(*store));
  if (!report.ranges_lost.empty()) {
    const auto names = tables_in(catalog, report.ranges_lost);
    lines.push_back(fmt::format("lost: items in {} damaged blocks of {}", report.ranges_lost.size(),
                                names.empty() ? "no table" : fmt::format("{}", fmt::join(names, ", "))));
  }
  if (const auto count = TRY(tables_without_record(*store, catalog)); count > 0) {
    lines.push_back(
        fmt::format("lost: the definitions of {} tables; their items are kept, but cannot be reached", count));
  }
  lines.push_back(fmt::format("kept: {} tables; the damaged files are in {}/{}", catalog.size(), request.data_folder,
                              report.aside));
  lines.push_back(fmt::format("next: `stator check --data {}` tells whether indexes and counts still fit what is left",
                              request.data_folder));
  return outcome;
}

}  // namespace stator::library
