#include "stator/api/page_read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/api/capacity_report.h"
#include "stator/api/expressions.h"
#include "stator/api/invalid.h"
#include "stator/api/legacy.h"
#include "stator/api/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/index_entry.h"
#include "stator/engine/item_rules.h"

namespace stator::api {
namespace {

using engine::IndexKind;
using engine::ProjectionKind;

// Select against the parameters beside it.
Result<void> check_select(const Request& request) {
  const auto select = request.string("Select");
  const bool projects = request.has("ProjectionExpression") || request.has("AttributesToGet");
  if (!select) return {};
  if (*select == "SPECIFIC_ATTRIBUTES") {
    if (projects) return {};
    return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
  }
  if (projects) {
    const auto parameter = request.has("ProjectionExpression") ? "ProjectionExpression" : "AttributesToGet";
    const auto what = *select == "COUNT" ? std::string_view("only the Count") : *select;
    return invalid(fmt::format("Cannot specify the {} when choosing to get {}", parameter, what));
  }
  if (*select == "ALL_PROJECTED_ATTRIBUTES" && !request.has("IndexName")) {
    return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  return {};
}

// What an index cannot give by itself: refused for a global one, fetched from the table for a local one.
Result<bool> needs_table(const engine::ReadTarget& target, const Request& request,
                         const std::optional<expr::Projection>& projection) {
  if (target.index == nullptr || target.index->projection.kind == ProjectionKind::All) return false;
  const auto& index = *target.index;
  if (request.string("Select") == "ALL_ATTRIBUTES") {
    if (index.kind == IndexKind::Local) return true;
    return invalid(
        fmt::format("Select type ALL_ATTRIBUTES is not supported for global secondary index {} because its "
                    "projection type is not ALL",
                    index.name));
  }
  std::vector<std::string_view> missing;
  if (projection) {
    for (const auto& path : projection->paths()) {
      if (!engine::is_projected(*target.table, index, path.attribute)) missing.push_back(path.attribute);
    }
  }
  if (missing.empty()) return false;
  if (index.kind == IndexKind::Local) return true;
  return invalid(fmt::format("Global secondary index {} does not project [{}]", index.name, fmt::join(missing, ", ")));
}

Result<void> check_projected_keys(const engine::Table& table, const expr::Projection& projection) {
  std::vector<std::string_view> nested;
  for (const auto& path : projection.paths()) {
    if (path.is_nested()) nested.push_back(path.attribute);
  }
  return engine::check_scalar_keys(table, nested);
}

// Writes the items of a page and counts them.
class PageWriter {
 public:
  PageWriter(const PageRead& read, const storage::Snapshot& snapshot, value::JsonWriter& json)
      : read_(read), snapshot_(snapshot), json_(json) {}

  std::uint64_t count() const { return count_; }
  double fetched_units() const { return fetched_units_; }

  Result<std::size_t> add(const value::StoredItemView& stored) {
    if (read_.fetch_from_table) {
      const auto entry = TRY(stored.parse());
      const auto whole = TRY(snapshot_.get(engine::item_key(*read_.target.table, entry)));
      if (!whole) return Error{ErrorCode::Corruption, "an index entry has no item"};
      const auto item = TRY(value::StoredItemView::from(*whole));
      fetched_units_ += engine::read_units(item.item_size_bytes, read_.consistent);
      TRY(write(item));
      return item.item_size_bytes;
    }
    TRY(write(stored));
    return std::size_t{0};
  }

 private:
  Result<void> write(const value::StoredItemView& stored) {
    if (!read_.filter && (read_.count_only || !read_.projection)) {
      ++count_;
      if (!read_.count_only) json_.raw(stored.json);
      return {};
    }
    const auto item = TRY(stored.parse());
    if (read_.filter && !read_.filter->matches(item)) return {};
    ++count_;
    if (read_.count_only) return {};
    if (read_.projection) {
      json_.item(read_.projection->apply(item));
    } else {
      json_.raw(stored.json);
    }
    return {};
  }

  const PageRead& read_;
  const storage::Snapshot& snapshot_;
  value::JsonWriter& json_;
  std::uint64_t count_ = 0;
  double fetched_units_ = 0;
};

}  // namespace

Result<ReadExpressions> read_expressions(OperationCall& call, std::string_view legacy_filter_name) {
  const auto& request = call.request();
  TRY(check_select(request));
  ReadExpressions bound;
  bound.key_condition = TRY(legacy_key_conditions(request));
  bound.filter = TRY(legacy_filter(request, legacy_filter_name));
  bound.projection = TRY(legacy_projection(request));
  const auto key_condition = request.string("KeyConditionExpression");
  const auto filter = request.string("FilterExpression");
  const auto projection = request.string("ProjectionExpression");
  if (!key_condition && !filter && !projection) return bound;
  auto binder = TRY(read_placeholders(request, call.expressions()));
  if (key_condition) bound.key_condition = TRY(binder.key_condition(*key_condition));
  if (filter) bound.filter = TRY(binder.condition(expr::Kind::Filter, *filter));
  if (projection) bound.projection = TRY(binder.projection(*projection));
  TRY(binder.check_all_used());
  return bound;
}

Result<PageRead> open_page(OperationCall& call, ReadExpressions expressions) {
  const auto& request = call.request();
  PageRead read;
  read.target.table = TRY(find_table(call));
  read.consistent = request.boolean("ConsistentRead").value_or(false);
  if (const auto name = request.string("IndexName")) {
    read.target.index = read.target.table->find_index(*name);
    if (read.target.index == nullptr) {
      return validation_error(fmt::format("The table does not have the specified index: {}", *name));
    }
    if (read.target.index->building) {
      return validation_error(fmt::format("Cannot read from backfilling global secondary index: {}", *name));
    }
    if (read.consistent && read.target.index->kind == IndexKind::Global) {
      return validation_error("Consistent reads are not supported on global secondary indexes");
    }
  }
  if (expressions.filter) {
    TRY(engine::check_scalar_keys(*read.target.table, expressions.filter->nested_attributes()));
  }
  if (expressions.projection) TRY(check_projected_keys(*read.target.table, *expressions.projection));
  read.fetch_from_table = TRY(needs_table(read.target, request, expressions.projection));
  read.count_only = request.string("Select") == "COUNT";
  read.filter = std::move(expressions.filter);
  read.projection = std::move(expressions.projection);
  if (const auto limit = request.integer("Limit")) read.range.limit = static_cast<std::uint64_t>(*limit);
  return read;
}

std::uint64_t filter_bound(const std::optional<value::JsonElement>& constants, std::size_t expression_bytes) {
  constexpr std::size_t kMostWork = std::size_t{1} << 27;  // bytes compared
  constexpr std::size_t kShortestUse = 16;                 // of a constant in an expression, about
  const auto bytes = constants ? value::json_text(*constants).size() : 0;
  return std::max<std::uint64_t>(1, kMostWork / ((1 + bytes) * (1 + expression_bytes / kShortestUse)));
}

Result<std::string> run_page(OperationCall& call, const PageRead& read) {
  auto range = read.range;
  if (read.filter) {
    const auto& request = call.request();
    auto constants = request.element("ExpressionAttributeValues");
    for (const auto* older : {"QueryFilter", "ScanFilter"}) {
      if (!constants) constants = request.element(older);
    }
    const auto bound = filter_bound(constants, request.string("FilterExpression").value_or("").size());
    range.limit = std::min(range.limit.value_or(bound), bound);
  }
  const auto snapshot = call.engine().snapshot();
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  if (!read.count_only) json.key("Items").begin_array();
  PageWriter items(read, *snapshot, json);
  const auto page =
      TRY(engine::read_page(*snapshot, range, [&](const value::StoredItemView& item) { return items.add(item); }));
  if (!read.count_only) json.end_array();
  json.key("Count").integer(static_cast<std::int64_t>(items.count()));
  json.key("ScannedCount").integer(static_cast<std::int64_t>(page.scanned));
  if (page.last_item) {
    json.key("LastEvaluatedKey").item(engine::last_evaluated_key(read.target, TRY(page.last_item->parse())));
  }
  if (const auto detail = capacity_detail(call.request()); detail != CapacityDetail::None) {
    CapacityReport report(read.target.table);
    const auto units = engine::read_units(page.bytes, read.consistent);
    if (read.target.index != nullptr) {
      report.add_index(read.target.index->id, units);
      report.add_table(items.fetched_units());
    } else {
      report.add_table(units);
    }
    write_capacity(json, report, detail);
  }
  json.end_object();
  return body;
}

Result<std::optional<value::Item>> exclusive_start_key(const Request& request) {
  const auto json = request.element("ExclusiveStartKey");
  if (!json) return std::optional<value::Item>();
  auto key = value::decode_item(*json);
  if (!key) {
    // The service puts its preface before some of these texts and not before others.
    const auto& text = key.error().message;
    for (const std::string_view bare :
         {"contains duplicates", "number set", "numeric value", "significant digits", "number with magnitude"}) {
      if (text.find(bare) != std::string::npos) return key.error();
    }
    return validation_error(fmt::format("The provided starting key is invalid: {}", text));
  }
  return std::optional<value::Item>(std::move(*key));
}

}  // namespace stator::api
