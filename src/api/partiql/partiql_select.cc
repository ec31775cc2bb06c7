#include "stator/api/partiql/partiql.h"
#include "stator/engine/capacity.h"
#include "stator/engine/keyspace.h"

namespace stator::api {
namespace {

// Collects the items of a page.
class ItemCollector {
 public:
  ItemCollector(const SelectPlan& plan, const storage::Snapshot& snapshot, SelectPage& page)
      : plan_(plan), snapshot_(snapshot), page_(page) {}

  Result<std::size_t> add(const value::StoredItemView& stored) {
    if (!plan_.fetch_from_table) {
      TRY(take(stored, stored));
      return std::size_t{0};
    }
    const auto entry = TRY(stored.parse());
    const auto whole = TRY(snapshot_.get(engine::item_key(*plan_.target.table, entry)));
    if (!whole) return Error{ErrorCode::Corruption, "an index entry has no item"};
    const auto item = TRY(value::StoredItemView::from(*whole));
    page_.table_units += engine::read_units(item.item_size_bytes, plan_.consistent);
    TRY(take(stored, item));
    return item.item_size_bytes;
  }

 private:
  // `seen` is what the filter looks at, `whole` what the columns come from.
  Result<void> take(const value::StoredItemView& seen, const value::StoredItemView& whole) {
    if (!plan_.filter && plan_.columns.empty()) {
      page_.items.emplace_back(whole.json);
      return {};
    }
    auto item = TRY(seen.parse());
    if (plan_.filter && !plan_.filter->matches(item)) return {};
    if (plan_.columns.empty()) {
      page_.items.emplace_back(whole.json);
      return {};
    }
    if (plan_.fetch_from_table) item = TRY(whole.parse());
    value::Item row;
    for (const auto& [name, path] : plan_.columns) {
      if (const auto* found = expr::find(item, path)) row.set(name, *found);
    }
    value::append_json(page_.items.emplace_back(), row);
    return {};
  }

  const SelectPlan& plan_;
  const storage::Snapshot& snapshot_;
  SelectPage& page_;
};

Result<void> read_key(const storage::Snapshot& snapshot, const SelectPlan& plan, ItemCollector& items,
                      SelectPage& page) {
  const auto bytes = TRY(snapshot.get(engine::item_key(*plan.target.table, *plan.key)));
  if (!bytes) {
    page.table_units = engine::read_units(0, plan.consistent);
    return {};
  }
  const auto stored = TRY(value::StoredItemView::from(*bytes));
  page.table_units = engine::read_units(stored.item_size_bytes, plan.consistent);
  TRY(items.add(stored));
  return {};
}

}  // namespace

Result<SelectPage> run_select(const storage::Snapshot& snapshot, const SelectPlan& plan,
                              std::optional<std::uint64_t> limit, const SelectPosition& from) {
  SelectPage page;
  ItemCollector items(plan, snapshot, page);
  if (plan.key) {
    TRY(read_key(snapshot, plan, items, page));
    return page;
  }
  std::size_t bytes = 0;
  for (auto i = from.read; i < plan.reads.size(); ++i) {
    engine::RangeRead read = plan.reads[i];
    read.limit = limit;
    if (i == from.read && from.after) {
      const auto invalid = validation_error("Invalid NextToken");
      auto start = engine::start_key(plan.target, *from.after);
      if (!start || *start < read.range.begin || (!read.range.end.empty() && *start >= read.range.end)) return invalid;
      read.start_after = std::move(*start);
    }
    const auto result =
        TRY(engine::read_page(snapshot, read, [&](const value::StoredItemView& item) { return items.add(item); }));
    bytes += result.bytes;
    const auto units = engine::read_units(result.bytes, plan.consistent);
    (plan.target.index != nullptr ? page.index_units : page.table_units) += units;
    if (result.last_item) {
      page.next = {.read = i, .after = engine::last_evaluated_key(plan.target, TRY(result.last_item->parse()))};
      return page;
    }
    if (limit) *limit -= result.scanned;  // not below 1: the page would have had a last item
    if (bytes >= engine::kMaxPageBytes && i + 1 < plan.reads.size()) {
      page.next = {.read = i + 1, .after = {}};
      return page;
    }
  }
  return page;
}

}  // namespace stator::api
