#include "stator/api/partiql/partiql.h"
#include "stator/engine/capacity.h"
#include "stator/engine/keyspace.h"

namespace stator::api {
namespace {

Result<void> read_key(const storage::Snapshot& snapshot, const SelectPlan& plan, PageReader& reader, SelectPage& page) {
  const auto bytes = TRY(snapshot.get(engine::item_key(*plan.target.table, *plan.key)));
  if (!bytes) {
    page.table_units = engine::read_units(0, plan.consistent);
    return {};
  }
  const auto stored = TRY(value::StoredItemView::from(*bytes));
  page.read_bytes = stored.item_size_bytes;
  page.table_units = engine::read_units(stored.item_size_bytes, plan.consistent);
  return reader.read(stored);
}

value::Item row_of(const SelectPlan& plan, const value::Item& item) {
  value::Item row;
  for (const auto& [name, path] : plan.columns) {
    if (const auto* found = expr::find(item, path)) row.set(name, *found);
  }
  return row;
}

}  // namespace

Result<SelectPage> run_select(const storage::Snapshot& snapshot, const SelectPlan& plan,
                              std::optional<std::uint64_t> limit, const SelectPosition& from, AnswerGrowth* growth) {
  SelectPage page;
  const bool has_columns = !plan.columns.empty();
  PageReader reader(
      plan, snapshot,
      [&](const value::StoredItemView& stored, const value::Item* item) -> Result<void> {
        ++page.count;
        if (has_columns) {
          page.items.add(row_of(plan, *item));
        } else {
          page.items.add(stored.json);
        }
        return growth != nullptr ? growth->check(page.items.bytes()) : Result<void>();
      },
      has_columns);
  if (plan.key) {
    TRY(read_key(snapshot, plan, reader, page));
    return page;
  }
  for (auto i = from.read; i < plan.reads.size(); ++i) {
    engine::RangeRead read = plan.reads[i];
    read.limit = limit;
    if (i == from.read && from.after) {
      const auto invalid = validation_error("Invalid NextToken");
      auto start = engine::start_key(plan.target, *from.after);
      if (!start || !read.range.contains(*start)) return invalid;
      read.start_after = std::move(*start);
    }
    const auto result = TRY(reader.read(read));
    page.read_bytes += result.bytes;
    const auto units = engine::read_units(result.bytes, plan.consistent);
    (plan.target.index != nullptr ? page.index_units : page.table_units) += units;
    if (result.last_item) {
      auto last_key = engine::last_evaluated_key(plan.target, TRY(result.last_item->parse()));
      page.next = {.read = i, .after = std::move(last_key)};
      break;
    }
    if (limit) *limit -= result.scanned;  // not below 1: the page would have had a last item
    if (page.read_bytes >= engine::kMaxPageBytes && i + 1 < plan.reads.size()) {
      page.next = {.read = i + 1, .after = {}};
      break;
    }
  }
  page.table_units += reader.fetched_units();
  return page;
}

}  // namespace stator::api
