// Repository::open: the table that the model describes, made or checked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/runtime/repository_state.h"

namespace stator::runtime {
namespace {

using model::IndexDesign;
using model::KeyDesign;
using model::TableDesign;

constexpr unsigned kActivePolls = 600;
constexpr std::chrono::milliseconds kLongestPoll{500};

std::string attributes_text(const std::vector<KeyDesign>& keys) {
  std::vector<std::string> texts;
  for (const auto& key : keys) texts.push_back(fmt::format("{}:{}", key.name, value::type_name(key.type)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string projection_text(const IndexDesign& index) {
  if (index.projection == model::ProjectionKind::All) return "all";
  if (index.projection == model::ProjectionKind::KeysOnly) return "keys";
  auto names = index.included;
  std::sort(names.begin(), names.end());
  return fmt::format("[{}]", fmt::join(names, ", "));
}

// Collects the differences between a table and a model.
class TableComparison {
 public:
  void expect(const std::string& what, std::string_view expected, std::string_view found) {
    if (expected != found) {
      differences_.push_back({what, fmt::format("is {} in the table and {} in the model", found, expected)});
    }
  }
  void missing(const std::string& what) { differences_.push_back({what, "is not in the table"}); }
  std::vector<model::ValueProblem> take() { return std::move(differences_); }

 private:
  std::vector<model::ValueProblem> differences_;
};

void compare(const IndexDesign& index, const TableDesign& table, const TableDesign& there,
             TableComparison& comparison) {
  const auto* found = there.find_index(index.name);
  if (found == nullptr) return comparison.missing(index.name);
  comparison.expect(index.name + ": local", index.local ? "true" : "false", found->local ? "true" : "false");
  const auto partition = index.local ? std::vector{table.partition} : index.partition;
  comparison.expect(index.name + ": partition key", attributes_text(partition), attributes_text(found->partition));
  comparison.expect(index.name + ": sort key", attributes_text(index.sort), attributes_text(found->sort));
  comparison.expect(index.name + ": projection", projection_text(index), projection_text(*found));
}

std::vector<model::ValueProblem> compare(const TableDesign& table, const TableDesign& there,
                                         const std::optional<std::string>& ttl) {
  TableComparison comparison;
  const auto sort_of = [](const TableDesign& of) { return of.sort ? std::vector{*of.sort} : std::vector<KeyDesign>(); };
  comparison.expect("partition key", attributes_text({table.partition}), attributes_text({there.partition}));
  comparison.expect("sort key", attributes_text(sort_of(table)), attributes_text(sort_of(there)));
  for (const auto& index : table.indexes) compare(index, table, there, comparison);
  if (table.stream != model::StreamView::None) {  // a stream that the model does not ask for is somebody else's
    comparison.expect("stream", stream_name(table.stream), stream_name(there.stream));
  }
  if (table.ttl_attribute && ttl) comparison.expect("ttl", *table.ttl_attribute, *ttl);
  return comparison.take();
}

bool is_active(const TableState& state) {
  return state.status == "ACTIVE" && std::all_of(state.index_status.begin(), state.index_status.end(),
                                                 [](const std::string& status) { return status == "ACTIVE"; });
}

}  // namespace

Result<void, Problem> Repository::open(const std::stop_token& stop) {
  auto& dynamo = state_->context.dynamo;
  const auto& table = model().table;
  auto state = TRY(dynamo.describe_table(table.name));
  if (!state) TRY(dynamo.create_table(table));
  for (unsigned poll = 0; !state || !is_active(*state); ++poll) {
    if (poll == kActivePolls) {
      return Problem{ProblemKind::Unavailable, "TableNotActive", "table " + table.name + " does not become active", {}};
    }
    if (poll > 0 && !dynamo.clock().wait(std::min(std::chrono::milliseconds(5) * poll, kLongestPoll), stop)) {
      return stopped(fmt::format("waiting for table {}", table.name));
    }
    state = TRY(dynamo.describe_table(table.name));
  }
  const auto ttl = table.ttl_attribute ? TRY(dynamo.describe_ttl(table.name)) : std::nullopt;
  auto differences = compare(table, state->table, ttl);
  if (!differences.empty()) {
    std::vector<std::string> texts;
    for (const auto& [what, how] : differences) texts.push_back(what + ' ' + how);
    return Problem{ProblemKind::Conflict, "TableDiffers",
                   fmt::format("table {} differs from the model: {}", table.name, fmt::join(texts, "; ")),
                   std::move(differences)};
  }
  if (!table.ttl_attribute || ttl) return {};
  auto enabled = dynamo.enable_ttl(table.name, *table.ttl_attribute);
  // Another program that opens it now may have been faster.
  if (!enabled && TRY(dynamo.describe_ttl(table.name)) == table.ttl_attribute) return {};
  return enabled;
}

}  // namespace stator::runtime
