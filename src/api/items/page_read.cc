#include "stator/api/items/page_read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/api/invalid.h"
#include "stator/api/items/capacity_report.h"
#include "stator/api/items/item_writes.h"
#include "stator/api/json/expressions.h"
#include "stator/api/json/item_names.h"
#include "stator/api/json/legacy.h"
#include "stator/api/tables/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/item_rules.h"
#include "stator/value/item_size.h"
#include "stator/value/well_formed.h"

namespace stator::api {
namespace {

using engine::IndexKind;
using engine::ProjectionKind;

// Select against the parameters beside it.  `projection` is the name of the parameter that chooses attributes, if there
// is one.
Result<void> check_select(Selection select, std::string_view projection, bool has_index) {
  const bool projects = !projection.empty();
  if (select == Selection::Unset) return {};
  if (select == Selection::SpecificAttributes) {
    if (projects) return {};
    return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
  }
  if (projects) {
    const auto what = select == Selection::Count ? std::string_view("only the Count") : wire_name(select);
    return invalid(fmt::format("Cannot specify the {} when choosing to get {}", projection, what));
  }
  if (select == Selection::AllProjectedAttributes && !has_index) {
    return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  return {};
}

// Whether an index lacks something that the page asks for.
Result<bool> lacks_attributes(const engine::ReadTarget& target, const PageRequest& page) {
  if (target.index == nullptr || target.index->projection.kind == ProjectionKind::All) return false;
  const auto& index = *target.index;
  if (page.select == Selection::AllAttributes) {
    if (index.kind == IndexKind::Local) return true;
    return invalid(
        fmt::format("Select type ALL_ATTRIBUTES is not supported for global secondary index {} because its "
                    "projection type is not ALL",
                    index.name));
  }
  std::vector<std::string_view> attributes;
  if (page.projection) {
    for (const auto& path : page.projection->paths()) attributes.push_back(path.attribute);
  }
  return needs_table(target, attributes);
}

Result<void> check_projected_keys(const engine::Table& table, const expr::Projection& projection) {
  std::vector<std::string_view> nested;
  for (const auto& path : projection.paths()) {
    if (path.is_nested()) nested.push_back(path.attribute);
  }
  return engine::check_scalar_keys(table, nested);
}

}  // namespace

PageReader::PageReader(const PageRead& read, const storage::Snapshot& snapshot, Sink sink, bool parse)
    : read_(read), snapshot_(snapshot), sink_(std::move(sink)), parse_(parse) {}

Result<engine::RangePage> PageReader::read(const engine::RangeRead& range) {
  return engine::read_page(snapshot_, range, [&](const value::StoredItemView& item) { return add(item); });
}

Result<void> PageReader::read(const value::StoredItemView& stored) { return take(stored); }

Result<std::size_t> PageReader::add(const value::StoredItemView& stored) {
  if (!read_.fetch_from_table) {
    TRY(take(stored));
    return std::size_t{0};
  }
  const auto entry = TRY(stored.parse());
  const auto whole = TRY(snapshot_.get(engine::item_key(*read_.target.table, entry)));
  if (!whole) return Error{ErrorCode::Corruption, "an index entry has no item"};
  const auto item = TRY(value::StoredItemView::from(*whole));
  fetched_units_ += engine::read_units(item.item_size_bytes, read_.consistent);
  TRY(take(item));
  return item.item_size_bytes;
}

Result<void> PageReader::take(const value::StoredItemView& stored) {
  if (!read_.filter && !parse_) return sink_(stored, nullptr);
  auto item = TRY(stored.parse());
  if (read_.filter && !read_.filter->matches(item)) return {};
  return sink_(stored, &item);
}

Result<bool> needs_table(const engine::ReadTarget& target, const std::vector<std::string_view>& attributes) {
  if (target.index == nullptr) return false;
  const auto& index = *target.index;
  std::vector<std::string_view> missing;
  for (const auto attribute : attributes) {
    if (!engine::is_projected(*target.table, index, attribute)) missing.push_back(attribute);
  }
  if (missing.empty()) return false;
  if (index.kind == IndexKind::Local) return true;
  return invalid(fmt::format("Global secondary index {} does not project [{}]", index.name, fmt::join(missing, ", ")));
}

std::uint64_t filter_bound(const expr::Condition& filter) {
  constexpr std::size_t kMostWork = std::size_t{1} << 27;  // bytes compared
  std::size_t bytes = 1;
  for (const auto* value : filter.values()) bytes += 1 + value::value_size_bytes(*value);
  return std::max<std::uint64_t>(1, kMostWork / bytes);
}

Result<DecodedPage> decode_page(const JsonMembers& json, std::optional<value::Item> start,
                                std::string_view legacy_filter, expr::Cache& cache) {
  const auto select = from_wire_name<Selection>(json.string("Select").value_or("")).value_or(Selection::Unset);
  TRY(check_select(select,
                   json.has("ProjectionExpression") ? "ProjectionExpression"
                   : json.has("AttributesToGet")    ? "AttributesToGet"
                                                    : "",
                   json.has("IndexName")));
  DecodedPage decoded;
  auto& page = decoded.page;
  decoded.key_condition = TRY(legacy_key_conditions(json));
  page.filter = TRY(api::legacy_filter(json, legacy_filter));
  page.legacy_filter = page.filter.has_value();
  page.projection = TRY(legacy_projection(json));
  const auto key_condition = json.string("KeyConditionExpression");
  const auto filter = json.string("FilterExpression");
  const auto projection = json.string("ProjectionExpression");
  if (key_condition || filter || projection) {
    auto binder = TRY(read_placeholders(json, cache));
    if (key_condition) decoded.key_condition = TRY(binder.key_condition(*key_condition));
    if (filter) page.filter = TRY(binder.condition(expr::Kind::Filter, *filter));
    if (projection) page.projection = TRY(binder.projection(*projection));
    TRY(binder.check_all_used());
  }
  page.table = json.string("TableName").value_or("");
  if (const auto index = json.string("IndexName")) page.index = *index;
  page.select = select;
  page.consistent = json.boolean("ConsistentRead").value_or(false);
  if (const auto limit = json.integer("Limit")) page.limit = static_cast<std::uint64_t>(*limit);
  page.start = std::move(start);
  page.capacity = capacity_detail(json);
  return decoded;
}

Result<void> check_page(const PageRequest& page) {
  if (page.start) TRY(value::check_well_formed(*page.start));
  TRY(check_select(page.select, page.projection ? "ProjectionExpression" : "", page.index.has_value()));
  if (page.limit == 0U) return validation_error("Limit must be at least 1");
  return check_expression_values(page.filter);
}

Result<PageRead> open_page(CallContext& call, const PageRequest& page) {
  PageRead read;
  read.target.table = TRY(find_table(call, page.table));
  read.consistent = page.consistent;
  if (page.index) {
    const auto& name = *page.index;
    read.target.index = read.target.table->find_index(name);
    if (read.target.index == nullptr) {
      return validation_error(fmt::format("The table does not have the specified index: {}", name));
    }
    if (read.target.index->building) {
      return validation_error(fmt::format("Cannot read from backfilling global secondary index: {}", name));
    }
    if (read.consistent && read.target.index->kind == IndexKind::Global) {
      return validation_error("Consistent reads are not supported on global secondary indexes");
    }
  }
  if (page.filter) TRY(engine::check_scalar_keys(*read.target.table, page.filter->nested_attributes()));
  if (page.projection) TRY(check_projected_keys(*read.target.table, *page.projection));
  read.fetch_from_table = TRY(lacks_attributes(read.target, page));
  read.filter = page.filter;
  return read;
}

void limit_page(engine::RangeRead& range, const PageRequest& page, const PageRead& read) {
  range.limit = page.limit;
  if (!read.filter) return;
  const auto bound = filter_bound(*read.filter);
  range.limit = std::min(range.limit.value_or(bound), bound);
}

Result<PageAnswer> answer_page(CallContext& call, const PageRequest& page, const PageRead& read,
                               const engine::RangeRead& range) {
  PageAnswer answer;
  answer.items = call.no_items();
  answer.with_items = page.select != Selection::Count;
  const bool keeps = answer.with_items && answer.items.has_values();
  const bool projects = page.projection && answer.with_items;
  const auto snapshot = call.snapshot();
  AnswerGrowth growth(call);
  PageReader reader(
      read, *snapshot,
      [&](const value::StoredItemView& stored, value::Item* item) -> Result<void> {
        ++answer.count;
        if (projects) {
          answer.items.add(page.projection->apply(*item));
        } else if (keeps) {
          answer.items.add(std::move(*item));
        } else if (answer.with_items) {
          answer.items.add(stored.json);
        }
        return growth.check(answer.items.bytes());
      },
      projects || keeps);
  const auto result = TRY(reader.read(range));
  answer.scanned = result.scanned;
  if (result.last_item) answer.last_key = engine::last_evaluated_key(read.target, TRY(result.last_item->parse()));
  if (page.capacity != CapacityDetail::None) {
    CapacityReport report(read.target.table);
    const auto units = engine::read_units(result.bytes, read.consistent);
    if (read.target.index != nullptr) {
      report.add_index(read.target.index->id, units);
      report.add_table(reader.fetched_units());
    } else {
      report.add_table(units);
    }
    answer.capacity = report.consumed(page.capacity);
  }
  return answer;
}

std::string encode(PageAnswer&& answer) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  if (answer.with_items) {
    json.key("Items").begin_array();
    json.take_members(std::move(answer.items).take_json());
    json.end_array();
  }
  json.key("Count").integer(static_cast<std::int64_t>(answer.count));
  json.key("ScannedCount").integer(static_cast<std::int64_t>(answer.scanned));
  if (answer.last_key) json.key("LastEvaluatedKey").item(*answer.last_key);
  write_capacity(json, answer.capacity);
  json.end_object();
  return body;
}

Result<std::optional<value::Item>> decode_start_key(const JsonMembers& request) {
  constexpr std::string_view kMember = "ExclusiveStartKey";
  if (!request.has(kMember)) return std::optional<value::Item>();
  auto key = request.item(kMember);
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
