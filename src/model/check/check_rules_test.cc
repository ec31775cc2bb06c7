#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

TEST(CheckRules, WantsChildrenThatCanBeFound) {
  const auto with = [](std::string_view key, std::string_view on_delete) {
    return found("children-not-found", kPlainTable,
                 fmt::format(R"yaml(
entities:
  LIST: {{ keys: {{ PK: "list#{{list}}", SK: "X" }}, attributes: {{ list: uuid }} }}
  ITEM:
    keys: {{ PK: "{}", SK: "item#{{item}}" }}
    parents: {{ list: {{ entity: LIST, on_delete: {} }} }}
    attributes: {{ list: uuid, item: uuid }}
)yaml",
                             key, on_delete));
  };
  EXPECT_EQ(with("item#{item}", "cascade"),
            Lines{"error ITEM.list: to delete the ITEM of a LIST, a query must find them, but no partition key of the "
                  "table, or of an index that always has them, can be computed from the LIST"});
  EXPECT_EQ(with("item#{item}", "nothing"), Lines{});
  EXPECT_EQ(with("list#{list}", "cascade"), Lines{});
}

TEST(CheckRules, WantsAnIndexThatHasAllChildren) {
  const auto with = [](std::string_view partition, std::string_view sort, std::string_view relation = "") {
    return found("children-not-found", kTable,
                 fmt::format(R"yaml(
entities:
  QUAY:
    keys: {{ PK: "quay#{{quay}}", SK: "X" }}
    attributes: {{ quay: uuid, name: {{ type: string, required: true }} }}
  SHIP:
    keys: {{ PK: "ship#{{ship}}", SK: "X", GSI1PK: {}, GSI1SK: "{}" }}
    parents: {{ berth: {{ entity: QUAY, on_delete: cascade{} }} }}
    attributes:
      ship: uuid
      quay: uuid
      quayName: {{ type: string, copy_of: berth.name }}
      flag: string
      built: {{ type: date, required: true }}
      moored: {{ type: boolean, required: true }}
)yaml",
                             partition, sort, relation))
        .size();
  };
  EXPECT_EQ(with("'quay#{quay}'", "{ship}"), 0U);
  EXPECT_EQ(with("'quay#{quay}'", "{built}#{ship}"), 0U);
  EXPECT_EQ(with("'quay#{quay}'", "{quayName}#{ship}"), 1U) << "a copy is there only when it has been made";
  EXPECT_EQ(with("'quay#{quay}'", "{flag}#{ship}"), 1U);
  EXPECT_EQ(with("'quay#{quay}#{shard:4}'", "{ship}"), 1U);
  const std::string sparse = "{ key: 'quay#{quay}', when: 'moored = true' }";
  EXPECT_EQ(with(sparse, "{ship}"), 1U);
  EXPECT_EQ(with(sparse, "{ship}", ", when: 'moored = true'"), 0U) << "all that are its children then";
  EXPECT_EQ(with("[ " + sparse + ", 'sea#{quay}' ]", "{ship}"), 1U);
}

TEST(CheckRules, WantsToCountAnew) {
  const auto with = [](std::string_view more, std::string_view on_delete = "restrict") {
    return found("children-not-found", "\ntable: { name: Things, key: [PK, SK], ttl: gone }\n",
                 fmt::format(R"yaml(
entities:
  QUAY: {{ keys: {{ PK: "quay#{{quay}}", SK: "X" }}, attributes: {{ quay: uuid, ships: {{ count: SHIP.berth }} }} }}
  SHIP:
    keys: {{ PK: "ship#{{ship}}", SK: "X" }}
    parents: {{ berth: {{ entity: QUAY, on_delete: {} }} }}
    {}
    attributes: {{ ship: uuid, quay: uuid, until: timestamp }}
)yaml",
                             on_delete, more));
  };
  EXPECT_EQ(with(""),
            Lines{"warning SHIP.berth: it is impossible to count the SHIP of a QUAY again when the number is wrong: no "
                  "partition key of the table, or of an index that always has them, can be computed from the QUAY"});
  EXPECT_EQ(with("", "nothing"),
            Lines{"warning SHIP.berth: it is impossible to count the SHIP of a QUAY again when the number is wrong, as "
                  "it can be when children exist before their parent: no partition key of the table, or of an index "
                  "that always has them, can be computed from the QUAY"});
  EXPECT_EQ(with("expires: 'until'"),
            Lines{"error SHIP.berth: to count the SHIP of a QUAY when one has expired, a query must find them, but no "
                  "partition key of the table, or of an index that always has them, can be computed from the QUAY"});
}

TEST(CheckRules, FindsUniqueValuesThatOthersChange) {
  const auto with = [](std::string_view attributes) {
    return found("unique-copy", kPlainTable,
                 fmt::format(R"yaml(
entities:
  AUTHOR:
    keys: {{ PK: "author#{{author}}", SK: "author" }}
    attributes: {{ author: uuid, name: {{ type: string, required: true }}, born: {{ type: date, immutable: true }} }}
  BOOK:
    parents: {{ author: {{ entity: AUTHOR, on_delete: cascade }} }}
    keys: {{ PK: "author#{{author}}", SK: "book#{{book}}" }}
    attributes:
      author: uuid
      book: uuid
      authorName: {{ copy_of: author.name }}
      authorBorn: {{ copy_of: author.born }}
      {}
)yaml",
                             attributes));
  };
  EXPECT_EQ(with("title: { type: string, unique_within: author }"), Lines{});
  EXPECT_EQ(with("title: { type: string, unique_within: authorBorn }"), Lines{}) << "that never changes";
  EXPECT_EQ(with("title: { type: string, unique_within: authorName }"),
            Lines{"warning BOOK.title: authorName changes with another row, so two BOOK can get the same title without "
                  "a request that could be refused"});
  EXPECT_EQ(
      with(
          "title: string\n      full: { type: string, derived: \"concat(authorName, title)\", unique_within: author }"),
      Lines{"warning BOOK.full: full changes with another row, so two BOOK can get the same full without a request "
            "that could be refused"});
}

TEST(CheckRules, WantsCopiesToTellWhichChildrenHaveHadAParent) {
  const auto with = [](std::string_view copies, std::string_view relation) {
    return found("copy-tells-nothing", kPlainTable,
                 fmt::format(R"yaml(
entities:
  MOVIE:
    keys: {{ PK: "movie#{{movie}}", SK: "movie" }}
    parents: {{ studio: {{ entity: STUDIO }}, remake: {{ entity: MOVIE, by: {{ movie: original }}, optional: true }} }}
    attributes:
      movie: string
      studio: uuid
      original: string
      title: {{ type: string, required: true }}
      tagline: string
      rated: {{ type: boolean, default: false }}
      added: {{ type: timestamp, generated: now }}
      changed: {{ type: timestamp, updated: true }}
      reviews: {{ count: REVIEW.movie }}
      studioName: {{ type: string, copy_of: studio.name }}
      studioMotto: {{ type: string, copy_of: studio.motto }}
      remakeOf: {{ type: string, copy_of: remake.title }}
      caption: {{ type: string, derived: "concat(title, ' (', movie, ')')" }}
      line: {{ type: string, derived: "concat(title, tagline)" }}
      best: {{ type: string, derived: "coalesce(tagline, title)" }}
      star: {{ type: string, derived: "if(rated, '*', null)" }}
      short: {{ type: boolean, derived: "length(tagline) < 9" }}
  STUDIO:
    keys: {{ PK: "studio#{{studio}}", SK: "studio" }}
    attributes: {{ studio: uuid, name: {{ type: string, required: true }}, motto: string }}
  REVIEW:
    keys: {{ PK: "movie#{{movie}}", SK: "review#{{review}}" }}
    parents: {{ movie: {{ entity: MOVIE, {} }} }}
    attributes: {{ movie: string, review: uuid, text: string, {} }}
)yaml",
                             relation, copies));
  };
  constexpr std::string_view kLoose = "must_exist: false, on_delete: cascade";
  const Lines warning{
      "warning REVIEW.movie: a MOVIE may lack tagline: a REVIEW that has no other copy of it then looks older than its "
      "MOVIE, and stays when the MOVIE is deleted"};
  EXPECT_EQ(with("copy: { copy_of: movie.tagline }", kLoose), warning);
  EXPECT_EQ(with("copy: { copy_of: movie.tagline }", "must_exist: false, on_delete: { clear: text }").size(), 1U);
  EXPECT_EQ(with("copy: { copy_of: movie.tagline }", "must_exist: false"), Lines{}) << "nothing is done to them";
  EXPECT_EQ(with("copy: { copy_of: movie.tagline }", "on_delete: cascade"), Lines{}) << "all have had one";
  EXPECT_EQ(with("other: string", kLoose), Lines{}) << "all go that are there";
  EXPECT_EQ(with("copy: { copy_of: movie.tagline }, title: { copy_of: movie.title }", kLoose), Lines{});

  for (const auto* sure : {"movie", "rated", "added", "changed", "reviews", "studioName", "caption", "best", "short"}) {
    EXPECT_EQ(with(fmt::format("copy: {{ copy_of: movie.{} }}", sure), kLoose), Lines{}) << sure;
  }
  for (const auto* unsure : {"studioMotto", "remakeOf", "line", "star"}) {
    EXPECT_EQ(with(fmt::format("copy: {{ copy_of: movie.{} }}", unsure), kLoose).size(), 1U) << unsure;
  }
}

TEST(CheckRules, WantsANumberToGoWithItsOrder) {
  const auto with = [](std::string_view clear) {
    return found("stray-number", kTable,
                 fmt::format(R"yaml(
entities:
  SHELF: {{ keys: {{ PK: "shelf#{{shelf}}", SK: "shelf" }}, attributes: {{ shelf: uuid, room: {{ type: string, required: true }} }} }}
  BOOK:
    keys: {{ PK: "book#{{book}}", SK: "book", GSI1PK: "room#{{room}}#{{state}}", GSI1SK: "{{place:05}}" }}
    parents: {{ shelf: {{ entity: SHELF, optional: true, on_delete: {{ clear: {} }} }} }}
    attributes:
      book: uuid
      shelf: uuid
      room: {{ type: string, copy_of: shelf.room }}
      note: string
      owned: boolean
      state: {{ type: string, derived: "if(owned = true, 'mine', 'lent')" }}
      place: {{ next: {{ in: books }}, max: 99999 }}
patterns:
  books: {{ query: {{ index: GSI1, GSI1PK: "room#{{room}}#{{state}}" }}, returns: BOOK }}
)yaml",
                             clear));
  };
  const Lines stays{
      "warning BOOK.shelf: when its SHELF is deleted, a BOOK leaves the order of books but keeps its place: the number "
      "is then in no order, or twice in another order"};
  EXPECT_EQ(with("shelf"), stays) << "and what is copied goes with it";
  EXPECT_EQ(with("room"), stays);
  EXPECT_EQ(with("owned"), stays) << "and what is derived changes";
  EXPECT_EQ(with("[shelf, place]"), Lines{});
  EXPECT_EQ(with("note"), Lines{});
  EXPECT_EQ(
      with("[note, place]"),
      Lines{"warning BOOK.shelf: when its SHELF is deleted, a BOOK loses its place and stays in the order of books, "
            "where it is not found until a request changes it"});
}

TEST(CheckRules, WantsATimeToLiveForWhatIsPurged) {
  constexpr std::string_view kEntities = R"yaml(
entities:
  NOTE:
    keys: { PK: "note#{note}", SK: "X" }
    soft_delete: { attribute: deleted, at: deletedAt, keep: 30d }
    attributes: { note: uuid, deleted: boolean, deletedAt: timestamp }
)yaml";
  EXPECT_EQ(found("no-ttl", kPlainTable, kEntities),
            Lines{"error NOTE: a deleted NOTE is to be purged after a while, but the table has no TTL attribute"});
  EXPECT_EQ(found("no-ttl", "\ntable: { name: Things, key: [PK, SK], ttl: expiresAt }\n", kEntities), Lines{});
}

TEST(CheckRules, WantsAStreamForWhatFollowsAChange) {
  constexpr std::string_view kEntities = R"yaml(
entities:
  LIST: { keys: { PK: "list#{list}", SK: "X" }, attributes: { list: uuid } }
  ITEM:
    keys: { PK: "list#{list}", SK: "item#{item}" }
    parents: { list: { entity: LIST, on_delete: cascade } }
    attributes: { list: uuid, item: uuid }
)yaml";
  EXPECT_EQ(found("stream-view", "\ntable: { name: Things, key: [PK, SK], stream: keys_only }\n", kEntities),
            Lines{"error Things: changes are propagated through ITEM.list, which needs the row before and after a "
                  "change, but the table's stream does not have both"});
  EXPECT_EQ(found("stream-view", kPlainTable, kEntities), Lines{});
}

TEST(CheckRules, TellsWhereARestrictionIsOverruled) {
  const auto with = [](std::string_view middle, std::string_view leaf, std::string_view further = "",
                       std::string_view code = "restrict-overruled", std::string_view key = "top#{top}") {
    return found(code, "\ntable: { name: Things, key: [PK, SK], ttl: gone }\n",
                 fmt::format(R"yaml(
entities:
  TOP: {{ keys: {{ PK: "top#{{top}}", SK: "X" }}, attributes: {{ top: uuid, leaves: {{ count: LEAF.top }} }} }}
  MID:
    keys: {{ PK: "top#{{top}}", SK: "mid#{{mid}}" }}
    {}
    attributes: {{ top: uuid, mid: uuid, until: timestamp, leaves: {{ count: LEAF.mid }} }}
  LEAF:
    keys: {{ PK: "{}", SK: "leaf#{{mid}}#{{leaf}}" }}
    parents: {{ top: {{ entity: TOP, {} }}, mid: {{ entity: MID, on_delete: {} }} }}
    attributes: {{ top: uuid, mid: uuid, leaf: uuid }}
)yaml",
                             middle, key, further.empty() ? "on_delete: nothing" : further, leaf));
  };
  constexpr std::string_view kGoes = "parents: { top: { entity: TOP, on_delete: cascade } }";
  EXPECT_EQ(with(kGoes, "restrict"),
            Lines{"warning LEAF.mid: a MID is deleted with its TOP, also while it has LEAF children, and these are "
                  "deleted with it: `restrict` only refuses requests to delete it"});
  EXPECT_EQ(with("expires: 'until'", "restrict"),
            Lines{"warning LEAF.mid: a MID is deleted when it expires, also while it has LEAF children, and these are "
                  "deleted with it: `restrict` only refuses requests to delete it"});
  EXPECT_EQ(with(kGoes, "cascade"), Lines{});
  EXPECT_EQ(with(kGoes, "nothing"), Lines{});
  EXPECT_EQ(with("parents: { top: { entity: TOP } }", "restrict"), Lines{}) << "a MID goes only when it is deleted";
  EXPECT_EQ(with(kGoes, "restrict", "on_delete: cascade"), Lines{}) << "they go with the TOP anyway";
  EXPECT_EQ(with(kGoes, "restrict", "on_delete: restrict"), Lines{}) << "a TOP with LEAF is not deleted";
  EXPECT_EQ(with(kGoes, "restrict", "on_delete: cascade, optional: true").size(), 1U);
  EXPECT_EQ(with(kGoes, "restrict", "", "children-not-found"), Lines{});
  EXPECT_EQ(with(kGoes, "restrict", "", "children-not-found", "leaf#{leaf}").back(),
            "error LEAF.mid: to delete the LEAF of a MID, a query must find them, but no partition key of the table, "
            "or of an index that always has them, can be computed from the MID");
}

TEST(CheckRules, WantsToBeToldOfParentsThatCountWhatAFormerOneHasLeft) {
  const auto with = [](std::string_view stream, std::string_view id, std::string_view relation) {
    return found("stream-view", fmt::format("\ntable: {{ name: Things, key: [PK, SK], stream: {} }}\n", stream),
                 fmt::format(R"yaml(
entities:
  LIST: {{ keys: {{ PK: "list#{{list}}", SK: "X" }}, attributes: {{ list: {{ type: uuid{} }}, items: {{ count: ITEM.list }} }} }}
  ITEM:
    keys: {{ PK: "list#{{list}}", SK: "item#{{item}}" }}
    parents: {{ list: {{ entity: LIST, {} }} }}
    attributes: {{ list: uuid, item: uuid }}
)yaml",
                             id, relation));
  };
  EXPECT_EQ(with("none", "", "on_delete: nothing"),
            Lines{"warning Things: a new parent can have children that an earlier parent of its name has left, and "
                  "counts them when the stream reports its creation; through ITEM.list it counts too few, because the "
                  "table's stream does not have both images"});
  EXPECT_EQ(with("none", "", "must_exist: false").size(), 1U);
  EXPECT_EQ(with("new_and_old_images", "", "on_delete: nothing"), Lines{});
  EXPECT_EQ(with("none", ", generated: uuid", "on_delete: nothing"), Lines{}) << "there is no other of its name";
  EXPECT_EQ(with("none", "", "on_delete: restrict"), Lines{}) << "it leaves none";
}

TEST(CheckRules, CountsTheRowsOfATransaction) {
  const auto with_steps = [](int steps) {
    std::string text = R"yaml(
entities:
  LINE: { keys: { PK: "line#{line}", SK: "X" }, attributes: { line: { type: uuid, generated: uuid } } }
actions:
  fill:
    post: /fill
    steps:
)yaml";
    for (int i = 0; i < steps; ++i) text += fmt::format("      - {{ create: LINE, as: line{}, set: {{}} }}\n", i);
    return found("transaction-too-large", kPlainTable, text);
  };
  EXPECT_EQ(with_steps(101), Lines{"error fill: it can write 101 rows at once, and a transaction holds at most 100"});
  EXPECT_EQ(with_steps(100), Lines{});
}

}  // namespace
}  // namespace stator::model
