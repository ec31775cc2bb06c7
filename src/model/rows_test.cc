#include "stator/model/rows.h"

#include <gtest/gtest.h>

#include <set>

#include "stator/base/random.h"
#include "stator/model/testing/load_or_fail.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

// Libraries, collections and items in the manner of a media library; stories that live in two rows; lists in shards.
constexpr std::string_view kModel = R"yaml(
model: rows
table:
  name: Rows
  key: [PK, SK]
  ttl: ttl
  indexes:
    GSI1: { key: [GSI1PK, GSI1SK] }
    ByYear: { key: [OwnerId, "year:N"] }
    Public: { key: [GSI3PK, createdAt] }
entities:
  COLLECTION:
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}#collection#{CollectionId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK: "item#{Name|sortable}"
    attributes:
      OwnerId: string
      LibraryId: string
      CollectionId: string
      Name: { type: string, required: true, unique_within: [OwnerId, LibraryId], fold: true }
      label: { type: string, derived: "concat(upper(folded), '!')" }
      folded: { type: string, derived: "fold(Name)" }
      ItemCount: { count: BOOK.collection }
      full: { type: boolean, derived: "ItemCount >= 1000" }
  BOOK:
    parents:
      collection: { entity: COLLECTION, optional: true, on_delete: { clear: [CollectionId] } }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}#item#{ItemId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK:
        - { key: "item#{CollectionName|sortable}#{Order:05}#{Title|sortable}", when: "attribute_exists(CollectionId)" }
        - "item#{Title|sortable}"
    attributes:
      OwnerId: string
      LibraryId: string
      ItemId: string
      CollectionId: string
      CollectionName: { type: string, copy_of: collection.Name }
      Order: integer
      Title: { type: string, required: true }
      year: integer
      draft: { type: string, transient: true }
  EVENT:
    parents:
      book: { entity: BOOK, on_delete: cascade }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}#event#{ItemId}#{EventId}"
    attributes:
      OwnerId: string
      LibraryId: string
      ItemId: string
      EventId: string
  STORY:
    records:
      main:
        type: STORY
        keys: { PK: "story#{storyId}", SK: "story" }
      live:
        type: STORY_LIVE
        keys: { PK: "stories", SK: "{createdAt}#{storyId}" }
        attributes: [storyId, title]
        when: "attribute_not_exists(deletedAt)"
      deleted:
        type: STORY_DELETED
        keys: { PK: "deleted", SK: "{deletedAt}#{storyId}" }
        attributes: [storyId, title, deletedAt]
        expires: "deletedAt"
    attributes:
      storyId: string
      title: string
      createdAt: timestamp
      deletedAt: timestamp
  WATCHLIST:
    keys:
      PK: "list#{listId}"
      SK: "list"
      GSI3PK: { key: "true#{shard:8}", when: "isPublic" }
    attributes:
      listId: string
      isPublic: boolean
      createdAt: timestamp
      email: { type: email, unique_within: table }
  ENTRY:
    parents:
      list: { entity: WATCHLIST, on_delete: cascade }
    keys:
      PK: "list#{listId}"
      SK: "entry#{position:05}"
    attributes:
      listId: string
      position: integer
  SAVED:
    parents:
      list: { entity: WATCHLIST, on_delete: cascade }
    keys:
      PK: "user#{userId}"
      SK: "saved#{listId}"
      GSI1PK: "list#{listId}"
      GSI1SK: "user#{userId}"
    attributes:
      userId: string
      listId: string
  COMMENT:
    parents:
      list: { entity: WATCHLIST, on_delete: cascade }
    keys:
      PK: "user#{userId}"
      SK: "comment#{listId}"
      GSI1PK: { key: "list#{listId}", when: "attribute_exists(approved)" }
      GSI1SK: "comment#{userId}"
    attributes:
      userId: string
      listId: string
      approved: boolean
)yaml";

const Model& model() {
  static const Model loaded = load_or_fail(kModel);
  return loaded;
}
const Entity& entity(std::string_view name) { return *model().find_entity(name); }
const TableDesign& table() { return model().table; }

// Attributes from plain JSON, whatever they are.
Item plain(std::string_view json) {
  std::vector<ValueProblem> problems;
  Attribute any;
  any.name = "all";
  any.type.kind = Kind::Any;
  const auto object = read_plain_json("{\"all\":" + std::string(json) + "}", {any}, problems);
  return *object->values.find("all")->as_map();
}

std::string json_of(const Item& item) {
  std::string json;
  append_plain_json(json, AttributeValue(item));
  return json;
}

// The rows, one JSON each, or what is wrong.
std::string rows(std::string_view name, std::string_view attributes) {
  const auto made = rows_of(model(), entity(name), plain(attributes));
  if (!made.ok()) return made.error().message;
  std::string result;
  for (const auto& row : *made) result += (result.empty() ? "" : "\n") + json_of(row.item);
  return result;
}

// ------------------------------------------------------------------------------------------------------- rows and keys

TEST(Rows, HaveKeysTypeAndAttributes) {
  EXPECT_EQ(
      rows("COLLECTION", R"({"OwnerId":"u1","LibraryId":"l1","CollectionId":"c1","Name":"Crème #1","Version":3})"),
      R"({"CollectionId":"c1","EntityType":"COLLECTION","GSI1PK":"owner#u1#library#l1","GSI1SK":"item#creme%20%231",)"
      R"("LibraryId":"l1","Name":"Crème #1","OwnerId":"u1","PK":"owner#u1","SK":"library#l1#collection#c1","Version":3})");
}

TEST(Rows, HoldNothingTransientOrComputedWhenRead) {
  const auto made = rows_of(model(), entity("COLLECTION"),
                            plain(R"({"OwnerId":"u","LibraryId":"l","CollectionId":"c","Name":"n","full":true})"));
  EXPECT_EQ(made->front().item.find("full"), nullptr);
  const auto book = rows_of(model(), entity("BOOK"),
                            plain(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","Title":"t","draft":"x"})"));
  EXPECT_EQ(book->front().item.find("draft"), nullptr);
}

TEST(Rows, TakeTheFirstAlternativeThatApplies) {
  const auto sort = [](std::string_view attributes) {
    const auto made = rows_of(model(), entity("BOOK"), plain(attributes)).value();
    const auto* key = made.front().item.find("GSI1SK");
    return key == nullptr ? "absent" : *key->as_string();
  };
  EXPECT_EQ(
      sort(
          R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","Title":"T","CollectionId":"c","CollectionName":"C","Order":7})"),
      "item#c#00007#t");
  EXPECT_EQ(sort(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","Title":"T","CollectionName":"C","Order":7})"),
            "item#t");
  EXPECT_EQ(sort(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","Title":"T","CollectionId":"c","CollectionName":"C"})"),
            "item#t");
  EXPECT_EQ(sort(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i"})"), "absent");
}

TEST(Rows, LeaveOutIndexKeysThatDynamoDbWouldRefuse) {
  const auto year = [](std::string_view value) {
    const auto made =
        rows_of(model(), entity("BOOK"),
                plain(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","year":)" + std::string(value) + "}"));
    return made->front().item.find("year") != nullptr;
  };
  EXPECT_TRUE(year("1999"));
  EXPECT_FALSE(year("\"1999\""));
  EXPECT_FALSE(year("null"));
  const auto list = rows_of(model(), entity("WATCHLIST"), plain(R"({"listId":"x","createdAt":""})"));
  EXPECT_EQ(list->front().item.find("createdAt"), nullptr);
}

TEST(Rows, ComeTogetherWhileTheirConditionsHold) {
  EXPECT_EQ(
      rows("STORY", R"({"storyId":"s","title":"T","createdAt":"2026-01-15T10:00:00.000Z"})"),
      R"({"EntityType":"STORY","PK":"story#s","SK":"story","createdAt":"2026-01-15T10:00:00.000Z","storyId":"s","title":"T"})"
      "\n"
      R"({"EntityType":"STORY_LIVE","PK":"stories","SK":"2026-01-15T10:00:00.000Z#s","storyId":"s","title":"T"})");
  EXPECT_EQ(
      rows(
          "STORY",
          R"({"storyId":"s","createdAt":"2026-01-15T10:00:00.000Z","deletedAt":"1970-01-02T00:00:01.999Z","Version":2})"),
      R"({"EntityType":"STORY","PK":"story#s","SK":"story","Version":2,"createdAt":"2026-01-15T10:00:00.000Z",)"
      R"("deletedAt":"1970-01-02T00:00:01.999Z","storyId":"s"})"
      "\n"
      R"({"EntityType":"STORY_DELETED","PK":"deleted","SK":"1970-01-02T00:00:01.999Z#s","Version":2,)"
      R"("deletedAt":"1970-01-02T00:00:01.999Z","storyId":"s","ttl":86401})");
}

TEST(Rows, SpreadOverShardsByTheirOwnKey) {
  const auto shard = [](int i) {
    const auto attributes = plain(R"({"isPublic":true,"listId":")" + std::to_string(i) + "\"}");
    return *rows_of(model(), entity("WATCHLIST"), attributes)->front().item.find("GSI3PK")->as_string();
  };
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(shard(i));
  EXPECT_EQ(seen.size(), 8U);
  EXPECT_EQ(shard(1), "true#" + std::to_string(shard_of("list#1", "list") % 8));
  EXPECT_EQ(rows_of(model(), entity("WATCHLIST"), plain(R"({"listId":"1"})"))->front().item.find("GSI3PK"), nullptr);
}

TEST(Rows, SayWhatTheirKeyLacks) {
  EXPECT_EQ(rows("BOOK", R"({"OwnerId":"u","LibraryId":"l"})"), "ItemId is missing, and the key of BOOK needs it");
  EXPECT_EQ(rows("ENTRY", R"({"listId":"l","position":-1})"), "position must be a whole number from 0 to 99999");
}

TEST(Rows, SayWhatMakesAKeyTooLong) {
  EXPECT_EQ(rows("BOOK", R"({"OwnerId":")" + std::string(2043, 'x') + R"(","LibraryId":"l","ItemId":"i"})"),
            "OwnerId is too long: the key PK would have 2049 bytes, and can have 2048");
  EXPECT_EQ(rows("BOOK", R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","Title":")" + std::string(1020, 'x') + R"("})"),
            "Title is too long: the key GSI1SK would have 1025 bytes, and can have 1024");
}

TEST(Rows, BecomeTheAttributesThatTheyWereMadeOf) {
  constexpr std::string_view kNames[] = {"OwnerId", "LibraryId", "CollectionId", "CollectionName",
                                         "Order",   "Title",     "year"};
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    Item attributes = plain(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","Version":1})");
    for (const auto name : kNames) {
      if (random.below(2) == 0) continue;
      const bool is_number = name == "Order" || name == "year";
      const auto number = static_cast<std::int64_t>(random.below(1000));
      attributes.set(name, is_number ? AttributeValue::number(number) : AttributeValue::string(random.uuid()));
    }
    const auto made = rows_of(model(), entity("BOOK"), attributes).value();
    ASSERT_EQ(json_of(attributes_of(model(), entity("BOOK"), entity("BOOK").main(), made.front().item)),
              json_of(attributes));
    ASSERT_EQ(primary_key_of(table(), made.front().item), made.front().key);
    ASSERT_EQ(*key_of(model(), entity("BOOK"), attributes).value(), made.front().key);
  }
}

TEST(Rows, OfOtherRecordsHaveTheirOwnKeys) {
  const auto& story = entity("STORY");
  const auto attributes = plain(R"({"storyId":"s","createdAt":"2026-01-15T10:00:00.000Z"})");
  const auto key = key_of(model(), story, *story.find_record("live"), attributes).value();
  EXPECT_EQ(json_of(*key), R"({"PK":"stories","SK":"2026-01-15T10:00:00.000Z#s"})");
  EXPECT_FALSE(key_of(model(), story, *story.find_record("deleted"), attributes)->has_value());
  EXPECT_FALSE(key_of(model(), story, {})->has_value());
}

TEST(Rows, WithoutTheTtlAreAttributes) {
  const auto& story = entity("STORY");
  const auto row =
      plain(R"({"PK":"deleted","SK":"x","EntityType":"STORY_DELETED","storyId":"s","ttl":86401,"Version":2})");
  EXPECT_EQ(json_of(attributes_of(model(), story, *story.find_record("deleted"), row)),
            R"({"Version":2,"storyId":"s"})");
}

TEST(Derive, ComputesSourcesFirst) {
  Item attributes = plain(R"({"Name":"Crème","label":"old"})");
  ASSERT_TRUE(derive(entity("COLLECTION"), attributes).ok());
  EXPECT_EQ(json_of(attributes), R"({"Name":"Crème","folded":"creme","label":"CREME!"})");
  attributes.erase("Name");
  ASSERT_TRUE(derive(entity("COLLECTION"), attributes).ok());
  EXPECT_EQ(json_of(attributes), "{}");
}

TEST(Derive, LeavesToReadingWhatCountersDecide) {
  Item attributes = plain(R"({"ItemCount":1000})");
  ASSERT_TRUE(derive(entity("COLLECTION"), attributes).ok());
  EXPECT_EQ(attributes.find("full"), nullptr);
  ASSERT_TRUE(derive_when_read(entity("COLLECTION"), attributes).ok());
  EXPECT_EQ(json_of(attributes), R"({"ItemCount":1000,"full":true})");
}

// ----------------------------------------------------------------------------------------------- parents, reservations

TEST(ParentKey, IsTheKeyOfTheParent) {
  const auto& book = entity("BOOK");
  const auto key = [&](std::string_view attributes) {
    const auto found = parent_key(model(), book, *book.find_parent("collection"), plain(attributes)).value();
    return found ? json_of(*found) : "none";
  };
  EXPECT_EQ(key(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","CollectionId":"c"})"),
            R"({"PK":"owner#u","SK":"library#l#collection#c"})");
  EXPECT_EQ(key(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i"})"), "none");
  EXPECT_EQ(key(R"({"OwnerId":"u","LibraryId":"l","ItemId":"i","CollectionId":null})"), "none");
}

TEST(Reservations, ClaimFoldedNamesWithinTheirScope) {
  const auto made = reservations_of(model(), entity("COLLECTION"),
                                    plain(R"({"OwnerId":"u#1","LibraryId":"l","CollectionId":"c","Name":"Crème"})"))
                        .value();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(json_of(made[0].key),
            R"({"PK":"unique#rows#COLLECTION.Name@OwnerId,LibraryId#u%231#l#creme","SK":"unique"})");
  EXPECT_EQ(*made[0].item.find("EntityType")->as_string(), "unique");
  EXPECT_EQ(*made[0].item.find("Of")->as_string(), R"({"PK":{"S":"owner#u%231"},"SK":{"S":"library#l#collection#c"}})");
}

TEST(Reservations, ClaimValuesInTheWholeTable) {
  const auto made = reservations_of(model(), entity("WATCHLIST"), plain(R"({"listId":"x","email":"Ann@example.com"})"));
  EXPECT_EQ(*made->front().key.find("PK")->as_string(), "unique#rows#WATCHLIST.email@#Ann@example.com");
}

TEST(Reservations, ClaimNothingWithoutAValue) {
  EXPECT_TRUE(reservations_of(model(), entity("WATCHLIST"), plain(R"({"listId":"x"})"))->empty());
  EXPECT_TRUE(reservations_of(model(), entity("COLLECTION"), plain(R"({"CollectionId":"c","Name":"n"})"))->empty());
}

TEST(Reservations, RefuseWhatIsTooLong) {
  const auto made = reservations_of(model(), entity("WATCHLIST"),
                                    plain(R"({"listId":"x","email":")" + std::string(2048, 'a') + "\"}"));
  EXPECT_EQ(made.error().message, "email is too long: the key PK would have 2077 bytes, and can have 2048");
}

// ------------------------------------------------------------------------------------------------------------ children

// "GSI1 {partition} prefix"
std::string plan(std::string_view child, std::string_view relation, std::string_view parent) {
  const auto found = plan_children(model(), entity(child), *entity(child).find_parent(relation), plain(parent));
  if (!found.ok()) return found.error().message;
  return (found->index == nullptr ? "table" : found->index->name) + " " + json_of(found->partition) + " " +
         found->sort_prefix;
}

TEST(PlanChildren, ReadsTheRangeThatTheParentDetermines) {
  EXPECT_EQ(plan("EVENT", "book", R"({"OwnerId":"u","LibraryId":"l","ItemId":"i"})"),
            R"(table {"PK":"owner#u"} library#l#event#i#)");
}

TEST(PlanChildren, ReadsMoreWhenTheKeyDoesNotNameTheParent) {
  EXPECT_EQ(plan("BOOK", "collection", R"({"OwnerId":"u","LibraryId":"l","CollectionId":"c"})"),
            R"(table {"PK":"owner#u"} library#l#item#)");
}

TEST(PlanChildren, ReadsAWholePartition) {
  EXPECT_EQ(plan("ENTRY", "list", R"({"listId":"x"})"), R"(table {"PK":"list#x"} entry#)");
}

TEST(PlanChildren, UsesAnIndexThatHoldsThemAll) {
  EXPECT_EQ(plan("SAVED", "list", R"({"listId":"x"})"), R"(GSI1 {"GSI1PK":"list#x"} user#)");
}

TEST(PlanChildren, DoesNotTrustASparseIndex) {
  EXPECT_EQ(plan("COMMENT", "list", R"({"listId":"x"})"),
            "no key leads from a WATCHLIST to its rows of COMMENT through list");
}

}  // namespace
}  // namespace stator::model
