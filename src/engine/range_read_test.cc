#include "stator/engine/range_read.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stator/engine/index/index_entry.h"
#include "stator/engine/test_support.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"

namespace stator::engine {
namespace {

using namespace testing;
using expr::KeyTerm;
using storage::Direction;
using storage::testing::seeds;
using value::AttributeValue;
using value::Item;
using value::StoredItem;
using value::Type;

constexpr KeyTerm::Op kOperators[] = {KeyTerm::Op::Equal,     KeyTerm::Op::Less,         KeyTerm::Op::LessEqual,
                                      KeyTerm::Op::Greater,   KeyTerm::Op::GreaterEqual, KeyTerm::Op::Between,
                                      KeyTerm::Op::BeginsWith};

// A store that holds items of one table, with their index entries.
class Shelf {
 public:
  explicit Shelf(TablePtr table) : table_(std::move(table)), store_(storage::open_memory_store()) {}

  void add(const Item& item) {
    storage::Batch batch;
    const auto stored = StoredItem::from(item);
    batch.put(item_key(*table_, item), stored.bytes());
    for (const auto& index : table_->indexes) {
      if (auto entry = index_entry(*table_, index, item, stored)) batch.put(entry->key, entry->item.bytes());
    }
    EXPECT_TRUE(store_->commit(std::move(batch)));
    // The later of two items with one key stays.
    std::erase_if(items_, [&](const Item& other) { return item_key(*table_, other) == item_key(*table_, item); });
    items_.push_back(item);
  }

  const std::vector<Item>& items() const { return items_; }
  ReadTarget target(std::string_view index = "") const {
    return {table_, index.empty() ? nullptr : table_->find_index(index)};
  }

  std::vector<Item> read(RangeRead read, RangePage* page_out = nullptr) const {
    std::vector<Item> found;
    const auto snapshot = store_->snapshot();
    const auto page = read_page(*snapshot, read, [&](const value::StoredItemView& item) -> Result<std::size_t> {
      found.push_back(TRY(item.parse()));
      return std::size_t{0};
    });
    EXPECT_TRUE(page);
    if (page && page_out != nullptr) *page_out = *page;
    return found;
  }

  // Everything in the range, page by page, as a client goes on from one page to the next.
  std::vector<Item> read_in_pages(const ReadTarget& target, RangeRead read) const {
    std::vector<Item> found;
    for (int pages = 0; pages < 1000; ++pages) {
      RangePage page;
      const auto more = this->read(read, &page);
      found.insert(found.end(), more.begin(), more.end());
      if (!page.last_item) return found;
      const auto start = start_key(target, last_evaluated_key(target, page.last_item->parse().value()));
      EXPECT_TRUE(start);
      read.start_after = *start;
    }
    ADD_FAILURE() << "no end";
    return found;
  }

 private:
  TablePtr table_;
  std::unique_ptr<storage::Store> store_;
  std::vector<Item> items_;
};

bool begins_with(const AttributeValue& value, const AttributeValue& prefix) {
  if (value.as_string() != nullptr) return value.as_string()->starts_with(*prefix.as_string());
  return value.as_binary()->bytes.starts_with(prefix.as_binary()->bytes);
}

bool holds(const KeyTerm& term, const Item& item) {
  const auto* value = item.find(term.attribute);
  if (value == nullptr) return false;
  switch (term.op) {
    case KeyTerm::Op::Equal: return compare_plainly(*value, term.low) == 0;
    case KeyTerm::Op::Less: return compare_plainly(*value, term.low) < 0;
    case KeyTerm::Op::LessEqual: return compare_plainly(*value, term.low) <= 0;
    case KeyTerm::Op::Greater: return compare_plainly(*value, term.low) > 0;
    case KeyTerm::Op::GreaterEqual: return compare_plainly(*value, term.low) >= 0;
    case KeyTerm::Op::Between: return compare_plainly(*value, term.low) >= 0 && compare_plainly(*value, term.high) <= 0;
    case KeyTerm::Op::BeginsWith: return begins_with(*value, term.low);
  }
  return false;
}

// The expected result of a query: the items that satisfy every term, in the order of `by`.
std::vector<Item> found_plainly(const std::vector<Item>& items, const expr::KeyCondition& condition,
                                const std::vector<KeyAttribute>& by, Direction direction) {
  std::vector<Item> found;
  std::ranges::copy_if(items, std::back_inserter(found), [&](const Item& item) {
    return std::ranges::all_of(by, [&](const auto& attribute) { return item.find(attribute.name) != nullptr; }) &&
           std::ranges::all_of(condition.terms, [&](const KeyTerm& term) { return holds(term, item); });
  });
  std::ranges::sort(found, [&](const Item& a, const Item& b) {
    for (const auto& attribute : by) {
      const auto order = compare_plainly(*a.find(attribute.name), *b.find(attribute.name));
      if (order != 0) return direction == Direction::Forward ? order < 0 : order > 0;
    }
    return false;
  });
  return found;
}

void expect_query_agrees(const Shelf& shelf, const ReadTarget& target, const expr::KeyCondition& condition,
                         const std::vector<KeyAttribute>& by, std::uint64_t limit) {
  const auto range = query_range(target, condition);
  ASSERT_TRUE(range) << range.error().message;
  for (const auto direction : {Direction::Forward, Direction::Backward}) {
    const auto expected = found_plainly(shelf.items(), condition, by, direction);
    ASSERT_EQ(shelf.read({.range = *range, .direction = direction, .start_after = {}, .limit = {}}), expected);
    ASSERT_EQ(shelf.read_in_pages(target, {.range = *range, .direction = direction, .start_after = {}, .limit = limit}),
              expected);
  }
}

TEST(Query, FindsWhatAPlainComparisonFinds) {
  for (const auto type : {Type::S, Type::N, Type::B}) {
    for (const auto seed : seeds(5)) {
      SCOPED_TRACE(seed);
      Random random(seed);
      Table t = table("T", keys({"pk:S"}, {"sk:S"}));
      t.keys.sort[0].type = type;
      const std::vector<KeyAttribute> by = {t.keys.sort[0]};
      Shelf shelf(shared(std::move(t)));
      const std::vector<AttributeValue> partitions = {S("a"), S("ab"), S(std::string_view("a\0", 2))};
      for (int i = 0; i < 60; ++i) {
        shelf.add({{"pk", partitions[random.below(3)]}, {"sk", random_key_value(random, type)}, {"i", N(i)}});
      }
      for (const auto op : kOperators) {
        if (op == KeyTerm::Op::BeginsWith && type == Type::N) continue;
        for (int i = 0; i < 8; ++i) {
          auto low = random_key_value(random, type);
          auto high = op == KeyTerm::Op::Between ? random_key_value(random, type) : AttributeValue();
          if (op == KeyTerm::Op::Between && compare_plainly(low, high) > 0) std::swap(low, high);
          const expr::KeyCondition condition{{{"pk", KeyTerm::Op::Equal, partitions[random.below(3)], {}},
                                              {"sk", op, std::move(low), std::move(high)}}};
          expect_query_agrees(shelf, shelf.target(), condition, by, 1 + random.below(7));
        }
      }
      expect_query_agrees(shelf, shelf.target(), {{{"pk", KeyTerm::Op::Equal, partitions[0], {}}}}, by, 3);
    }
  }
}

TEST(Query, OfAnIndexWithSeveralAttributesFindsWhatAPlainComparisonFinds) {
  for (const auto seed : seeds(10)) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Table t = table("T", keys({"pk:S"}));
    add_index(t, "gsi", IndexKind::Global, keys({"p1:S", "p2:N"}, {"s1:S", "s2:N", "s3:B"}));
    const std::vector<KeyAttribute> sort = t.indexes[0].keys.sort;
    std::vector<KeyAttribute> by = sort;
    by.push_back(t.keys.partition[0]);
    Shelf shelf(shared(std::move(t)));
    std::vector<std::vector<AttributeValue>> values;  // few per attribute, so that they meet
    for (const auto& attribute : sort) {
      auto& some = values.emplace_back();
      for (int i = 0; i < 4; ++i) some.push_back(random_key_value(random, attribute.type));
    }
    for (int i = 0; i < 120; ++i) {
      Item item{{"pk", S(std::to_string(i))}, {"p1", S("p")}};
      item.set("p2", N(static_cast<std::int64_t>(random.below(2))));
      for (std::size_t at = 0; at < sort.size(); ++at) {
        if (random.below(10) != 0) item.set(sort[at].name, values[at][random.below(4)]);
      }
      shelf.add(item);
    }
    for (std::size_t terms = 0; terms <= sort.size(); ++terms) {
      for (const auto op : kOperators) {
        expr::KeyCondition condition{{{"p1", KeyTerm::Op::Equal, S("p"), {}}, {"p2", KeyTerm::Op::Equal, N(1), {}}}};
        for (std::size_t at = 0; at < terms; ++at) {
          const bool last = at + 1 == terms;
          if (last && op == KeyTerm::Op::BeginsWith && sort[at].type == Type::N) continue;
          auto low = values[at][random.below(4)];
          auto high = values[at][random.below(4)];
          if (compare_plainly(low, high) > 0) std::swap(low, high);
          condition.terms.push_back({sort[at].name, last ? op : KeyTerm::Op::Equal, low, high});
        }
        // The order of the terms does not matter.
        std::ranges::reverse(condition.terms);
        expect_query_agrees(shelf, shelf.target("gsi"), condition, by, 1 + random.below(5));
      }
    }
  }
}

TEST(Query, BetweenTwoThatAreTheWrongWayRoundFindsNothing) {
  Shelf shelf(shared(table("T", keys({"pk:S"}, {"sk:N"}))));
  shelf.add({{"pk", S("a")}, {"sk", N(5)}});
  const auto range =
      query_range(shelf.target(), {{{"pk", KeyTerm::Op::Equal, S("a"), {}}, {"sk", KeyTerm::Op::Between, N(9), N(1)}}});
  EXPECT_TRUE(shelf.read({.range = range.value(), .start_after = {}, .limit = {}}).empty());
}

TEST(Query, SaysWhichConditionDoesNotFit) {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  add_index(t, "gsi", IndexKind::Global, keys({"g:S"}, {"s1:S", "s2:S"}));
  const Shelf shelf(shared(std::move(t)));
  const KeyTerm pk{"pk", KeyTerm::Op::Equal, S("a"), {}};
  const KeyTerm g{"g", KeyTerm::Op::Equal, S("a"), {}};
  struct Case {
    std::string_view index;
    std::vector<KeyTerm> terms;
    std::string_view message;
  };
  const std::vector<Case> cases = {
      {"", {{"sk", KeyTerm::Op::Equal, N(1), {}}}, "Query condition missed key schema element: pk"},
      {"", {pk, {"x", KeyTerm::Op::Equal, N(1), {}}}, "Query condition missed key schema element: sk"},
      {"",
       {pk, {"sk", KeyTerm::Op::Equal, N(1), {}}, {"x", KeyTerm::Op::Equal, N(1), {}}},
       "Conditions can be of length 1 or 2 only"},
      {"", {{"pk", KeyTerm::Op::Less, S("a"), {}}}, "Query key condition not supported"},
      {"",
       {pk, {"sk", KeyTerm::Op::Less, S("1"), {}}},
       "One or more parameter values were invalid: Condition parameter type does not match schema type"},
      {"",
       {pk, {"sk", KeyTerm::Op::Between, N(1), S("1")}},
       "One or more parameter values were invalid: Condition parameter type does not match schema type"},
      {"",
       {{"pk", KeyTerm::Op::Equal, S(""), {}}},
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
       "string "
       "value. Key: pk"},
      {"gsi",
       {g, {"s2", KeyTerm::Op::Equal, S("1"), {}}},
       "One or more parameter values were invalid: RANGE key attributes s1 must have equality conditions specified in "
       "the "
       "query because a condition is present on key attribute s2"},
      {"gsi",
       {g, {"s1", KeyTerm::Op::Less, S("1"), {}}, {"s2", KeyTerm::Op::Equal, S("1"), {}}},
       "One or more parameter values were invalid: RANGE key attributes s1 must have equality conditions specified in "
       "the "
       "query because a condition is present on key attribute s2"},
  };
  for (const auto& [index, terms, message] : cases) {
    SCOPED_TRACE(message);
    const auto range = query_range(shelf.target(index), {terms});
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().code, ErrorCode::Validation);
    EXPECT_EQ(range.error().message, message);
  }
}

TEST(Scan, ByAnyNumberOfSegmentsFindsEverythingOnce) {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  add_index(t, "gsi", IndexKind::Global, keys({"g:N"}));
  Shelf shelf(shared(std::move(t)));
  for (int i = 0; i < 100; ++i) {
    Item item{{"pk", S("p" + std::to_string(i % 40))}, {"sk", N(i)}};
    if (i % 3 == 0) item.set("g", N(i % 7));
    shelf.add(item);
  }
  for (const std::string_view index : {"", "gsi"}) {
    const auto target = shelf.target(index);
    const auto whole = shelf.read({.range = scan_range(target), .start_after = {}, .limit = {}});
    EXPECT_EQ(whole.size(), index.empty() ? 100U : 34U);
    for (const std::uint32_t total : {1U, 2U, 7U, 1000U}) {
      std::vector<Item> found;
      for (std::uint32_t segment = 0; segment < total; ++segment) {
        const auto part =
            shelf.read_in_pages(target, {.range = scan_range(target, segment, total), .start_after = {}, .limit = 3});
        found.insert(found.end(), part.begin(), part.end());
      }
      EXPECT_EQ(found, whole);
    }
  }
}

TEST(Page, EndsAtTheLimitEvenWhereTheRangeEndsToo) {
  Shelf shelf(shared(table("T", keys({"pk:S"}, {"sk:N"}))));
  for (int i = 0; i < 3; ++i) shelf.add({{"pk", S("a")}, {"sk", N(i)}});
  const auto range = scan_range(shelf.target());
  RangePage page;
  EXPECT_EQ(shelf.read({.range = range, .start_after = {}, .limit = 2}, &page).size(), 2U);
  EXPECT_EQ(page.scanned, 2U);
  EXPECT_EQ(page.last_item->parse().value(), (Item{{"pk", S("a")}, {"sk", N(1)}}));
  EXPECT_EQ(shelf.read({.range = range, .start_after = {}, .limit = 3}, &page).size(), 3U);
  EXPECT_TRUE(page.last_item) << "DynamoDB does not look ahead";
  EXPECT_EQ(shelf.read({.range = range, .start_after = {}, .limit = 4}, &page).size(), 3U);
  EXPECT_FALSE(page.last_item);
}

TEST(Page, EndsWithTheItemThatBringsItToAMegabyte) {
  Shelf shelf(shared(table("T", keys({"pk:S"}, {"sk:N"}))));
  const std::string text(300 * 1024, 'x');
  for (int i = 0; i < 9; ++i) shelf.add({{"pk", S("a")}, {"sk", N(i)}, {"t", S(text)}});
  RangePage page;
  RangeRead read{.range = scan_range(shelf.target()), .start_after = {}, .limit = {}};
  EXPECT_EQ(shelf.read(read, &page).size(), 4U);
  EXPECT_EQ(page.scanned, 4U);
  EXPECT_GE(page.bytes, kMaxPageBytes);
  EXPECT_TRUE(page.last_item);
  EXPECT_EQ(shelf.read_in_pages(shelf.target(), read), shelf.items());
}

TEST(Page, StopsWhenTheVisitorFails) {
  const auto store = storage::open_memory_store();
  storage::Batch batch;
  batch.put("a", StoredItem::from(Item{{"pk", S("a")}}).bytes());
  batch.put("b", "not an item");
  ASSERT_TRUE(store->commit(std::move(batch)));
  const auto snapshot = store->snapshot();
  const auto failing = [](const value::StoredItemView&) -> Result<std::size_t> {
    return Error{ErrorCode::Internal, "enough"};
  };
  EXPECT_EQ(read_page(*snapshot, {.range = {"a", "c"}, .start_after = {}, .limit = {}}, failing).error().message,
            "enough");
  const auto fine = [](const value::StoredItemView&) -> Result<std::size_t> { return std::size_t{0}; };
  EXPECT_EQ(read_page(*snapshot, {.range = {"a", "c"}, .start_after = {}, .limit = {}}, fine).error().code,
            ErrorCode::Corruption);
}

TEST(StartKey, HoldsTheKeysOfTableAndIndexAndNothingElse) {
  Table t = table("T", keys({"pk:S"}, {"sk:N"}));
  add_index(t, "gsi", IndexKind::Global, keys({"g:S"}, {"sk:N"}));
  add_index(t, "lsi", IndexKind::Local, keys({"pk:S"}, {"l:S"}));
  const Shelf shelf(shared(std::move(t)));
  const Item item{{"pk", S("a")}, {"sk", N(1)}, {"g", S("b")}, {"l", S("c")}, {"other", S("d")}};
  const std::vector<std::pair<std::string_view, Item>> cases = {
      {"", {{"pk", S("a")}, {"sk", N(1)}}},
      {"gsi", {{"pk", S("a")}, {"sk", N(1)}, {"g", S("b")}}},
      {"lsi", {{"pk", S("a")}, {"sk", N(1)}, {"l", S("c")}}},
  };
  for (const auto& [index, key] : cases) {
    SCOPED_TRACE(index);
    const auto target = shelf.target(index);
    EXPECT_EQ(last_evaluated_key(target, item), key);
    EXPECT_TRUE(start_key(target, key));
    constexpr std::string_view kMismatch =
        "The provided starting key is invalid: The provided key element does not match the schema";
    EXPECT_EQ(start_key(target, item).error().message, kMismatch);
    for (const auto& attribute : key) {
      auto less = key;
      less.erase(attribute.name);
      EXPECT_EQ(start_key(target, less).error().message, kMismatch);
      auto other = key;
      other.set(attribute.name, AttributeValue::boolean(true));
      EXPECT_EQ(start_key(target, other).error().message, kMismatch);
    }
  }
  EXPECT_EQ(
      start_key(shelf.target(), Item{{"pk", S("")}, {"sk", N(1)}}).error().message,
      "The provided starting key is invalid: One or more parameter values are not valid. The AttributeValue for a "
      "key attribute cannot contain an empty string value. Key: pk");
}

}  // namespace
}  // namespace stator::engine
