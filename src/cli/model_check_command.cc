#include "stator/cli/model_check_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/cli/command.h"
#include "stator/model/check/check.h"
#include "stator/model/check/check_shared.h"
#include "stator/model/check/cost.h"
#include "stator/model/check/print.h"
#include "stator/server/load_model.h"

namespace stator::cli {

const std::string_view kModelCheckHelp =
    R"(Check a single-table design: entities with equal keys, patterns that read too much or too little, text that can
forge keys, hot partitions, keys that can become too long, rules that cannot be kept.  Each finding has a place,
a reason, an example and a suggestion.  Then print what each pattern, each create and each copy costs.

Models that share a table are also compared with each other.  They must describe the table in the same way, and must
have types and keys of their own.

To accept a finding, name it in the model, with a reason:
  accept:
    - { finding: hot-partition, on: GSI4, because: "a few hundred films a day" }

Usage: stator model check FILE... [OPTIONS]

Options:
  --json
      Print one JSON object per file, for programs: findings and costs.
  --strict
      Fail on warnings, too.
  --item-size BYTES
      The size of a row, for the costs; 1024 if not given.
  --page ROWS
      The rows of a page, for the costs; the default of each pattern if not given.

Exit status: 0 no errors; 1 errors, or warnings with --strict; 2 wrong arguments.
)";

namespace {

// A whole number above 0 from an option; nullopt when it is not one.
std::optional<unsigned> positive(const CLI::App& action, const std::string& name, unsigned otherwise) {
  const auto text = option(action, name);
  if (!text) return otherwise;
  const auto number = positive_number(*text);
  if (!number || *number > std::numeric_limits<unsigned>::max()) return std::nullopt;
  return static_cast<unsigned>(*number);
}

struct Checked {
  std::optional<model::Model> model;  // absent when it cannot be loaded
  model::Diagnostics diagnostics;
  std::vector<model::PatternCost> reads;
  std::vector<model::WriteCost> writes;
  std::vector<model::CopyCost> copies;
};

Checked check_file(const std::string& file, const model::CostOptions& options) {
  auto report = server::report_on(file);
  Checked checked{
      .model = server::load_model(file, report), .diagnostics = {}, .reads = {}, .writes = {}, .copies = {}};
  if (checked.model) model::check(*checked.model, report);
  checked.diagnostics = std::move(report).take();
  if (!checked.model) return checked;
  checked.reads = model::costs(*checked.model, options);
  checked.writes = model::write_costs(*checked.model, options);
  checked.copies = model::copy_costs(*checked.model, options);
  return checked;
}

// Each with those before it.
void compare_shared(std::vector<Checked>& all) {
  for (auto second = all.begin(); second != all.end(); ++second) {
    for (auto first = all.begin(); first != second; ++first) {
      if (!first->model || !second->model) continue;
      const auto found = model::check_shared(*first->model, *second->model);
      second->diagnostics.insert(second->diagnostics.end(), found.begin(), found.end());
    }
  }
}

std::string summary(const std::string& file, const model::Diagnostics& diagnostics) {
  const auto count = [&](auto&& which) { return std::count_if(diagnostics.begin(), diagnostics.end(), which); };
  const auto standing = [&](model::Severity severity) {
    return count([&](const model::Diagnostic& d) { return d.severity == severity && d.accepted.empty(); });
  };
  const auto errors = standing(model::Severity::Error);
  const auto warnings = standing(model::Severity::Warning);
  return fmt::format("{}: {} {}, {} {}, {} accepted\n", file, errors, errors == 1 ? "error" : "errors", warnings,
                     warnings == 1 ? "warning" : "warnings",
                     count([](const model::Diagnostic& d) { return !d.accepted.empty(); }));
}

}  // namespace

void add_model_check_options(CLI::App& action) {
  action.add_option("FILE")->expected(CLI::detail::expected_max_vector_size);
  action.add_flag("--json");
  action.add_flag("--strict");
  action.add_option("--item-size")->expected(1);
  action.add_option("--page")->expected(1);
}

int check_models(const CLI::App& action) {
  const auto files = action.get_option("FILE")->results();
  if (files.empty()) return fail(kWrongArguments, "model check needs a file; see stator model check --help");
  const model::CostOptions usual;
  const auto item_size = positive(action, "--item-size", static_cast<unsigned>(usual.item_size));
  const auto page = positive(action, "--page", usual.page);
  if (!item_size) return fail(kWrongArguments, "--item-size takes a number of bytes");
  if (!page) return fail(kWrongArguments, "--page takes a number of rows");
  const bool strict = action.count("--strict") > 0;
  const bool json = action.count("--json") > 0;

  std::vector<Checked> all;
  for (const auto& file : files) all.push_back(check_file(file, {.item_size = *item_size, .page = *page}));
  compare_shared(all);
  bool failed = false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& checked = all[i];
    failed = failed || model::has_errors(checked.diagnostics);
    failed = failed || (strict && std::any_of(checked.diagnostics.begin(), checked.diagnostics.end(),
                                              [](const model::Diagnostic& d) { return d.accepted.empty(); }));
    if (json) {
      fmt::print("{{\"findings\":{},\"costs\":{}}}\n", model::to_json(checked.diagnostics),
                 model::to_json(checked.reads, checked.writes, checked.copies));
      continue;
    }
    for (const auto& diagnostic : checked.diagnostics) fmt::print("{}", model::to_text(diagnostic));
    if (!checked.writes.empty()) fmt::print("\n{}\n", model::to_text(checked.reads, checked.writes, checked.copies));
    fmt::print("{}", summary(files[i], checked.diagnostics));
  }
  return failed ? kFailed : kDone;
}

}  // namespace stator::cli
