#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

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
  EXPECT_EQ(with("x", "{ type: string, pattern: 'ä+' }", "ää"), 1);
  EXPECT_EQ(with("x|sortable", "{ type: string, pattern: 'café|thé' }", "cafe"), 1);
  EXPECT_EQ(with("x", "{ type: string, pattern: 'café|thé' }", "cafe"), 0);
  EXPECT_EQ(with("x|sortable", "{ type: string, pattern: 'cafe|the' }", "mate"), 0);
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
  EXPECT_EQ(with("{a}:{b}", "{ type: string, max: 50 }"),
            Lines{"error PAGE.a: SK of PAGE has ':' behind a, whose text can hold the same: two different rows can "
                  "have the same key (':')"});
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
  EXPECT_EQ(with("{a|raw}#{b|raw}", "{ type: string, max: 50 }").size(), 1) << "'x#y' and 'z', 'x' and 'y#z'";
  EXPECT_EQ(with("{a|raw}#{b}", "{ type: string, max: 50 }"), Lines{}) << "the last one separates";
  EXPECT_EQ(with("{b}:{a}", "uuid"), Lines{}) << "what has one length ends where the key does";
}

TEST(CheckKeys, FindsTextsThatMeetTheirSeparator) {
  const auto with = [](std::string_view separator, std::string_view a, std::string_view b) {
    return found("forgeable-separator", kPlainTable,
                 fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "P#{{a}}{}{{b}}", SK: "X" }}
    attributes: {{ a: {{ type: string, max: 20, pattern: "{}" }}, b: {{ type: string, max: 20, pattern: "{}" }} }}
)yaml",
                             separator, a, b));
  };
  EXPECT_EQ(with("--", "[a-z]+-?", "-?[a-z]+"),
            Lines{"error PAGE.a: PK of PAGE has '--' behind a, whose text can end with a part of it: two different "
                  "rows can have the same key ('a-')"});
  EXPECT_EQ(with("-a-", "[b-z]+(-a)?", "(a-)?[b-z]+").size(), 1U);
  EXPECT_EQ(with("--", "[a-z]+-?", "[a-z]+"), Lines{}) << "b begins where the dashes end";
  EXPECT_EQ(with("--", "[a-z]+", "-?[a-z]+"), Lines{}) << "a ends where the dashes begin";
  EXPECT_EQ(with("-:", "[a-z]+-?", "-?[a-z]+"), Lines{}) << "there is one colon";
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
  EXPECT_EQ(
      found("forged-key", kPlainTable, with_hole("name|raw")),
      Lines{
          "error TOPIC.name: name is in the key of TOPIC as it is: a value that contains a separator can give a TOPIC "
          "the key of a POST in Things (PK 'FORUM', SK 'topic#a#post#000')"});
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("name")), Lines{});
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("name|sortable")), Lines{});
}

TEST(CheckKeys, FindsTextsThatForgeAKeyTogether) {
  const auto with_hole = [](std::string_view hole) {
    return fmt::format(R"yaml(
entities:
  LABEL:
    keys: {{ PK: "{{zone|raw}}", SK: "{{{}}}" }}
    attributes: {{ zone: {{ type: string, max: 40 }}, bay: {{ type: string, max: 40 }} }}
  DRIVER:
    keys: {{ PK: "DRIVER#{{d}}", SK: "PROFILE#{{d}}" }}
    attributes: {{ d: {{ type: string, max: 20 }} }}
)yaml",
                       hole);
  };
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("bay|raw")),
            (Lines{"error LABEL.zone: zone is in the key of LABEL as it is: a value that contains a separator can give "
                   "a LABEL the key of a DRIVER in Things (PK 'DRIVER#', SK 'PROFILE#')",
                   "error LABEL.bay: bay is in the key of LABEL as it is: a value that contains a separator can give a "
                   "LABEL the key of a DRIVER in Things (PK 'DRIVER#', SK 'PROFILE#')"}));
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("bay")), Lines{});
}

TEST(CheckKeys, FindsTextThatForgesAReservation) {
  const auto with_hole = [](std::string_view hole) {
    return fmt::format(R"yaml(
entities:
  PAGE: {{ keys: {{ PK: "{{{}}}", SK: "unique" }}, attributes: {{ slug: {{ type: string, max: 200 }} }} }}
  USER:
    keys: {{ PK: "user#{{id}}", SK: "user" }}
    attributes: {{ id: uuid, nick: {{ type: string, min: 1, max: 40, unique_within: table }} }}
)yaml",
                       hole);
  };
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("slug|raw")),
            Lines{"error PAGE.slug: slug is in the key of PAGE as it is: a value that contains a separator can give a "
                  "PAGE the key of a reservation of USER in Things (PK 'unique#test#USER.nick@#a', SK 'unique')"});
  EXPECT_EQ(found("forged-key", kPlainTable, with_hole("slug")), Lines{});
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
  EXPECT_EQ(found("text-order", kPlainTable, with_hole("set|raw")),
            Lines{"error PART.set: set is in SK as it is, and its text can have characters that sort before the '#' "
                  "behind it: rows that belong together are not adjacent ('a b' lies between 'a' and 'a#')"});
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
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n", "{ type: integer, min: 50, max: 200 }")),
            Lines{"error PAGE.n: SK sorts by n as text, so that 100 comes before 99 ('100' sorts before '99')"});
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n", "{ type: integer, min: -5, max: 5 }")),
            Lines{"error PAGE.n: SK sorts by n as text, so that -1 comes before -2 ('-1' sorts before '-2')"});
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n", "{ type: integer, min: 1, max: 5 }")), Lines{});
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n", "{ type: integer, min: 1900, max: 2100 }")), Lines{});
  EXPECT_EQ(found("unpadded-number", kPlainTable, with_hole("n:04", "{ type: integer, min: 0, max: 9999 }")), Lines{});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: integer, min: 0, max: 9999 }")), Lines{});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: integer, min: 0, max: 10000 }")),
            Lines{"error PAGE.n: n can be 10000, which does not fit the 4 digits it has in SK"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: integer, min: -1, max: 9 }")),
            Lines{"error PAGE.n: n is padded in SK, but can be negative, and negative numbers cannot be padded"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: number, min: 0, max: 9 }")),
            Lines{"error PAGE.n: n is padded in SK, but can be a fraction, and fractions cannot be padded"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: number, step: 0.5, min: 0, max: 9 }")).size(), 1U);
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: number, step: 5, min: 0, max: 9 }")), Lines{});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "{ type: string, max: 4 }")),
            Lines{"error PAGE.n: n is padded in SK, but is no number, and only numbers can be padded"});
  EXPECT_EQ(found("padding", kPlainTable, with_hole("n:04", "integer")),
            Lines{"warning PAGE.n: n has 4 digits in SK, but no rule limits it to 0 to 9999"});
}

TEST(CheckKeys, AsksCountersForAMaxOnly) {
  const auto with = [](std::string_view words) {
    return found("padding", kTable,
                 fmt::format(R"yaml(
entities:
  LIST:
    keys: {{ PK: "list#{{list}}", SK: "list", GSI1PK: "lists", GSI1SK: "{{items:04}}#{{last:04}}" }}
    attributes: {{ list: uuid, items: {{ count: ITEM.list{0} }}, last: {{ last: true{0} }} }}
  ITEM:
    keys: {{ PK: "list#{{list}}", SK: "item#{{number:04}}" }}
    parents: {{ list: {{ entity: LIST, on_delete: cascade }} }}
    attributes: {{ list: uuid, number: {{ next: {{ by: list.last }}{0} }} }}
)yaml",
                             words));
  };
  EXPECT_EQ(with(""), (Lines{"warning LIST.items: items has 4 digits in GSI1SK, but no rule limits it to at most 9999",
                             "warning LIST.last: last has 4 digits in GSI1SK, but no rule limits it to at most 9999",
                             "warning ITEM.number: number has 4 digits in SK, but no rule limits it to at most 9999"}));
  EXPECT_EQ(with(", max: 9999"), Lines{});
}

TEST(CheckKeys, AdvisesAsManyDigitsAsTheMaxHas) {
  const auto model = load_or_fail(R"yaml(
model: test
table: { name: Things, key: [PK, SK] }
entities:
  PAGE: { keys: { PK: "BOOK#{id}", SK: "PAGE#{n}" }, attributes: { id: uuid, n: { type: integer, min: 0, max: 12345678 } } }
)yaml");
  const auto diagnostics = check(model);
  const auto found = std::ranges::find(diagnostics, "unpadded-number", &Diagnostic::code);
  ASSERT_NE(found, diagnostics.end());
  EXPECT_EQ(found->fix, "pad it to the digits of its largest value: {n:08}");
}

TEST(CheckKeys, KnowsWhichValuesThereAre) {
  const auto with = [](std::string_view hole, std::string_view type, std::string_view other) {
    return found("key-collision", kPlainTable,
                 fmt::format(R"yaml(
entities:
  A: {{ keys: {{ PK: "{}", SK: "X" }}, attributes: {{ k: {} }} }}
  B: {{ keys: {{ PK: "{}", SK: "X" }}, attributes: {{}} }}
)yaml",
                             hole, type, other))
        .size();
  };
  EXPECT_EQ(with("{k}", "{ type: string, min: 4, max: 10 }", "ABCDEFGHIJ"), 1U);
  EXPECT_EQ(with("{k}", "{ type: string, min: 4, max: 10 }", "ABCDEFGHIJK"), 0U);
  EXPECT_EQ(with("{k}", "{ type: string, min: 4, max: 10 }", "ABC"), 0U);
  EXPECT_EQ(with("{k}", "{ type: string, max: 10, lower: true }", "abc"), 1U);
  EXPECT_EQ(with("{k}", "{ type: string, max: 10, lower: true }", "Abc"), 0U);
  EXPECT_EQ(with("{k|raw}", "{ type: string, pattern: '(?i)abc\\d{2,3}' }", "aBC12"), 1U);
  EXPECT_EQ(with("{k|raw}", "{ type: string, pattern: '(?i)abc\\d{2,3}' }", "ABC1"), 0U);
  EXPECT_EQ(with("{k}", "{ type: integer, min: 7, max: 120 }", "120"), 1U);
  EXPECT_EQ(with("{k}", "{ type: integer, min: 7, max: 120 }", "77"), 1U);
  for (const auto* other : {"6", "06", "121", "1000", "-8"}) {
    EXPECT_EQ(with("{k}", "{ type: integer, min: 7, max: 120 }", other), 0U) << other;
  }
  EXPECT_EQ(with("{k}", "{ type: integer, min: -7, max: 120 }", "-8"), 1U) << "below zero the bound is not looked at";
  EXPECT_EQ(with("{k:03}", "{ type: integer, min: 7, max: 50 }", "007"), 1U);
  EXPECT_EQ(with("{k:03}", "{ type: integer, min: 7, max: 50 }", "051"), 0U);
  EXPECT_EQ(with("{k:03}", "{ type: integer, min: 7, max: 50 }", "006"), 0U);
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
  EXPECT_EQ(found("key-too-long", kPlainTable, with_type("{ type: string, max: 500, pattern: '[^ -/]*' }")).size(), 1U)
      << "characters of four bytes";
}

TEST(CheckKeys, TakesTheLimitOfAParentThatIsNamed) {
  const auto with = [](std::string_view name, std::string_view relation) {
    return found("key-too-long", kPlainTable,
                 fmt::format(R"yaml(
entities:
  USER: {{ owner: user, keys: {{ PK: "user#{{user}}", SK: "user" }}, attributes: {{ user: string }} }}
  REPO:
    parents: {{ by: {{ entity: USER }} }}
    keys: {{ PK: "repo#{{user}}#{{repo}}", SK: "repo" }}
    attributes: {{ user: string, repo: {} }}
  ISSUE:
    parents: {{ repo: {{ entity: REPO, by: {{ user: whose, repo: of }}{} }} }}
    keys: {{ PK: "repo#{{whose}}#{{of}}", SK: "issue#{{issue}}" }}
    attributes: {{ whose: string, of: string, issue: uuid }}
)yaml",
                             name, relation));
  };
  EXPECT_EQ(with("{ type: string, max: 100 }", ""), Lines{});
  EXPECT_EQ(with("{ type: string, max: 100 }", ", must_exist: false").size(), 1U) << "nobody compares it";
  EXPECT_EQ(with("string", "").size(), 2U);
  EXPECT_EQ(with("{ type: string, max: 2040 }", "").size(), 2U) << "it is too long in the child as well";
}

TEST(CheckKeys, ComputesHowLongAReservationCanBecome) {
  const auto with_type = [](std::string_view type) {
    return found("key-too-long", kPlainTable,
                 fmt::format(R"yaml(
entities:
  PAGE:
    keys: {{ PK: "PAGE#{{page}}", SK: "X" }}
    unique: [ {{ attributes: [name], within: [site] }} ]
    attributes: {{ page: uuid, site: uuid, name: {} }}
)yaml",
                             type));
  };
  EXPECT_EQ(
      with_type("string"),
      Lines{"warning PAGE.name: name is in the reservation of name, whose key holds at most 2048 bytes, and has no "
            "limit of its own"});
  EXPECT_EQ(
      with_type("{ type: string, max: 5000 }"),
      Lines{"error PAGE: the key of the reservation of name of PAGE can have 5064 bytes, but holds at most 2048"});
  EXPECT_EQ(with_type("{ type: string, max: 1000 }"),
            Lines{"warning PAGE: the key of the reservation of name of PAGE can have 4064 bytes, if its text has four "
                  "bytes per character, but holds at most 2048"});
  EXPECT_EQ(with_type("url").size(), 1U);
  EXPECT_EQ(with_type("{ type: string, max: 400 }"), Lines{});
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
            Lines{"warning LIST.shown: shown is a flag for an index and is set by hand: it can contradict the "
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
            Lines{"error EVENT: the key of EVENT has the time at and no id: if two are created in one moment, the "
                  "second is refused or overwrites the first"});
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

TEST(CheckKeys, WantsThePlaceOfARowToFollowFromItsName) {
  const auto with = [](std::string_view records) {
    return found("unnamed-key", kPlainTable,
                 fmt::format(R"yaml(
entities:
  MAIL:
    {}
    attributes: {{ user: uuid, id: ulid, kind: {{ type: enum, values: [a, b] }}, trashed: boolean }}
)yaml",
                             records));
  };
  EXPECT_EQ(
      with(R"(keys: { PK: [ { key: "TRASH#{user}", when: "trashed = true" }, "USER#{user}" ], SK: "MAIL#{id}" })"),
      Lines{"error MAIL.trashed: the PK of a MAIL depends on trashed, which is not in its primary key: a request that "
            "names the row looks in another place"});
  EXPECT_EQ(
      with(R"(keys: { PK: "USER#{user}", SK: [ { key: "A#{kind}#{id}", when: "kind = 'a'" }, "B#{kind}#{id}" ] })"),
      Lines{});
  EXPECT_EQ(with(R"(records:
      main: { keys: { PK: "USER#{user}", SK: "MAIL#{id}" } }
      trash: { keys: { PK: [ { key: "A#{user}", when: "kind = 'a'" }, "B#{user}" ], SK: "{id}" }, when: "trashed = true" })"),
            Lines{});
}

TEST(CheckKeys, WarnsOfPathsThatOnlyTheOwnerCanUse) {
  const auto with = [](std::string_view path, std::string_view read, std::string_view partition,
                       std::string_view list = "/posts", std::string_view asked = "user#{me}") {
    return found("unreadable", kPlainTable,
                 fmt::format(R"yaml(
entities:
  POST:
    path: {}
    owner: user
    access: {{ read: {}, write: owner }}
    keys: {{ PK: "{}", SK: "post#{{id}}" }}
    attributes: {{ user: {{ type: string, max: 40 }}, id: {{ type: ulid, generated: ulid }}, open: boolean }}
patterns:
  posts: {{ get: "{}", query: {{ PK: "{}" }}, returns: POST, parameters: {{ {} }} }}
)yaml",
                             path, read, partition, list, asked,
                             asked.find("whose") == std::string_view::npos ? "" : "whose: string"));
  };
  EXPECT_EQ(with("/posts/{id}", "{ public: 'open = true' }", "user#{user}"),
            Lines{"warning POST: callers other than its owner may read a POST, but the path does not name the owner, "
                  "and its key is made from user: they always get 404"});
  EXPECT_EQ(with("/posts/{id}", "signed-in", "user#{user}").size(), 1U);
  EXPECT_EQ(with("/users/{user}/posts/{id}", "public", "user#{user}"), Lines{});
  EXPECT_EQ(with("/posts/{id}", "public", "user#{user}", "/users/{user}/posts", "user#{user}"), Lines{})
      << "others use the list";
  EXPECT_EQ(with("/posts/{id}", "public", "user#{user}", "/people/{whose}/posts", "user#{whose}"), Lines{});
  EXPECT_EQ(with("/posts/{id}", "public", "posts", "/posts", "posts"), Lines{});
  EXPECT_EQ(with("/posts/{id}", "owner", "user#{user}"), Lines{});
}

}  // namespace
}  // namespace stator::model
