#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

// The objects of a page, with children in brackets: "Classics... [Dune Emma] Zorro"; dots: it began on an earlier page.
std::string outline(const std::vector<Object>& objects, std::string_view attribute) {
  std::string out;
  for (const auto& object : objects) {
    if (!out.empty()) out += ' ';
    const auto* name = object.attributes.find(attribute);
    const auto* other = object.attributes.find("Title");
    out += *(name != nullptr ? name : other)->as_string();
    if (object.continued) out += "...";
    if (!object.nested.empty()) out += " [" + outline(object.nested, attribute) + "]";
  }
  return out;
}

// All pages of a pattern, one line each.
std::string pages(World& world, std::string_view pattern, const Item& parameters, const Caller& caller, unsigned limit,
                  std::string_view attribute) {
  std::string out;
  PageOptions request{.limit = limit, .start = {}};
  for (int bound = 0; bound < 100; ++bound) {
    auto page = world.run(pattern, parameters, caller, request);
    if (!page) return told(page);
    if (!out.empty()) out += " / ";
    out += outline(page->objects, attribute);
    if (!page->next) return out;
    request.start = std::move(page->next);
  }
  return "no end";
}

class ShelfPatterns : public ::testing::Test {
 protected:
  ShelfPatterns() {
    library = {{"LibraryId", *world.made("LIBRARY", {{"Name", text("Home")}}, alice).attributes.find("LibraryId")}};
  }
  value::AttributeValue collection(std::string_view name) {
    auto attributes = library;
    attributes.set("Name", text(name));
    return *world.made("COLLECTION", attributes, alice).attributes.find("CollectionId");
  }
  Item book(std::string_view title, const value::AttributeValue* collection_id = nullptr, int order = 0) {
    auto attributes = library;
    attributes.set("Title", text(title));
    if (collection_id != nullptr) {
      attributes.set("CollectionId", *collection_id);
      attributes.set("Order", number(order));
    }
    return world.made("BOOK", attributes, alice).attributes;
  }

  World world{kShelf};
  const Caller alice = user("alice");
  Item library;
};

TEST_F(ShelfPatterns, APageHoldsAsManyAsAskedForAndTheNextGoesOn) {
  for (const auto* name : {"Cabin", "attic", "Barn"}) world.made("LIBRARY", {{"Name", text(name)}}, alice);
  world.made("LIBRARY", {{"Name", text("Bob's")}}, user("bob"));
  EXPECT_EQ(pages(world, "libraries", {}, alice, 3, "Name"), "attic Barn Cabin / Home");
  EXPECT_EQ(pages(world, "libraries", {}, alice, 2, "Name"), "attic Barn / Cabin Home") << "no empty last page";
  EXPECT_EQ(pages(world, "libraries", {}, alice, 50, "Name"), "attic Barn Cabin Home");
}

TEST_F(ShelfPatterns, ALimitOutOfBoundsIsRefused) {
  for (const unsigned limit : {0U, 51U}) {
    EXPECT_EQ(told(world.run("libraries", {}, alice, {.limit = limit, .start = {}})),
              "400 Invalid; limit must be from 1 to 50");
  }
}

TEST_F(ShelfPatterns, ParametersAreChecked) {
  EXPECT_EQ(told(world.run("contents", {}, alice)), "400 Invalid; LibraryId is required");
  EXPECT_EQ(told(world.run("libraries", {{"colour", text("red")}}, alice)), "400 Invalid; colour is not known here");
}

TEST_F(ShelfPatterns, ChildrenAreNestedInTheirParents) {
  const auto classics = collection("Classics");
  const auto empty = collection("Empty");
  book("Emma", &classics, 2);
  book("Dune", &classics, 1);
  book("Zorro");
  book("Alice");
  EXPECT_EQ(pages(world, "contents", library, alice, 50, "Name"), "Alice Classics [Dune Emma] Empty Zorro");
}

TEST_F(ShelfPatterns, AParentThatContinuesSaysSo) {
  const auto classics = collection("Classics");
  for (int i = 1; i <= 4; ++i) book("Book " + std::to_string(i), &classics, i);
  book("Zorro");
  EXPECT_EQ(pages(world, "contents", library, alice, 2, "Name"),
            "Classics [Book 1] / Classics... [Book 2 Book 3] / Classics... [Book 4] Zorro");
}

TEST_F(ShelfPatterns, ADirectionCanBeAskedForAndTargetsJoined) {
  const auto dune = book("Dune");
  for (const auto* borrower : {"ann", "bob", "cid"}) {
    world.clock().advance(std::chrono::milliseconds(1));
    auto attributes = Item{{"LibraryId", *dune.find("LibraryId")}, {"ItemId", *dune.find("ItemId")}};
    attributes.set("Type", text("LENT"));
    attributes.set("Borrower", text(borrower));
    world.made("EVENT", attributes, alice);
  }
  Item parameters{{"LibraryId", *dune.find("LibraryId")}, {"ItemId", *dune.find("ItemId")}};
  EXPECT_EQ(pages(world, "events", parameters, alice, 2, "Borrower"), "cid bob / ann");
  parameters.set("order", text("asc"));
  EXPECT_EQ(pages(world, "events", parameters, alice, 2, "Borrower"), "ann bob / cid");
  const auto page = world.run("events", parameters, alice);
  ASSERT_EQ(page->objects.front().joined.size(), 1U);
  EXPECT_EQ(page->objects.front().joined.front().first, "book");
  EXPECT_EQ(page->objects.front().joined.front().second.attributes, (Item{{"Title", text("Dune")}}));
  parameters.set("order", text("sideways"));
  EXPECT_EQ(told(world.run("events", parameters, alice)), "400 Invalid; order must be asc or desc");
}

constexpr std::string_view kPosts = R"yaml(
model: posts
table:
  name: Posts
  key: [PK, SK]
  indexes:
    Newest: { key: [GSI1PK, GSI1SK], projection: [title, EntityType] }
    ByTopic: { key: [GSI2PK, GSI2SK], projection: [title] }
entities:
  POST:
    access: { read: public, write: public }
    keys:
      PK: "post#{postId}"
      SK: "post"
      GSI1PK: "all#{shard:4}"
      GSI1SK: "{at}"
      GSI2PK: "topic#{topic}"
      GSI2SK: "{at}"
    attributes:
      postId: { type: uuid, generated: uuid }
      title: { type: string, required: true }
      topic: { type: string, required: true }
      at: { type: date, required: true }
      stars: { type: integer, default: 0 }
  AD:
    access: { read: public, write: public }
    keys:
      PK: "ad#{adId}"
      SK: "ad"
      GSI1PK: "all#{shard:4}"
      GSI1SK: "{at}"
    attributes:
      adId: { type: uuid, generated: uuid }
      title: { type: string, required: true }
      at: { type: date, required: true }
patterns:
  newest:
    get: /posts
    query: { index: Newest, GSI1PK: "all#{shard:4}" }
    order: descending
    returns: POST
  between:
    get: /posts/between
    parameters: { since: date, until: date }
    query: { index: ByTopic, GSI2PK: "topic#{topic}", GSI2SK: { from: "{since}", before: "{until}" } }
    returns: POST
  of_topic:
    get: /topics/{topic}
    query: { index: ByTopic, GSI2PK: "topic#{topic}" }
    returns: POST
  one:
    get: /posts/{postId}/good
    query: { PK: "post#{postId}", SK: "post" }
    filter: "stars >= :stars"
    parameters: { stars: { type: integer, default: 3 } }
    returns: POST
    single: true
)yaml";

class PostPatterns : public ::testing::Test {
 protected:
  Item post(std::string_view title, std::string_view at, int stars = 0) {
    return world
        .made("POST", {{"title", text(title)}, {"topic", text("c++")}, {"at", text(at)}, {"stars", number(stars)}},
              nobody())
        .attributes;
  }
  void put_row(Item row) {
    RowWrite write;
    write.table = "Posts";
    write.kind = RowWrite::Kind::Put;
    write.item = std::move(row);
    ASSERT_TRUE(world.dynamo().write(write).ok());
  }

  World world{kPosts};
};

TEST_F(PostPatterns, ShardsAreMergedInOrderAcrossPages) {
  std::string expected;
  for (int day = 28; day >= 1; --day) {
    const auto date = "2026-01-" + std::string(day < 10 ? "0" : "") + std::to_string(day);
    post(date, date);
    world.made("AD", {{"title", text("buy")}, {"at", text(date)}}, nobody());
    if (!expected.empty()) expected += (28 - day) % 5 == 0 ? " / " : " ";
    expected += date;
  }
  EXPECT_EQ(pages(world, "newest", {}, nobody(), 5, "title"), expected) << "and other types are left out";
}

TEST_F(PostPatterns, AnEndOfAnotherListIsRefused) {
  const auto refused = world.run("newest", {}, nobody(), {.limit = 5, .start = PageEnd{.keys = {{}}, .done = {false}}});
  EXPECT_EQ(told(refused), "400 Invalid");
}

TEST_F(PostPatterns, ARangeIsHalfOpenAndItsBoundsAreOptional) {
  for (const auto* day : {"2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"}) post(day, day);
  const auto days = [&](Item range) {
    range.set("topic", text("c++"));
    return pages(world, "between", range, nobody(), 50, "title");
  };
  EXPECT_EQ(days({{"since", text("2026-01-31")}, {"until", text("2026-02-02")}}), "2026-01-31 2026-02-01");
  EXPECT_EQ(days({{"since", text("2026-02-01")}}), "2026-02-01 2026-02-02");
  EXPECT_EQ(days({{"until", text("2026-01-31")}}), "2026-01-30");
}

TEST_F(PostPatterns, AnObjectHasWhatTheIndexProjects) {
  post("a title", "2026-01-30", 5);
  const auto page = world.run("of_topic", {{"topic", text("c++")}}, nobody());
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects.front().attributes, (Item{{"title", text("a title")}}));
}

TEST_F(PostPatterns, ARowThatDoesNotSayWhatItIsIsToldByItsPrimaryKey) {
  post("mine", "2026-01-30");
  const auto put = [&](std::string_view pk, std::string_view sk) {
    put_row({{"PK", text(pk)},
             {"SK", text(sk)},
             {"GSI2PK", text("topic#c++")},
             {"GSI2SK", text("2026-01-31")},
             {"EntityType", text("NOTE")},
             {"title", text("another model's")}});
  };
  put("note#1", "post");
  put("post#1", "note");
  put("post#1#2", "post");
  EXPECT_EQ(pages(world, "of_topic", {{"topic", text("c++")}}, nobody(), 50, "title"), "mine");
}

TEST_F(PostPatterns, ARowOfTheTableThatDoesNotSayWhatItIsIsNobodys) {
  const auto good = post("good", "2026-01-01", 3);
  const Item key{{"postId", *good.find("postId")}};
  auto row = *world.row("post#" + *good.find("postId")->as_string(), "post");
  row.erase("EntityType");
  put_row(row);
  EXPECT_EQ(told(world.run("one", key, nobody())), "404 NotFound");
}

TEST_F(PostPatterns, ASinglePatternGivesOneOrNotFound) {
  const auto good = post("good", "2026-01-01", 3);
  const auto bad = post("bad", "2026-01-01", 2);
  const auto of = [](const Item& attributes) { return Item{{"postId", *attributes.find("postId")}}; };
  EXPECT_EQ(told(world.run("one", of(good), nobody())), "ok");
  EXPECT_EQ(told(world.run("one", of(bad), nobody())), "404 NotFound");
}

constexpr std::string_view kTrips = R"yaml(
model: trips
table:
  name: Trips
  key: [PK, SK]
  indexes:
    ByPlace: { key: [ByPlacePK, ByPlaceSK] }
    ByTime: { key: [ByTimePK, start] }
    ByDays: { key: [ByDaysPK, ByDaysSK] }
entities:
  TRIP:
    access: { read: public, write: public }
    keys:
      PK: "trips"
      SK: "{miles:04}#{title}"
      ByPlacePK: "trips"
      ByPlaceSK: "to#{place}#{title}"
      ByTimePK: "trips"
      ByDaysPK: "trips"
      ByDaysSK: "days {days:03}#title {title}"
    attributes:
      days: { type: integer, default: 7, min: 0, max: 999 }
      title: { type: string, required: true, max: 10 }
      miles: { type: integer, required: true, min: 0, max: 9999 }
      place: { type: string, default: "Rome", max: 20 }
      start: { type: timestamp, default: "2026-01-01T10:00:00.000Z" }
patterns:
  between:
    parameters: { low: { type: integer, default: 0 }, high: integer }
    query: { PK: "trips", SK: { between: ["{low:04}", "{high:04}"] } }
    returns: TRIP
  separated:
    parameters: { high: integer }
    query: { PK: "trips", SK: { between: ["0000#", "{high:04}#"] } }
    returns: TRIP
  half_named:
    parameters: { place: string }
    query: { index: ByPlace, ByPlacePK: "trips", ByPlaceSK: { at_most: "to#{place}#" } }
    returns: TRIP
  ends_in_words:
    parameters: { days: integer }
    query: { index: ByDays, ByDaysPK: "trips", ByDaysSK: { at_most: "days {days:03}#" } }
    returns: TRIP
  from_before:
    parameters: { low: integer, high: integer }
    query: { PK: "trips", SK: { from: "{low:04}", before: "{high:04}" } }
    returns: TRIP
  at_most:
    parameters: { miles: { type: integer, required: true } }
    query: { PK: "trips", SK: { at_most: "{miles:04}" } }
    returns: TRIP
  less:
    query: { PK: "trips", SK: { less: "{miles:04}" } }
    returns: TRIP
  greater:
    query: { PK: "trips", SK: { greater: "{miles:04}" } }
    returns: TRIP
  at_least:
    query: { PK: "trips", SK: { at_least: "{miles:04}" } }
    returns: TRIP
  behind:
    query: { PK: "trips", SK: { greater: "{miles:04}#{title}" } }
    returns: TRIP
  places:
    query: { index: ByPlace, ByPlacePK: "trips", ByPlaceSK: { at_most: "to#{place}" } }
    returns: TRIP
  until_day:
    parameters: { day: { type: date, required: true } }
    query: { index: ByTime, ByTimePK: "trips", start: { at_most: "{day}" } }
    returns: TRIP
  after_day:
    parameters: { day: { type: date, required: true } }
    query: { index: ByTime, ByTimePK: "trips", start: { greater: "{day}" } }
    returns: TRIP
)yaml";

class BoundsInsideKeys : public ::testing::Test {
 protected:
  void trip(std::string_view title, int miles, Item rest = {}) {
    rest.set("title", text(title));
    rest.set("miles", number(miles));
    world.made("TRIP", rest, nobody());
  }
  std::string trips(std::string_view pattern, const Item& parameters) {
    return pages(world, pattern, parameters, nobody(), 50, "title");
  }

  World world{kTrips};
};

TEST_F(BoundsInsideKeys, MayEndInsideALiteral) {
  for (const int miles : {100, 200}) trip(std::to_string(miles), miles);
  EXPECT_EQ(trips("ends_in_words", {{"days", number(7)}}), "100 200");
  EXPECT_EQ(trips("ends_in_words", {{"days", number(6)}}), "");
  EXPECT_EQ(trips("half_named", {{"place", text("Rome")}}), "100 200");
}

TEST_F(BoundsInsideKeys, StandForAllKeysWithTheirValue) {
  for (const int miles : {100, 200, 300}) trip(std::to_string(miles), miles);
  const Item two_hundred{{"miles", number(200)}};
  EXPECT_EQ(trips("at_most", two_hundred), "100 200");
  EXPECT_EQ(trips("less", two_hundred), "100");
  EXPECT_EQ(trips("greater", two_hundred), "300");
  EXPECT_EQ(trips("at_least", two_hundred), "200 300");
  const Item range{{"low", number(100)}, {"high", number(200)}};
  EXPECT_EQ(trips("between", range), "100 200");
  EXPECT_EQ(trips("from_before", range), "100");
  EXPECT_EQ(trips("between", {{"low", number(200)}, {"high", number(200)}}), "200");
  EXPECT_EQ(trips("between", {{"low", number(200)}}), "200 300");
  EXPECT_EQ(trips("separated", {{"high", number(200)}}), "100 200");
}

TEST_F(BoundsInsideKeys, OfAWholeKeyMeanThatKey) {
  for (const auto* title : {"a", "ab", "b"}) trip(title, 100);
  EXPECT_EQ(trips("behind", {{"miles", number(100)}, {"title", text("a")}}), "ab b");
}

TEST_F(BoundsInsideKeys, OfTextEndWhereTheTextEnds) {
  for (const auto* place : {"Rom", "Rome", "Rome 2", "Romeo"}) {
    trip(place, 100, {{"place", text(place)}});
  }
  EXPECT_EQ(trips("places", {{"place", text("Rome")}}), "Rom Rome");
}

TEST_F(BoundsInsideKeys, TakeADayForAllItsTime) {
  trip("early", 1, {{"start", text("2026-01-30T10:00:00.000Z")}});
  trip("late", 2, {{"start", text("2026-01-31T23:59:59.999Z")}});
  trip("next", 3, {{"start", text("2026-02-01T00:00:00.000Z")}});
  const Item day{{"day", text("2026-01-31")}};
  EXPECT_EQ(trips("until_day", day), "early late");
  EXPECT_EQ(trips("after_day", day), "next");
}

constexpr std::string_view kSparse = R"yaml(
model: sparse
table: { name: Sparse, key: [PK, SK] }
entities:
  ROW:
    access: { read: public, write: public }
    keys: { PK: "rows", SK: "{n:05}" }
    attributes: { n: { type: integer, required: true }, good: { type: boolean, default: false } }
patterns:
  good:
    query: { PK: "rows" }
    filter: "good = true"
    returns: ROW
    page: { default: 2, max: 2 }
)yaml";

TEST(FilteredPattern, GoesOnUntilThePageIsFullOrItsRequestsAreUsedUp) {
  World world(kSparse);
  constexpr int kRows = 500;
  for (int i = 0; i < kRows; ++i) {
    const bool good = i == 3 || i == 20 || i == kRows - 1;
    world.made("ROW", {{"n", number(i)}, {"good", boolean(good)}}, nobody());
  }
  std::string found;
  int pages = 0;
  PageOptions request;
  do {
    auto page = world.run("good", {}, nobody(), request);
    ASSERT_TRUE(page.ok()) << told(page);
    for (const auto& row : page->objects) found += shown(row, "n") + " ";
    if (pages++ == 0) {
      EXPECT_EQ(found, "3 20 ") << "the page is filled";
    }
    request.start = std::move(page->next);
  } while (request.start);
  EXPECT_EQ(found, "3 20 499 ");
  EXPECT_GT(pages, 2) << "a page takes a bounded number of requests";
}

}  // namespace
}  // namespace stator::runtime
