#include "stator/engine/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "stator/engine/expiry/ttl.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/keyspace.h"
#include "stator/engine/stream/stream.h"
#include "stator/engine/test_database.h"
#include "stator/engine/test_support.h"
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::engine {
namespace {

using namespace testing;
using storage::KeyRange;

constexpr int kItems = 40;

// A table with everything that depends on its items: two indexes, item collections, time to live and a stream.
class Check : public ::testing::Test {
 protected:
  Check() {
    Table table = testing::table("Music", keys({"artist:S"}, {"song:S"}));
    add_index(table, "ByYear", IndexKind::Global, keys({"year:N"}),
              {.kind = ProjectionKind::Include, .non_key_attributes = {"label"}});
    add_index(table, "ByLength", IndexKind::Local, keys({"artist:S"}, {"length:N"}));
    table.stream = {.enabled = true, .view = StreamView::NewAndOldImages, .label = {}};
    table.ttl_attribute = "expires";
    table_ = database_.create_table(std::move(table)).value();
    for (int i = 0; i < kItems; ++i) write(item(i));
    database_.write(erase(table_, key(3))).value();
    write(item(4, /*year=*/1999));
  }

  static value::Item key(int i) {
    return {{"artist", S("a" + std::to_string(i % 5))}, {"song", S("s" + std::to_string(i))}};
  }
  static value::Item item(int i, int year = 1970) {
    auto made = key(i);
    made.set("label", S("harvest"));
    made.set("text", S(std::string(50, 'x')));
    if (i % 2 == 0) made.set("year", N(year + i % 7));
    if (i % 3 == 0) made.set("length", N(i));
    if (i % 4 == 0) made.set("expires", N(4'000'000'000 + i));
    return made;
  }
  void write(value::Item item) { database_.write(put(table_, std::move(item))).value(); }

  const Index& index(std::string_view name) const { return *table_->find_index(name); }
  IndexEntry entry(std::string_view name, const value::Item& item) const {
    return *index_entry(*table_, index(name), item, value::StoredItem::from(item));
  }
  void raw_put(Bytes key, Bytes value) {
    storage::Batch batch;
    batch.put(std::move(key), std::move(value));
    database_.store().commit(std::move(batch)).value();
  }
  void raw_erase(Bytes key) {
    storage::Batch batch;
    batch.erase(std::move(key));
    database_.store().commit(std::move(batch)).value();
  }

  CheckReport report() { return check(database_.store()).value(); }
  // The kinds that were found, each once, in order.
  std::vector<FindingKind> kinds() {
    std::vector<FindingKind> found;
    const auto checked = report();
    for (std::size_t kind = 0; kind < kFindingKinds; ++kind) {
      if (checked.totals[kind] > 0) found.push_back(static_cast<FindingKind>(kind));
    }
    return found;
  }
  using Kinds = std::vector<FindingKind>;

  void expect_repaired() {
    const auto repaired = repair(database_.store());
    ASSERT_TRUE(repaired);
    EXPECT_GT(repaired->repaired, 0U);
    EXPECT_EQ(kinds(), Kinds());
  }

  TestDatabase database_;
  TablePtr table_;
};

TEST_F(Check, FindsNothingInAHealthyDatabase) {
  const auto checked = report();
  for (const auto& finding : checked.findings)
    ADD_FAILURE() << finding_name(finding.kind) << " " << finding.key << ": " << finding.what;
  EXPECT_TRUE(checked.clean());
  EXPECT_EQ(checked.tables, 1U);
  EXPECT_EQ(checked.items, kItems - 1U);
  EXPECT_EQ(checked.index_entries, 20U + 13U);
}

TEST_F(Check, FindsNothingAfterTablesIndexesAndStreamsHaveGone) {
  database_.create_table(table("Other", keys({"pk:S"}))).value();
  database_
      .update_table("Music",
                    [](Table& table) {
                      table.indexes.erase(table.indexes.begin());
                      table.stream = {};
                      table.ttl_attribute.reset();
                    })
      .value();
  EXPECT_EQ(kinds(), Kinds());
  database_.delete_table("Music").value();
  EXPECT_EQ(kinds(), Kinds());
}

TEST_F(Check, FindsNothingWhileTimeToLiveIsBeingFilled) {
  database_.update_table("Music", [](Table& table) { table.ttl_attribute.reset(); }).value();
  database_.update_table("Music", [](Table& table) { table.ttl_attribute = "expires"; }).value();
  EXPECT_EQ(kinds(), Kinds());
}

TEST_F(Check, FindsAnEntryThatAnIndexLacks) {
  raw_erase(entry("ByYear", item(6)).key);
  EXPECT_EQ(kinds(), Kinds({FindingKind::MissingEntry, FindingKind::WrongCount}));
  const auto checked = report();
  EXPECT_EQ(checked.findings[0].table, "Music");
  EXPECT_EQ(checked.findings[0].index, "ByYear");
  EXPECT_EQ(checked.findings[0].key, R"({"artist":{"S":"a1"},"song":{"S":"s6"}})");
  expect_repaired();
}

TEST_F(Check, FindsAnEntryWithoutItsItem) {
  auto ghost = item(8);
  ghost.set("song", S("ghost"));
  const auto made = entry("ByYear", ghost);
  raw_put(made.key, made.item.bytes());
  EXPECT_EQ(kinds(), Kinds({FindingKind::SuperfluousEntry, FindingKind::WrongCount}));
  expect_repaired();
}

TEST_F(Check, FindsAnEntryUnderAKeyThatItsItemHadBefore) {
  const auto before = entry("ByYear", item(4));  // the item has another year by now
  raw_put(before.key, before.item.bytes());
  EXPECT_EQ(kinds(), Kinds({FindingKind::SuperfluousEntry, FindingKind::WrongCount}));
  expect_repaired();
}

TEST_F(Check, FindsAnEntryThatDiffersFromItsItem) {
  auto other = item(8);
  other.set("label", S("warp"));
  raw_put(entry("ByYear", other).key, entry("ByYear", other).item.bytes());
  EXPECT_EQ(kinds(), Kinds({FindingKind::WrongEntry, FindingKind::WrongCount}));  // "warp" is shorter
  expect_repaired();
}

TEST_F(Check, FindsAnEntryThatDoesNotDecode) {
  raw_put(entry("ByYear", item(8)).key, "nonsense");
  EXPECT_EQ(kinds(), Kinds({FindingKind::BadItem, FindingKind::WrongEntry}));
  expect_repaired();
}

TEST_F(Check, LetsAnIndexThatIsBeingBuiltBeIncomplete) {
  raw_erase(entry("ByYear", item(6)).key);
  Table building = *table_;
  building.indexes[0].building = true;
  raw_put(table_record_key("Music"), encode_table(building));
  EXPECT_EQ(kinds(), Kinds({FindingKind::WrongCount}));
  raw_put(build_progress_key(table_->id, building.indexes[0].id), item_key(*table_, item(6)));
  EXPECT_EQ(kinds(), Kinds({FindingKind::MissingEntry, FindingKind::WrongCount}));
}

TEST_F(Check, FindsItemsThatDoNotDecode) {
  const auto at = item_key(*table_, item(7));  // in no index
  for (const Bytes& bytes :
       {Bytes(), Bytes("\x07nonsense"), Bytes("\x01\x05{\"pk\""), Bytes("\x01\x05[]"), Bytes("\x01\x02{}")}) {
    raw_put(at, bytes);
    EXPECT_GT(report().totals[static_cast<std::size_t>(FindingKind::BadItem)], 0U) << hex(bytes);
  }
}

TEST_F(Check, FindsAnItemWhoseSizeIsWrong) {
  const auto stored = value::StoredItem::from(item(7)).bytes();
  Bytes other(stored);
  ++other[1];
  raw_put(item_key(*table_, item(7)), other);
  EXPECT_EQ(kinds(), Kinds({FindingKind::BadItem, FindingKind::WrongCount, FindingKind::CollectionSize}));
}

TEST_F(Check, FindsAnItemThatIsNotInItsCanonicalForm) {
  auto stored = value::StoredItem::from(item(7)).bytes();
  stored.insert(stored.size() - 1, " ");
  raw_put(item_key(*table_, item(7)), stored);
  EXPECT_EQ(kinds(), Kinds({FindingKind::BadItem}));
}

TEST_F(Check, FindsAnItemUnderAnotherKey) {
  raw_put(item_key(*table_, item(7)), value::StoredItem::from(item(11)).bytes());
  const auto found = kinds();
  EXPECT_EQ(std::count(found.begin(), found.end(), FindingKind::MisplacedItem), 1);
}

TEST_F(Check, DoesNotTakeAnEntryFromAnItemThatDoesNotDecode) {
  const auto made = entry("ByYear", item(8));
  raw_put(item_key(*table_, item(8)), "\x01\x05{\"pk\"");
  ASSERT_TRUE(repair(database_.store()));
  EXPECT_EQ(database_.store().get(made.key).value(), made.item.bytes());
}

TEST_F(Check, FindsCountsThatAreWrong) {
  for (const auto statistic : {Statistic::Items, Statistic::Bytes}) {
    for (const auto id : {kBaseIndex, index("ByYear").id}) {
      raw_put(statistic_key(table_->id, id, statistic), storage::encode_counter(1'000'000));
      EXPECT_EQ(kinds(), Kinds({FindingKind::WrongCount}));
      expect_repaired();
    }
  }
  raw_put(statistic_key(table_->id, kBaseIndex, Statistic::Items), "no counter");
  EXPECT_EQ(kinds(), Kinds({FindingKind::WrongCount}));
  expect_repaired();
}

TEST_F(Check, FindsCollectionSizesThatAreWrong) {
  raw_put(collection_size_key(table_->id, S("a1")), storage::encode_counter(1));
  EXPECT_EQ(kinds(), Kinds({FindingKind::CollectionSize}));
  expect_repaired();
  raw_put(collection_size_key(table_->id, S("nobody")), storage::encode_counter(10));
  EXPECT_EQ(kinds(), Kinds({FindingKind::CollectionSize}));
  expect_repaired();
}

TEST_F(Check, FindsExpiriesThatAreMissingOrTooMany) {
  const auto at = item_key(*table_, item(8));
  raw_erase(expiry_key(at, *expiry_of(*table_, item(8))));
  EXPECT_EQ(kinds(), Kinds({FindingKind::MissingExpiry}));
  raw_put(expiry_key(at, 77), expiry_entry_value());
  raw_put(expiry_key(item_key(*table_, item(3)), 78), expiry_entry_value());
  EXPECT_EQ(kinds(), Kinds({FindingKind::MissingExpiry, FindingKind::SuperfluousExpiry}));
  expect_repaired();
}

TEST_F(Check, FindsChangeRecordsThatAreBad) {
  const auto partition = change_partition(hash_of_key(item_key(*table_, item(7))), kLeastChangePartitions);
  ChangeRecord record{.time = {},
                      .keys = value::StoredItem::from(key(7)),
                      .new_image = value::StoredItem::from(item(7)),
                      .old_image = {}};
  const auto at = [&](std::uint8_t l, std::uint64_t sequence) { return change_key_at(table_->id, l, {sequence}, 99); };
  raw_put(at(partition, 1), record.encode());
  EXPECT_EQ(kinds(), Kinds());
  record.new_image = value::StoredItem::from(item(8));
  const std::pair<Bytes, Bytes> bad[] = {
      {at(partition, 1), "nonsense"},
      {at(partition, 1), record.encode()},
      {at(static_cast<std::uint8_t>((partition + 1) % kLeastChangePartitions), 1),
       ChangeRecord{.time = {}, .keys = value::StoredItem::from(key(7)), .new_image = {}, .old_image = {}}.encode()},
      {at(partition, 1'000'000),
       ChangeRecord{.time = {}, .keys = value::StoredItem::from(key(7)), .new_image = {}, .old_image = {}}.encode()}};
  for (const auto& [where, what] : bad) {
    raw_put(where, what);
    EXPECT_EQ(kinds(), Kinds({FindingKind::ChangeLog})) << hex(where);
    raw_erase(where);
  }
}

TEST_F(Check, FindsStreamsThatAreBad) {
  const auto at = stream_key("Music", table_->stream.label);
  const auto record = *database_.store().get(at).value();
  raw_erase(at);
  EXPECT_EQ(kinds(), Kinds({FindingKind::Stream}));
  raw_put(at, "nonsense");
  EXPECT_EQ(kinds(), Kinds({FindingKind::Stream}));
  raw_put(at, record);
  EXPECT_EQ(kinds(), Kinds());
  raw_put(stream_marker_key("Music", table_->stream.label, {2}),
          StreamMarker{.kind = StreamMarker::Kind::End, .time = {}, .previous = {}}.encode());
  EXPECT_EQ(kinds(), Kinds({FindingKind::Stream}));
}

TEST_F(Check, FindsWhatIsWrongWithTheCatalog) {
  raw_put(table_record_key("Broken"), "nonsense");
  EXPECT_EQ(kinds(), Kinds({FindingKind::BadRecord}));
  raw_erase(table_record_key("Broken"));
  Table copy = *table_;
  raw_put(table_record_key("Copy"), encode_table(copy));
  EXPECT_EQ(kinds(), Kinds({FindingKind::Catalog}));
  raw_erase(table_record_key("Copy"));
  raw_put(last_table_id_key(), storage::encode_counter(0));
  EXPECT_EQ(kinds(), Kinds({FindingKind::Catalog}));
}

TEST_F(Check, FindsDataWithoutItsTable) {
  raw_erase(table_record_key("Music"));
  const auto found = kinds();
  EXPECT_TRUE(std::count(found.begin(), found.end(), FindingKind::Orphan));
  EXPECT_EQ(repair(database_.store()).value().repaired, 0U);  // the table may be what is missing
}

TEST_F(Check, FindsNothingWrongWithRemainsThatWaitToBeErased) {
  const TableId gone{77};
  const auto remains = [&](IndexId id) { raw_put(remains_key(gone, id), "\x01"); };
  const auto left = [&](const KeyRange& range) { raw_put(range.begin + Bytes(20, 'x'), "left"); };
  left(KeyRange::prefix(index_prefix(gone, kBaseIndex)));
  left(table_collection_sizes(gone));
  left(table_expiries(gone));
  left(KeyRange::prefix(index_prefix(gone, {2})));
  EXPECT_EQ(report().total(FindingKind::Orphan), 4U);
  remains(kBaseIndex);
  EXPECT_EQ(report().total(FindingKind::Orphan), 1U);
  remains({2});
  EXPECT_EQ(kinds(), Kinds());

  raw_put(remains_key(table_->id, index("ByYear").id), "\x01");
  EXPECT_EQ(kinds(), Kinds({FindingKind::Catalog})) << "it is in use";
  raw_erase(remains_key(table_->id, index("ByYear").id));
  raw_put(remains_key(gone, {3}) + "x", "\x01");
  EXPECT_EQ(kinds(), Kinds({FindingKind::BadRecord}));
}

TEST_F(Check, FindsKeysThatNobodyWrites) {
  for (const Bytes& key : {Bytes("a"), Bytes("cx"), Bytes("zz"), Bytes("i\0", 2), Bytes("q1"), Bytes("t")}) {
    raw_put(key, "?");
    EXPECT_FALSE(report().clean()) << key;
    raw_erase(key);
    EXPECT_TRUE(report().clean()) << key;
  }
}

TEST_F(Check, TellsOnlySoManyFindingsOneByOne) {
  for (int i = 0; i < 300; ++i) raw_put("zz" + std::to_string(i), "?");
  const auto checked = report();
  EXPECT_EQ(checked.totals[static_cast<std::size_t>(FindingKind::UnknownKey)], 300U);
  EXPECT_EQ(checked.findings.size(), CheckReport::kMaxFindings);
}

TEST_F(Check, EndsWhenItIsToldTo) {
  for (int i = 0; i < 3000; ++i) raw_put("t" + std::to_string(i), "?");
  const auto checked = check(database_.store(), {.progress = [](const CheckProgress&) { return false; }});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::Busy);
}

TEST_F(Check, SaysWhatToDoAboutEveryKind) {
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind) {
    EXPECT_FALSE(finding_name(static_cast<FindingKind>(kind)).empty());
    EXPECT_TRUE(remedy(static_cast<FindingKind>(kind)).ends_with("."));
  }
}

// Changes a byte in the middle of every table file.
void flip_table_files(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto middle = static_cast<std::streamoff>(entry.file_size() / 2);
    file.seekg(middle);
    const auto byte = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(byte ^ 1));
  }
}

// Half of a table cannot be read: how many items there are is unknown, and not the number of those before the damage.
TEST_F(Check, CountsComparesAndRepairsNothingWhereABlockCannotBeRead) {
  for (int i = kItems; i < 600; ++i) write(item(i));
  const storage::testing::TemporaryFolder folder;
  {
    storage::Batch batch;
    const auto snapshot = database_.store().snapshot();
    const auto cursor = snapshot->cursor({}, storage::Direction::Forward);
    for (; cursor->valid(); cursor->next()) batch.put(KeyBytes(cursor->key()), Bytes(cursor->value()));
    auto store = storage::open_rocksdb_store({.path = folder.path()}).value();
    store->commit(std::move(batch)).value();
    EXPECT_FALSE(check(*store).value().damaged());
    ASSERT_TRUE(store->files()->freeze());  // so that there is a table file
  }
  flip_table_files(folder.path());
  const auto store = storage::open_rocksdb_store({.path = folder.path()}).value();
  const auto repaired = repair(*store);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_TRUE(repaired->damaged());
  EXPECT_EQ(repaired->repaired, 0U);
  EXPECT_GT(repaired->total(FindingKind::Unreadable), 0U);
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind) {
    const auto name = static_cast<FindingKind>(kind);
    EXPECT_TRUE(!is_repairable(name) || repaired->total(name) == 0) << finding_name(name);
  }
}

TEST(CheckRocksDb, FindsAFileWithAByteFlippedAndReadsTheRest) {
  const storage::testing::TemporaryFolder folder;
  {
    auto store = storage::open_rocksdb_store({.path = folder.path()}).value();
    storage::Batch batch;
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
      Bytes record(1, '\1');
      append_u64be(record, random.next());
      append_u64be(record, random.next());
      batch.put(request_token_key(std::to_string(i)), std::move(record));
    }
    store->commit(std::move(batch)).value();
    EXPECT_TRUE(check(*store).value().clean());
    ASSERT_TRUE(store->files()->freeze());  // so that there is a table file
    EXPECT_TRUE(check(*store).value().clean());
  }
  flip_table_files(folder.path());
  const auto store = storage::open_rocksdb_store({.path = folder.path(), .read_only = true}).value();
  const auto checked = check(*store).value();
  EXPECT_EQ(checked.totals[static_cast<std::size_t>(FindingKind::DamagedFile)], 1U);
  EXPECT_TRUE(checked.findings[0].key.ends_with(".sst"));
}

}  // namespace
}  // namespace stator::engine
