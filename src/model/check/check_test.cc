#include "stator/model/check/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/testing/load_or_fail.h"

namespace stator::model {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kTable = R"yaml(
table:
  name: Things
  key: [PK, SK]
  indexes:
    GSI1: { key: [GSI1PK, GSI1SK] }
)yaml";
constexpr std::string_view kPlainTable = R"yaml(
table: { name: Things, key: [PK, SK] }
)yaml";

// What the checker says with `code` about a model with this table and the rest: "error A: message (witness)".
Lines found(std::string_view code, std::string_view table, std::string_view rest) {
  Lines lines;
  for (const auto& d : check(load_or_fail(fmt::format("model: test\n{}{}", table, rest)))) {
    if (d.code != code) continue;
    lines.push_back(fmt::format("{}{} {}: {}{}", d.accepted.empty() ? "" : "accepted ",
                                d.severity == Severity::Error ? "error" : "warning", d.subject, d.message,
                                d.witness.empty() ? "" : fmt::format(" ({})", d.witness)));
  }
  return lines;
}

// -------------------------------------------------------------------------------------------------------------------- keys

TEST(CheckKeys, FindsEntitiesThatCanHaveTheSameKey) {
  const auto with_prefix = [](std::string_view prefix) {
    return fmt::format(R"yaml(
entities:
  CAT:
    keys: {{ PK: "PET#{{id}}", SK: "A#{{name}}" }}
    attributes: {{ id: uuid, name: {{ type: string, min: 1, max: 10 }} }}
  DOG:
    keys: {{ PK: "PET#{{id}}", SK: "{}{{name}}" }}
    attributes: {{ id: uuid, name: {{ type: string, min: 1, max: 10 }} }}
)yaml",
                       prefix);
  };
  EXPECT_EQ(found("key-collision", kPlainTable, with_prefix("A#")),
            Lines{"error DOG: CAT and DOG can have the same primary key, and then one takes the place of the other (PK "
                  "'PET#00000000-0000-0000-0000-000000000000', SK 'A#a')"});
  EXPECT_EQ(found("key-collision", kPlainTable, with_prefix("B#")), Lines{});
  // Escaped text cannot hold the separator.
  EXPECT_EQ(found("key-collision", kPlainTable, with_prefix("")), Lines{});
}

TEST(CheckKeys, LetsEntitiesOfOneFamilyShareKeys) {
  EXPECT_EQ(found("key-collision", kPlainTable, R"yaml(
entities:
  BOOK:  { key_family: item, keys: { PK: "ITEM#{id}", SK: "X" }, attributes: { id: uuid } }
  VIDEO: { key_family: item, keys: { PK: "ITEM#{id}", SK: "X" }, attributes: { id: uuid } }
)yaml"),
            Lines{});
}

TEST(CheckKeys, KnowsTheLengthAndLettersOfEveryType) {
  // A date is never a uuid, an enum's value never another literal, a padded number has its width.
  const auto with = [](std::string_view hole, std::string_view type, std::string_view literal) {
    return found("key-collision", kPlainTable,
                 fmt::format(R"yaml(
entities:
  A: {{ keys: {{ PK: "K#{{{}}}", SK: "X" }}, attributes: {{ x: {} }} }}
  B: {{ keys: {{ PK: "K#{}", SK: "X" }}, attributes: {{ y: string }} }}
)yaml",
                             hole, type, literal))
        .size();
  };
  EXPECT_EQ(with("x", "date", "2026-01-15"), 1);
  EXPECT_EQ(with("x", "date", "2026-01"), 0);
  EXPECT_EQ(with("x|month", "date", "2026-01"), 1);
  EXPECT_EQ(with("x", "timestamp", "2026-01-15T10:00:00.000Z"), 1);
  EXPECT_EQ(with("x", "timestamp", "2026-01-15T10:00:00Z"), 0);
  EXPECT_EQ(with("x", "uuid", "00000000-0000-0000-0000-00000000000g"), 0);
  EXPECT_EQ(with("x", "ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 1);
  EXPECT_EQ(with("x", "ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAU"), 0);
  EXPECT_EQ(with("x:05", "{ type: integer, min: 0, max: 99999 }", "00042"), 1);
  EXPECT_EQ(with("x:05", "{ type: integer, min: 0, max: 99999 }", "42"), 0);
  EXPECT_EQ(with("x", "{ type: integer, min: 0 }", "42"), 1);
  EXPECT_EQ(with("x", "{ type: integer, min: 0 }", "-42"), 0);
  EXPECT_EQ(with("x", "boolean", "true"), 1);
  EXPECT_EQ(with("x", "boolean", "yes"), 0);
  EXPECT_EQ(with("x", "{ type: enum, values: [on, off] }", "on"), 1);
  EXPECT_EQ(with("x", "{ type: enum, values: [on, off] }", "out"), 0);
  EXPECT_EQ(with("x", "{ type: string, pattern: '[A-Z]{2}' }", "DE"), 1);
  EXPECT_EQ(with("x", "{ type: string, pattern: '[A-Z]{2}' }", "DEU"), 0);
  EXPECT_EQ(with("x|sortable", "string", "abc"), 1);
  EXPECT_EQ(with("x|sortable", "string", "ABC"), 0);
  EXPECT_EQ(with("x", "{ type: string, min: 1 }", ""), 0);
  EXPECT_EQ(with("x", "string", ""), 1);
}

TEST(CheckKeys, FindsSeparatorsThatATextCanHold) {
  const auto with = [](std::string_view key, std::string_view type) {
    return found("forgeable-separator", kPlainTable,
                 fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "P", SK: "{}" }}
    attributes: {{ a: {}, b: {{ type: string, max: 50 }} }}
)yaml",
                             key, type));
  };
  EXPECT_EQ(
      with("{a}:{b}", "{ type: string, max: 50 }"),
      Lines{"error PAGE.a: SK of PAGE has ':' behind a, whose text can hold the same: two that differ can have one "
            "key (':')"});
  for (const auto* key : {"{a}-{b}", "{a}/{b}", "{a}|{b}", "{a}{b}", "{a|sortable}::{b}", "{a}:x:{b}"}) {
    EXPECT_EQ(with(key, "{ type: string, max: 50 }").size(), 1) << key;
  }
  for (const auto* key : {"{a}#{b}", "{a}!{b}", "X:{b}", "{a}#x:{b}"}) {
    EXPECT_EQ(with(key, "{ type: string, max: 50 }"), Lines{}) << key;
  }
  for (const auto* type :
       {"uuid", "timestamp", "date", "{ type: enum, values: [on, off] }", "{ type: string, pattern: '[a-z]+' }"}) {
    EXPECT_EQ(with("{a}:{b}", type), Lines{}) << type;
  }
  EXPECT_EQ(with("{b}:{a}", "uuid"), Lines{}) << "what has one length ends where the key does";
}

TEST(CheckKeys, FindsAlternativesThatGiveOneKey) {
  const auto with = [](std::string_view other) {
    return found("key-collision", kPlainTable,
                 fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "P", SK: [ {{ when: "long = false", key: "page#{{name}}" }}, "{}" ] }}
    attributes: {{ name: {{ type: string, min: 1, max: 50 }}, hash: {{ type: string, min: 1, max: 64 }}, long: boolean }}
)yaml",
                             other));
  };
  EXPECT_EQ(with("page#{hash}"),
            Lines{"error PAGE: two alternatives of SK can give two of PAGE the same primary key (PK 'P', SK "
                  "'page#a')"});
  EXPECT_EQ(with("hash#{hash}"), Lines{});
}

TEST(CheckKeys, KeepsReservationsApart) {
  const auto with_key = [](std::string_view key) {
    return fmt::format(R"yaml(
entities:
  USER:
    keys: {{ PK: "{}", SK: "unique" }}
    attributes: {{ name: {{ type: string, max: 10, unique_within: table }} }}
)yaml",
                       key);
  };
  EXPECT_EQ(
      found("key-collision", kPlainTable, with_key("unique#{name}")),
      Lines{"error USER: USER can have the primary key of a reservation, which keeps a unique value (PK 'unique#', "
            "SK 'unique')"});
  EXPECT_EQ(found("key-collision", kPlainTable, with_key("user#{name}")), Lines{});
}

TEST(CheckKeys, FindsTextThatForgesAKey) {
  const auto with_hole = [](std::string_view hole) {
    return fmt::format(R"yaml(
entities:
  TOPIC:
    keys: {{ PK: "FORUM", SK: "topic#{{{}}}" }}
    attributes: {{ name: {{ type: string, min: 1, max: 50 }} }}
  POST:
    keys: {{ PK: "FORUM", SK: "topic#{{topic}}#post#{{number:03}}" }}
    attributes: {{ topic: {{ type: string, min: 1, max: 50 }}, number: {{ type: integer, min: 0, max: 999 }} }}
)yaml",
                       hole);
  };
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("name|raw")),
            Lines{"error TOPIC.name: name is in the key of TOPIC as it is, and whoever writes a separator into it "
                  "gives a TOPIC "
                  "the key of a POST in Things (PK 'FORUM', SK 'topic#a#post#000')"});
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("name")), Lines{});
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("name|sortable")), Lines{});
}

TEST(CheckKeys, TrustsRawTextWhosePatternHasNoSeparator) {
  const auto with_pattern = [](std::string_view pattern) {
    return fmt::format(R"yaml(
entities:
  A: {{ keys: {{ PK: "K#{{x|raw}}", SK: "X" }}, attributes: {{ x: {{ type: string, pattern: "{}", max: 9 }} }} }}
  B: {{ keys: {{ PK: "K#{{x}}#{{y}}", SK: "X" }}, attributes: {{ x: {{ type: string, max: 9 }}, y: {{ type: string, max: 9 }} }} }}
)yaml",
                       pattern);
  };
  EXPECT_EQ(found("forged-key", kPlainTable, with_pattern("[^ ]+")).size(), 1);
  EXPECT_EQ(found("forged-key", kPlainTable, with_pattern("[A-Za-z0-9-]+")), Lines{});
}

TEST(CheckKeys, FindsTextThatSortsBelowItsSeparator) {
  const auto with_hole = [](std::string_view hole) {
    return fmt::format(R"yaml(
entities:
  PART:
    keys: {{ PK: "SHELF", SK: "{{{}}}#{{number:03}}" }}
    attributes: {{ set: {{ type: string, min: 1, max: 50 }}, number: {{ type: integer, min: 0, max: 999 }} }}
)yaml",
                       hole);
  };
  EXPECT_EQ(
      found("text-order", kPlainTable, with_hole("set|raw")),
      Lines{
          "error PART.set: set is in SK as it is, and its text can hold what sorts before the '#' behind it: rows that "
          "belong together do not stand together ('a b' lies between 'a' and 'a#')"});
  EXPECT_EQ(found("text-order", kPlainTable, with_hole("set|sortable")), Lines{});
}

TEST(CheckKeys, WantsNumbersInSortKeysPadded) {
  const auto with_hole = [](std::string_view hole, std::string_view type) {
    return fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "BOOK#{{id}}", SK: "PAGE#{{{}}}" }}
    attributes: {{ id: uuid, n: {} }}
)yaml",
                       hole, type);
  };
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n", "integer")),
            Lines{"error PAGE.n: SK sorts by n as text, so that 10 comes before 9 ('10' sorts before '9')"});
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n:04", "{ type: integer, min: 0, max: 9999 }")), Lines{});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: integer, min: 0, max: 9999 }")), Lines{});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: integer, min: 0, max: 10000 }")),
            Lines{"error PAGE.n: n can be 10000, which does not fit the 4 digits it has in SK"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: integer, min: -1, max: 9 }")),
            Lines{"error PAGE.n: n is padded in SK, but can be negative, which has no padded form"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: number, min: 0, max: 9 }")),
            Lines{"error PAGE.n: n is padded in SK, but can be a fraction, which has no padded form"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "integer")),
            Lines{"warning PAGE.n: n has 4 digits in SK, and nothing says that it is from 0 to 9999"});
}

TEST(CheckKeys, ComputesHowLongAKeyCanBecome) {
  const auto with_type = [](std::string_view type) {
    return fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "SITE", SK: "PAGE#{{x}}" }}
    attributes: {{ x: {} }}
)yaml",
                       type);
  };
  EXPECT_EQ(found("key-too-long", kPlainTable, with_type("string")),
            Lines{"warning PAGE.x: x is in SK, which holds at most 1024 bytes, and has no limit of its own"});
  EXPECT_EQ(found("key-too-long", kPlainTable, with_type("{ type: string, max: 1100 }")),
            Lines{"error PAGE: SK of PAGE can have 1105 bytes, but holds at most 1024"});
  EXPECT_EQ(
      found("key-too-long", kPlainTable, with_type("{ type: string, max: 500 }")),
      Lines{"warning PAGE: SK of PAGE can have 2005 bytes, if its text has four bytes per character, but holds at most "
            "1024"});
  EXPECT_EQ(found("key-too-long", kPlainTable, with_type("url")),
            Lines{"error PAGE: SK of PAGE can have 2053 bytes, but holds at most 1024"});
  EXPECT_EQ(found("key-too-long", kPlainTable, with_type("{ type: string, max: 250 }")), Lines{});
  EXPECT_EQ(found("key-too-long", kPlainTable, with_type("{ type: string, pattern: '[a-z]{1,20}' }")), Lines{});
}

TEST(CheckKeys, WarnsOfFlagsThatAreSetByHand) {
  const auto with_flag = [](std::string_view type) {
    return found("settable-flag",
                 "\ntable: { name: Things, key: [PK, SK], indexes: { Public: { key: [shown, id] } } }\n",
                 fmt::format(R"yaml(
entities:
  LIST: {{ keys: {{ PK: "L#{{id}}", SK: "X" }}, attributes: {{ id: uuid, open: boolean, shown: {} }} }}
)yaml",
                             type));
  };
  EXPECT_EQ(with_flag("{ type: enum, values: ['true', 'false'] }"),
            Lines{"warning LIST.shown: shown is a flag for the sake of an index, set by hand: it can say something "
                  "else than the "
                  "attribute that it stands for"});
  EXPECT_EQ(with_flag("{ type: enum, values: ['true', 'false'], derived: \"if(open, 'true', null)\" }"), Lines{});
  EXPECT_EQ(with_flag("{ type: enum, values: [draft, live] }"), Lines{});
}

TEST(CheckKeys, WantsMoreThanATimeToTellRowsApart) {
  const auto with_key = [](std::string_view key) {
    return fmt::format(R"yaml(
entities:
  EVENT:
    keys: {{ PK: "USER#{{user}}", SK: "EVENT#{}" }}
    attributes:
      user: {{ type: string, max: 40 }}
      at: {{ type: timestamp, generated: now }}
      id: {{ type: ulid, generated: ulid }}
)yaml",
                       key);
  };
  EXPECT_EQ(found("key-not-unique", kPlainTable, with_key("{at}")),
            Lines{"error EVENT: the key of EVENT has the time at in it and no id of its own: of two in one moment, the "
                  "second is "
                  "refused or overwrites the first"});
  EXPECT_EQ(found("key-not-unique", kPlainTable, with_key("{at}#{id}")), Lines{});
  EXPECT_EQ(found("key-not-unique", kPlainTable, with_key("{at|day}")), Lines{});
}

TEST(CheckKeys, RefusesPrimaryKeysThatChange) {
  const auto with_attribute = [](std::string_view immutable) {
    return fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "SITE#{{site}}", SK: "PAGE#{{slug}}" }}
    attributes:
      site: uuid
      title: {{ type: string, max: 100{} }}
      slug: {{ type: string, max: 100, derived: "lower(title)" }}
)yaml",
                       immutable);
  };
  EXPECT_EQ(found("mutable-key", kPlainTable, with_attribute("")),
            Lines{"error PAGE.slug: slug names a PAGE, but changes by itself, and a primary key cannot change"});
  EXPECT_EQ(found("mutable-key", kPlainTable, with_attribute(", immutable: true")), Lines{});
}

// -------------------------------------------------------------------------------------------------------------- partitions

TEST(CheckPartitions, FindsHotOnes) {
  const auto with_key = [](std::string_view key) {
    return fmt::format(R"yaml(
entities:
  POST:
    keys: {{ PK: "POST#{{id}}", SK: "X", GSI1PK: "{}", GSI1SK: "{{at}}" }}
    attributes:
      id: {{ type: uuid, generated: uuid }}
      at: {{ type: timestamp, generated: now }}
      status: {{ type: enum, values: [draft, live], required: true }}
)yaml",
                       key);
  };
  EXPECT_EQ(
      found("hot-partition", kTable, with_key("POSTS")),
      Lines{
          "warning GSI1: every POST is in one partition of GSI1, and a partition takes at most 1,000 writes and 3,000 "
          "reads a second (GSI1PK 'POSTS')"});
  EXPECT_EQ(
      found("hot-partition", kTable, with_key("POSTS#{status}")),
      Lines{
          "warning GSI1: every POST is in one of 2 partitions of GSI1, and a partition takes at most 1,000 writes and "
          "3,000 reads a second (GSI1PK 'POSTS#{status}')"});
  EXPECT_EQ(found("hot-partition", kTable, with_key("POSTS#{shard:8}")), Lines{});
  EXPECT_EQ(found("hot-partition", kTable, with_key("POSTS#{id}")), Lines{});
  EXPECT_EQ(found("hot-partition", kPlainTable, R"yaml(
entities:
  SETTINGS: { keys: { PK: "SETTINGS", SK: "X" }, attributes: { theme: string } }
)yaml"),
            Lines{});  // one row is no load
}

TEST(CheckPartitions, FindsThoseThatGrowForEver) {
  const auto with_key = [](std::string_view key) {
    return fmt::format(R"yaml(
entities:
  LOG:
    append_only: true
    keys: {{ PK: "{}", SK: "{{id}}" }}
    attributes:
      user: {{ type: string, max: 40 }}
      id: {{ type: ulid, generated: ulid }}
      at: {{ type: timestamp, generated: now }}
)yaml",
                       key);
  };
  EXPECT_EQ(
      found("unbounded-partition", kPlainTable, with_key("USER#{user}")),
      Lines{
          "warning LOG: LOG is only ever added to, never expires, and all of it under 'USER#{user}' is one partition"});
  EXPECT_EQ(found("unbounded-partition", kPlainTable, with_key("USER#{user}#{at|month}")), Lines{});
}

TEST(CheckPartitions, RemembersTheLimitOfLocalIndexes) {
  constexpr std::string_view kEntities = R"yaml(
entities:
  URL: { keys: { PK: "SHOP#{shop}", SK: "URL#{id}" }, attributes: { shop: uuid, id: uuid, rank: integer } }
)yaml";
  EXPECT_EQ(found("collection-size", R"yaml(
table: { name: Things, key: [PK, SK], indexes: { ByRank: { local: "rank:N" } } }
)yaml",
                  kEntities),
            Lines{"warning ByRank: because ByRank is a local index, all rows under one PK may take 10 GB together, and "
                  "URL rows "
                  "have no bound"});
  EXPECT_EQ(found("collection-size", kPlainTable, kEntities), Lines{});
}

// ---------------------------------------------------------------------------------------------------------------- patterns

constexpr std::string_view kLibrary = R"yaml(
entities:
  LIBRARY:
    keys: { PK: "owner#{owner}", SK: "library#{library}" }
    attributes: { owner: uuid, library: uuid }
  ITEM:
    keys: { PK: "owner#{owner}", SK: "library#{library}#item#{item}" }
    attributes: { owner: uuid, library: uuid, item: uuid }
  EVENT:
    keys: { PK: "owner#{owner}", SK: "library#{library}#item#{item}#event#{id}" }
    attributes: { owner: uuid, library: uuid, item: uuid, id: ulid }
patterns:
)yaml";

Lines found_in_library(std::string_view code, std::string_view patterns) {
  return found(code, kPlainTable, fmt::format("{}{}", kLibrary, patterns));
}

TEST(CheckPatterns, FindsConditionsThatMatchTooMuch) {
  EXPECT_EQ(
      found_in_library("over-read", R"yaml(
  libraries: { query: { PK: "owner#{owner}", SK: { begins_with: "library#" } }, returns: LIBRARY }
)yaml"),
      Lines{"error libraries: its key condition also matches ITEM, EVENT, which it does not return: they are read, "
            "paid for, "
            "and fill pages (ITEM with SK 'library#00000000-0000-0000-0000-000000000000#item#"
            "00000000-0000-0000-0000-000000000000', EVENT with SK 'library#00000000-0000-0000-0000-000000000000#item#"
            "00000000-0000-0000-0000-000000000000#event#00000000000000000000000000')"});
  EXPECT_EQ(found_in_library("over-read", R"yaml(
  events:  { query: { PK: "owner#{owner}", SK: { begins_with: "library#{library}#item#{item}#event#" } }, returns: EVENT }
  library: { query: { PK: "owner#{owner}", SK: "library#{library}" }, returns: LIBRARY }
  all:     { query: { PK: "owner#{owner}" }, returns: [LIBRARY, ITEM, EVENT] }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, ReadsRangesAsTheyAre) {
  const auto range = [](std::string_view condition, std::string_view parameters) {
    return found_in_library("over-read", fmt::format(R"yaml(
  items:
    query: {{ PK: "owner#{{owner}}", SK: {} }}
    parameters: {{ {} }}
    returns: EVENT
)yaml",
                                                     condition, parameters))
        .size();
  };
  constexpr std::string_view kOne = "a: { type: ulid, required: true }";
  constexpr std::string_view kTwo = "a: { type: ulid, required: true }, b: { type: ulid, required: true }";
  // The same library and item in both bounds: nothing but that item's events lies between.
  EXPECT_EQ(
      range(
          R"yaml({ between: ["library#{library}#item#{item}#event#{a}", "library#{library}#item#{item}#event#{b}"] })yaml",
          kTwo),
      0);
  EXPECT_EQ(
      range(
          R"yaml({ from: "library#{library}#item#{item}#event#{a}", before: "library#{library}#item#{item}#event#{b}" })yaml",
          kTwo),
      0);
  // Without its upper bound, the range goes on behind the item.
  EXPECT_EQ(
      range(
          R"yaml({ from: "library#{library}#item#{item}#event#{a}", before: "library#{library}#item#{item}#event#{b}" })yaml",
          "a: { type: ulid, required: true }, b: ulid"),
      1);
  EXPECT_EQ(range(R"yaml({ at_least: "library#{library}#item#{item}#event#{a}" })yaml", kOne), 1);
  EXPECT_EQ(range(R"yaml({ less: "library#{library}#item#{item}#event#{a}" })yaml", kOne), 1);
}

TEST(CheckPatterns, ReadsEachAttributeOfAKeyOfSeveral) {
  const auto with = [](std::string_view query) {
    return found("over-read", R"yaml(
table:
  name: Things
  key: [PK, SK]
  indexes:
    Sales: { key: [[tenant, kind], [region, "year:N"]] }
)yaml",
                 fmt::format(R"yaml(
entities:
  ORDER:
    keys: {{ PK: "order#{{id}}", SK: "X", kind: "order" }}
    attributes: {{ id: uuid, tenant: {{ type: string, max: 9 }}, region: {{ type: enum, values: [eu, us] }}, year: integer }}
  REFUND:
    keys: {{ PK: "refund#{{id}}", SK: "X", kind: "refund" }}
    attributes: {{ id: uuid, tenant: {{ type: string, max: 9 }}, region: {{ type: enum, values: [eu, us] }}, year: integer }}
patterns:
  orders:
    query: {{ index: Sales, tenant: "{{tenant|raw}}", {} }}
    returns: ORDER
)yaml",
                             query));
  };
  EXPECT_EQ(with(R"yaml(kind: "order", region: "eu", year: { at_least: "2026" })yaml"), Lines{});
  EXPECT_EQ(with(R"yaml(kind: "refund", region: "eu")yaml"),
            Lines{"error orders: its key condition also matches REFUND, which it does not return: they are read, paid "
                  "for, and fill "
                  "pages (REFUND with tenant 'a', kind 'refund', region 'eu', year '0')"});
}

TEST(CheckPatterns, FindsConditionsThatNeverMatch) {
  EXPECT_EQ(found_in_library("under-read", R"yaml(
  items: { query: { PK: "owner#{owner}", SK: { begins_with: "item#" } }, returns: ITEM }
)yaml"),
            Lines{"error items: it never returns ITEM, which has no SK that matches 'item#' (SK of ITEM is "
                  "'library#{library}#item#{item}')"});
  EXPECT_EQ(found("under-read", kTable, fmt::format("{}{}", kLibrary, R"yaml(
  items: { query: { index: GSI1, GSI1PK: "x" }, returns: ITEM }
)yaml")),
            Lines{"error items: it never returns ITEM, which has no GSI1PK, and so is not in GSI1"});
  EXPECT_EQ(found_in_library("under-read", R"yaml(
  items: { query: { PK: "owner#{owner}", SK: { begins_with: "library#{library}#item#" } }, returns: ITEM }
)yaml"),
            Lines{});
}

constexpr std::string_view kFolders = R"yaml(
entities:
  FILE:
    keys: { PK: "user#{user}", SK: "{folder}#{name|sortable}" }
    attributes: { user: { type: string, max: 40 }, folder: { type: string, max: 40 }, name: { type: string, max: 40 } }
  SHARE:
    keys: { PK: "user#{user}#shared", SK: "{folder}" }
    attributes: { user: { type: string, max: 40 }, folder: { type: string, max: 40 } }
patterns:
)yaml";

Lines found_in_folders(std::string_view code, std::string_view patterns) {
  return found(code, kPlainTable, fmt::format("{}{}", kFolders, patterns));
}

TEST(CheckPatterns, FindsParametersThatForgeAKey) {
  EXPECT_EQ(
      found_in_folders("forged-key", R"yaml(
  files: { query: { PK: "user#{user|raw}" }, returns: FILE }
)yaml"),
      Lines{"error files: the parameter user is in its key condition as it is, so that a text with a separator in it "
            "reaches SHARE rows that it should not (PK 'user##shared', SK 'a')"});
  EXPECT_EQ(found_in_folders("forged-key", R"yaml(
  files: { query: { PK: "user#{user}" }, returns: FILE }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, WantsOperandsWrittenAsTheKeyIs) {
  EXPECT_EQ(found_in_folders("operand-mismatch", R"yaml(
  file: { query: { PK: "user#{user}", SK: "{folder}#{name}" }, returns: FILE }
)yaml"),
            Lines{"error file: it asks for {name} where the key of FILE has {name|sortable}: what is written "
                  "differently is not "
                  "found"});
  EXPECT_EQ(found_in_folders("operand-mismatch", R"yaml(
  file: { query: { PK: "user#{user}", SK: "{folder}#{name|sortable}" }, returns: FILE }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, WantsPrefixesToEndAtASeparator) {
  EXPECT_EQ(found_in_folders("open-prefix", R"yaml(
  files: { query: { PK: "user#{user}", SK: { begins_with: "{folder}" } }, returns: FILE }
)yaml"),
            Lines{"error files: its prefix ends inside {folder}: it also finds what only begins with the value that "
                  "was asked for "
                  "(who asks for 'a' also gets 'aa')"});
  EXPECT_EQ(found_in_folders("open-prefix", R"yaml(
  files: { query: { PK: "user#{user}", SK: { begins_with: "{folder}#" } }, returns: FILE }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, WarnsOfRangesOverText) {
  const auto with_type = [](std::string_view type) {
    return found("text-range", kPlainTable,
                 fmt::format(R"yaml(
entities:
  RUN: {{ keys: {{ PK: "SHOP#{{shop}}", SK: "{{at}}" }}, attributes: {{ shop: uuid, at: {0} }} }}
patterns:
  runs:
    query: {{ PK: "SHOP#{{shop}}", SK: {{ between: ["{{from}}", "{{to}}"] }} }}
    parameters: {{ from: {0}, to: {0} }}
    returns: RUN
)yaml",
                             type));
  };
  EXPECT_EQ(
      with_type("{ type: string, max: 30, required: true }"),
      Lines{"warning runs: it compares at of RUN as text of no fixed form: values of one meaning and two spellings lie "
            "apart, and an upper bound leaves out what only begins with it ('2023-01-31T10:00:00Z' is not between "
            "'2023-01-01' and '2023-01-31')"});
  EXPECT_EQ(with_type("{ type: timestamp, required: true }"), Lines{});
}

constexpr std::string_view kBooks = R"yaml(
entities:
  BOOK:
    keys: { PK: "user#{user}", SK: "book#{book}", GSI1PK: "user#{user}", GSI1SK: "{shelf}" }
    attributes:
      user: { type: string, max: 40 }
      book: { type: uuid, generated: uuid }
      title: { type: string, max: 100 }
      shelf: { type: string, max: 40, required: true }
patterns:
)yaml";

Lines found_in_books(std::string_view code, std::string_view patterns, std::string_view table = kTable) {
  return found(code, table, fmt::format("{}{}", kBooks, patterns));
}

TEST(CheckPatterns, WantsFiltersThatDynamoDbCanSay) {
  EXPECT_EQ(found_in_books("filter", R"yaml(
  books: { query: { PK: "user#{user}" }, returns: BOOK, filter: "fold(title) = 'x'" }
)yaml"),
            Lines{"error books: DynamoDB cannot say the filter 'fold(title) = 'x''"});
  EXPECT_EQ(found_in_books("filter", R"yaml(
  books: { query: { PK: "user#{user}" }, returns: BOOK, filter: "title = 'x'" }
)yaml"),
            Lines{});
  EXPECT_EQ(found("filter", "\ntable: { name: Things, key: [PK, SK], indexes: { ByShelf: { key: [shelf, title] } } }\n",
                  R"yaml(
entities:
  BOOK:
    keys: { PK: "book#{book}", SK: "X" }
    attributes: { book: uuid, title: { type: string, max: 9 }, shelf: { type: string, max: 9 } }
patterns:
  books: { query: { index: ByShelf, shelf: "{shelf|raw}" }, returns: BOOK, filter: "title = 'x'" }
)yaml"),
            Lines{"error books: DynamoDB does not filter by title, a key attribute of ByShelf"});
}

TEST(CheckPatterns, WarnsOfFiltersThatShouldBeKeys) {
  EXPECT_EQ(found_in_books("filtered-read", R"yaml(
  books: { query: { PK: "user#{user}" }, returns: BOOK, filter: "title = :title" }
)yaml"),
            Lines{"warning books: no key serves 'title = :title': all rows of the key condition are read, and those "
                  "that do not "
                  "match are thrown away"});
  EXPECT_EQ(found_in_books("filtered-read", R"yaml(
  books: { query: { PK: "user#{user}" }, returns: BOOK, filter: "attribute_exists(title)" }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, WantsIndexesToHoldWhatIsReturned) {
  constexpr std::string_view kPatterns = R"yaml(
  books: { query: { index: GSI1, GSI1PK: "user#{user}" }, returns: BOOK, filter: "attribute_exists(title)" }
)yaml";
  const auto table = [](std::string_view projection) {
    return fmt::format(
        "\ntable: {{ name: Things, key: [PK, SK], indexes: {{ GSI1: {{ key: [GSI1PK, GSI1SK], projection: {} }} }} "
        "}}\n",
        projection);
  };
  EXPECT_EQ(found_in_books("projection", kPatterns, table("keys")),
            (Lines{"error books: GSI1 does not hold title, which it needs to tell, filter, nest or join what it reads",
                   "warning books: GSI1 does not hold user, book, title, shelf: its answers lack them"}));
  EXPECT_EQ(found_in_books("projection", kPatterns, table("[EntityType, user, book, title, shelf]")), Lines{});
  EXPECT_EQ(found_in_books("projection", kPatterns, table("all")), Lines{});
}

TEST(CheckPatterns, WantsOneRowToBeTheOnlyOne) {
  const auto with = [](std::string_view unique) {
    return found("not-unique", "\ntable: { name: Things, key: [PK, SK], indexes: { ByEmail: { key: [email] } } }\n",
                 fmt::format(R"yaml(
entities:
  USER:
    keys: {{ PK: "user#{{id}}", SK: "X" }}
    attributes: {{ id: uuid, email: {{ type: email, required: true{} }} }}
patterns:
  user:     {{ query: {{ PK: "user#{{id}}", SK: "X" }}, returns: USER, single: true }}
  by_email: {{ query: {{ index: ByEmail, email: "{{email|raw}}" }}, returns: USER, single: true }}
)yaml",
                             unique));
  };
  EXPECT_EQ(with(""),
            Lines{"error by_email: it promises one USER, but nothing keeps email unique: an index takes any number of "
                  "rows with one key"});
  EXPECT_EQ(with(", unique_within: table"), Lines{});
}

TEST(CheckPatterns, WarnsOfRowsThatSilentlyAreNotInAnIndex) {
  const auto with = [](std::string_view key, std::string_view type) {
    return found("sparse-index", kTable,
                 fmt::format(R"yaml(
entities:
  SHOP:
    keys: {{ PK: "SHOP#{{shop}}", SK: "X", GSI1PK: "SHOPS#{{shard:2}}", GSI1SK: {} }}
    attributes: {{ shop: uuid, crawled: {} }}
patterns:
  shops: {{ query: {{ index: GSI1, GSI1PK: "SHOPS#{{shard:2}}" }}, returns: SHOP }}
)yaml",
                             key, type));
  };
  EXPECT_EQ(with("\"{crawled}\"", "timestamp"),
            Lines{"warning shops: a SHOP without crawled is not in GSI1, and so is never returned"});
  EXPECT_EQ(with("\"{crawled}\"", "{ type: timestamp, required: true }"), Lines{});
  EXPECT_EQ(with("[\"{crawled}\", \"never\"]", "timestamp"), Lines{});
  EXPECT_EQ(with("{ key: \"{crawled}\", when: \"attribute_exists(crawled)\" }", "timestamp"), Lines{});
}

TEST(CheckPatterns, ProvesThePromisedOrder) {
  const auto with = [](std::string_view attribute) {
    return found_in_books("not-sorted", fmt::format(R"yaml(
  books: {{ query: {{ index: GSI1, GSI1PK: "user#{{user}}" }}, returns: BOOK, sorted_by: {} }}
)yaml",
                                                    attribute));
  };
  EXPECT_EQ(with("title"), Lines{"error books: it promises BOOK sorted by title, but GSI1 sorts them by shelf"});
  EXPECT_EQ(with("shelf"), Lines{});
}

TEST(CheckPatterns, WarnsWhenMorePeopleMayListThanMayRead) {
  const auto with = [](std::string_view rest) {
    return found("wider-access", kPlainTable,
                 fmt::format(R"yaml(
entities:
  NOTE:
    owner: user
    keys: {{ PK: "user#{{user}}", SK: "note#{{note}}" }}
    attributes: {{ user: {{ type: string, max: 40 }}, note: uuid, open: boolean }}
patterns:
  notes: {{ query: {{ PK: "user#{{user}}" }}, returns: NOTE{} }}
)yaml",
                             rest));
  };
  EXPECT_EQ(with(", access: public"),
            Lines{"warning notes: more people may run it than may read a NOTE, and nothing in it leaves "
                  "out what they may not see"});
  EXPECT_EQ(with(", access: public, filter: \"open = true\""), Lines{});
  EXPECT_EQ(with(""), Lines{});
}

TEST(CheckPatterns, ProvesThatChildrenFollowTheirParent) {
  const auto with = [](std::string_view parent, std::string_view child, std::string_view unique) {
    return found("nest-order", kTable,
                 fmt::format(R"yaml(
entities:
  SERIES:
    keys: {{ PK: "user#{{user}}", SK: "series#{{series}}", GSI1PK: "user#{{user}}", GSI1SK: "{}" }}
    attributes: {{ user: uuid, series: uuid, name: {{ type: string, min: 1, max: 50{} }} }}
  BOOK:
    keys: {{ PK: "user#{{user}}", SK: "book#{{book}}", GSI1PK: "user#{{user}}", GSI1SK: "{}" }}
    parents: {{ series: {{ entity: SERIES }} }}
    attributes: {{ user: uuid, series: uuid, book: uuid, seriesName: {{ copy_of: series.name }} }}
patterns:
  shelf:
    query: {{ index: GSI1, GSI1PK: "user#{{user}}" }}
    returns: [SERIES, BOOK]
    nest: {{ parent: SERIES, children: BOOK, relation: series, as: books }}
)yaml",
                             parent, unique, child));
  };
  constexpr std::string_view kUnique = ", unique_within: user";
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}#{book}", kUnique), Lines{});
  EXPECT_EQ(with("{name|raw}", "{seriesName|raw}#{book}", kUnique),
            Lines{"error shelf: another SERIES whose name goes on where this one ends falls between it and its BOOK"});
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}+{book}", kUnique),
            Lines{"error shelf: another SERIES whose name goes on where this one ends falls between it and its BOOK"});
  EXPECT_EQ(with("{name|sortable}", "{book}", kUnique), Lines{"error shelf: GSI1SK of BOOK does not begin with that of "
                                                              "its SERIES, so that the order of keys does not bring "
                                                              "them together"});
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}#{book}", ""),
            Lines{"error shelf: two SERIES can have the same GSI1SK, and then their children are mixed"});
}

TEST(CheckPatterns, FindsIndexesThatNobodyReads) {
  EXPECT_EQ(found_in_books("unused-index", R"yaml(
  books: { query: { PK: "user#{user}" }, returns: BOOK }
)yaml"),
            Lines{"warning GSI1: no pattern reads GSI1, and every write pays for it"});
  EXPECT_EQ(found_in_books("unused-index", R"yaml(
  books: { query: { index: GSI1, GSI1PK: "user#{user}" }, returns: BOOK }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, FindsRowsThatLieInAnIndexForNothing) {
  const auto with = [](std::string_view patterns) {
    return found("unread-rows",
                 "\ntable: { name: Things, key: [PK, SK], indexes: { ByState: { key: [state, at] } } }\n",
                 fmt::format(R"yaml(
entities:
  TASK:
    keys: {{ PK: "task#{{id}}", SK: "X" }}
    attributes: {{ id: uuid, at: {{ type: timestamp, generated: now }}, state: {{ type: enum, values: [open, done], required: true }} }}
patterns:
  open: {{ query: {{ index: ByState, state: "open" }}, returns: TASK }}
{}
)yaml",
                             patterns));
  };
  EXPECT_EQ(with(""), Lines{"warning ByState: TASK with state 'done' is in ByState, and no pattern reads it there"});
  EXPECT_EQ(with("  done: { query: { index: ByState, state: \"done\" }, returns: TASK }"), Lines{});
}

// ------------------------------------------------------------------------------------------------------------------- rules

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
  EXPECT_EQ(with("item#{item}", "cascade"), Lines{"error ITEM.list: to delete the ITEM of a LIST, somebody must find "
                                                  "them, but no partition key of the table or "
                                                  "an index follows from the LIST"});
  EXPECT_EQ(with("item#{item}", "nothing"), Lines{});
  EXPECT_EQ(with("list#{list}", "cascade"), Lines{});
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
            Lines{"error Things: what follows a change through ITEM.list needs the row before and after it, and the "
                  "table's stream "
                  "has not both"});
  EXPECT_EQ(found("stream-view", kPlainTable, kEntities), Lines{});
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

// -------------------------------------------------------------------------------------------------------------- acceptance

TEST(CheckAcceptance, MarksWhatIsAcceptedAndTellsOfWhatIsNot) {
  const auto with = [](std::string_view code, std::string_view on) {
    return found(code, kTable,
                 fmt::format(R"yaml(
entities:
  POST:
    keys: {{ PK: "POST#{{id}}", SK: "X", GSI1PK: "POSTS", GSI1SK: "{{id}}" }}
    attributes: {{ id: {{ type: uuid, generated: uuid }} }}
patterns:
  posts: {{ query: {{ index: GSI1, GSI1PK: "POSTS" }}, returns: POST }}
accept:
  - {{ finding: hot-partition, on: {}, because: "ten posts a day" }}
)yaml",
                             on));
  };
  EXPECT_EQ(with("hot-partition", "GSI1"), Lines{"accepted warning GSI1: every POST is in one partition of GSI1, and a "
                                                 "partition takes at most 1,000 writes and "
                                                 "3,000 reads a second (GSI1PK 'POSTS')"});
  EXPECT_EQ(with("stale-acceptance", "GSI1"), Lines{});
  EXPECT_EQ(with("stale-acceptance", "GSI2"),
            Lines{"warning hot-partition: there is no finding hot-partition on GSI2 to accept"});
  EXPECT_FALSE(has_errors(check(load_or_fail(fmt::format("model: test\n{}{}", kPlainTable, R"yaml(
entities:
  A: { keys: { PK: "K#{x}", SK: "X" }, attributes: { x: uuid } }
  B: { keys: { PK: "K#{x}", SK: "X" }, attributes: { x: uuid } }
accept:
  - { finding: key-collision, because: "ids come from one place" }
)yaml")))));
}

}  // namespace
}  // namespace stator::model
