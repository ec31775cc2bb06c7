#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

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

TEST(CheckPatterns, TakesABoundForAllKeysThatBeginWithIt) {
  EXPECT_EQ(found("under-read", kPlainTable, R"yaml(
entities:
  BOOK: { keys: { PK: "user#{user}", SK: "{kind}#{book}" }, attributes: { user: uuid, book: uuid, kind: { type: enum, values: [novel] } } }
patterns:
  up_to: { query: { PK: "user#{user}", SK: { at_most: "{kind}" } }, returns: BOOK }
  behind: { query: { PK: "user#{user}", SK: { greater: "{kind}" } }, returns: BOOK }
)yaml"),
            Lines{"error behind: it never returns BOOK, which has no SK that matches '{kind}' (SK of BOOK is "
                  "'{kind}#{book}')"});
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

TEST(CheckPatterns, FindsParametersThatForgeAKeyTogether) {
  const auto with_bay = [](std::string_view bay) {
    return found("forged-key", kPlainTable,
                 fmt::format(R"yaml(
entities:
  LABEL:
    keys: {{ PK: "LABEL#{{zone}}", SK: "{{bay}}" }}
    attributes: {{ zone: {{ type: string, max: 40 }}, bay: {{ type: string, max: 40 }} }}
  DRIVER:
    keys: {{ PK: "LABEL#X#{{d}}", SK: "PROFILE#{{d}}" }}
    attributes: {{ d: {{ type: string, max: 20 }} }}
patterns:
  label: {{ query: {{ PK: "LABEL#{{zone|raw}}", SK: "{{{}}}" }}, returns: LABEL }}
)yaml",
                             bay));
  };
  EXPECT_EQ(with_bay("bay|raw"),
            (Lines{"error label: the parameter zone is in its key condition as it is, so that a text with a separator "
                   "in it reaches DRIVER rows that it should not (PK 'LABEL#X#', SK 'PROFILE#')",
                   "error label: the parameter bay is in its key condition as it is, so that a text with a separator "
                   "in it reaches DRIVER rows that it should not (PK 'LABEL#X#', SK 'PROFILE#')"}));
  EXPECT_EQ(with_bay("bay"), Lines{});
}

TEST(CheckPatterns, WantsOperandsWrittenAsTheKeyIs) {
  EXPECT_EQ(found_in_folders("operand-mismatch", R"yaml(
  file: { query: { PK: "user#{user}", SK: "{folder}#{name}" }, returns: FILE }
)yaml"),
            Lines{"error file: it asks for {name} where the key of FILE has {name|sortable}: a value that is written "
                  "in another way is not found"});
  EXPECT_EQ(found_in_folders("operand-mismatch", R"yaml(
  file: { query: { PK: "user#{user}", SK: "{folder}#{name|sortable}" }, returns: FILE }
)yaml"),
            Lines{});
}

TEST(CheckPatterns, WantsBoundsWrittenAsTheKeyIs) {
  const auto with = [](std::string_view kept, std::string_view asked, std::string_view type) {
    return found("operand-mismatch", kPlainTable,
                 fmt::format(R"yaml(
entities:
  TRIP:
    keys: {{ PK: "user#{{user}}", SK: "{}#{{id}}" }}
    attributes: {{ user: uuid, id: uuid, miles: {{ type: integer, min: 0, max: 9999 }}, at: timestamp, no: ulid }}
patterns:
  trips: {{ query: {{ PK: "user#{{user}}", SK: {{ at_least: "{}" }} }}, parameters: {{ low: {} }}, returns: TRIP }}
)yaml",
                             kept, asked, type));
  };
  EXPECT_EQ(with("{miles:04}", "{low}", "integer"),
            Lines{"error trips: it asks for {low} where the key of TRIP has {miles:04}: a value that is written in "
                  "another way is not found"});
  EXPECT_EQ(with("{miles:04}", "{low:04}", "integer"), Lines{});
  EXPECT_EQ(with("{no|sortable}", "{low}", "ulid").size(), 1U);
  EXPECT_EQ(
      with("{at|day}", "{low}", "timestamp"),
      Lines{"error trips: it compares {low} with {at|day}, but the key of TRIP has a less exact time: rows of the same "
            "time are not found (a request from '2023-01-31T00:00:00.000Z' on does not return '2023-01-31')"});
  EXPECT_EQ(with("{at|day}", "{low}", "date"), Lines{});
  EXPECT_EQ(with("{at|day}", "{low|month}", "date"), Lines{});
  EXPECT_EQ(with("{at}", "{low}", "date"), Lines{});
}

TEST(CheckPatterns, WantsBoundsOfTheTypeThatTheKeyHas) {
  const auto with = [](std::string_view type) {
    return found("operand-mismatch", kPlainTable,
                 fmt::format(R"yaml(
entities:
  EVENT:
    keys: {{ PK: "user#{{user}}", SK: "event#{{id}}" }}
    attributes: {{ user: uuid, id: ulid }}
patterns:
  events:
    query: {{ PK: "user#{{user}}", SK: {{ from: "event#{{since}}", before: "event#{{until}}" }} }}
    parameters: {{ since: {0}, until: {0} }}
    returns: EVENT
)yaml",
                             type));
  };
  EXPECT_EQ(with("timestamp"), (Lines{"error events: it compares {since}, of type timestamp, with {id} in the key of "
                                      "EVENT, of type ulid: no text is of both types, so it finds all rows or none",
                                      "error events: it compares {until}, of type timestamp, with {id} in the key of "
                                      "EVENT, of type ulid: no text is of both types, so it finds all rows or none"}));
  EXPECT_EQ(with("ulid"), Lines{});
  EXPECT_EQ(with("string"), Lines{}) << "it can be one";
}

TEST(CheckPatterns, LetsOperandsDifferWhereTheirTextsDoNot) {
  const auto with = [](std::string_view kept, std::string_view asked, std::string_view type) {
    return found("operand-mismatch", kTable,
                 fmt::format(R"yaml(
entities:
  BILL: {{ keys: {{ PK: "BILL#{{id}}", SK: "X", GSI1PK: "{}", GSI1SK: "{{id}}" }}, attributes: {{ id: uuid, x: {} }} }}
patterns:
  bills: {{ query: {{ index: GSI1, GSI1PK: "{}" }}, returns: BILL }}
)yaml",
                             kept, type, asked))
        .size();
  };
  EXPECT_EQ(with("{x|raw}", "{x}", "{ type: enum, values: [eu, us] }"), 0U);
  EXPECT_EQ(with("{x|sortable}", "{x}", "{ type: enum, values: [eu, us] }"), 0U);
  EXPECT_EQ(with("{x|raw}", "{x}", "{ type: enum, values: [eu, 'u s'] }"), 1U);
  EXPECT_EQ(with("{x|sortable}", "{x}", "{ type: enum, values: [eu, US] }"), 1U);
  EXPECT_EQ(with("{x|raw}", "{x}", "{ type: string, pattern: '[A-Z]+' }"), 0U);
  EXPECT_EQ(with("{x|sortable}", "{x}", "{ type: string, pattern: '[a-z]+' }"), 0U);
  EXPECT_EQ(with("{x|sortable}", "{x}", "{ type: string, pattern: '[A-Za-z]+' }"), 1U);
  EXPECT_EQ(with("{x|sortable}", "{x}", "ulid"), 1U);
  EXPECT_EQ(with("{x|sortable}", "{x}", "uuid"), 0U);
  EXPECT_EQ(with("{x|alphabetical}", "{x}", "{ type: enum, values: [eu, us] }"), 0U);
  EXPECT_EQ(with("{x|alphabetical}", "{x|sortable}", "{ type: enum, values: [eu, œu] }"), 1U);
  EXPECT_EQ(with("{x|alphabetical}", "{x|sortable}", "{ type: string, pattern: '[a-zæ]+' }"), 1U);
  EXPECT_EQ(with("{x|alphabetical}", "{x|sortable}", "{ type: string, pattern: '[a-z]+' }"), 0U);
  EXPECT_EQ(with("{x|raw}", "{x}", "{ type: string, max: 9 }"), 1U);
}

TEST(CheckPatterns, WantsAllShardsToBeRead) {
  const auto with = [](std::string_view asked) {
    return found("operand-mismatch", kTable,
                 fmt::format(R"yaml(
entities:
  POST:
    keys:
      PK: "POST#{{id}}"
      SK: "X"
      GSI1PK: [ {{ key: "HOT#{{shard:8}}", when: "hot = true" }}, "COLD" ]
      GSI1SK: "{{id}}"
    attributes: {{ id: ulid, hot: boolean, n: integer }}
patterns:
  posts: {{ query: {{ index: GSI1, GSI1PK: "{}" }}, returns: POST }}
)yaml",
                             asked));
  };
  EXPECT_EQ(with("HOT#{shard:4}"),
            Lines{"error posts: it reads 4 shards where the key of POST has 8: rows in the others are not found"});
  EXPECT_EQ(with("HOT#{shard:9}"),
            Lines{"error posts: it reads 9 shards where the key of POST has 8: it looks where there are no rows"});
  EXPECT_EQ(with("HOT#{shard:8}"), Lines{});
  EXPECT_EQ(with("HOT#{n}"), Lines{}) << "one of them, on purpose";
  EXPECT_EQ(with("COLD"), Lines{});
}

TEST(CheckPatterns, WantsPrefixesToEndAtASeparator) {
  EXPECT_EQ(
      found_in_folders("open-prefix", R"yaml(
  files: { query: { PK: "user#{user}", SK: { begins_with: "{folder}" } }, returns: FILE }
)yaml"),
      Lines{
          "error files: its prefix ends inside {folder}: it also finds longer values that begin with the requested one "
          "(a request for 'a' also returns 'aa')"});
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
  EXPECT_EQ(with_type("{ type: string, max: 30, required: true }"),
            Lines{"warning runs: it compares at of RUN as text without a fixed form: two spellings of one value are "
                  "sorted apart, and an upper bound leaves out longer values that begin with it "
                  "('2023-01-31T10:00:00Z' is not between '2023-01-01' and '2023-01-31')"});
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
            Lines{"error books: DynamoDB has no filter expression for 'fold(title) = 'x''"});
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
            Lines{"warning books: no key serves 'title = :title': all rows of the key condition are read, and rows "
                  "that do not match are discarded"});
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
            (Lines{"error books: GSI1 does not hold title, which it needs to identify, filter, nest or join the rows "
                   "that it reads",
                   "warning books: GSI1 does not hold user, book, title, shelf: its answers lack them"}));
  EXPECT_EQ(found_in_books("projection", kPatterns, table("[EntityType, user, book, title, shelf]")), Lines{});
  EXPECT_EQ(found_in_books("projection", kPatterns, table("all")), Lines{});
}

TEST(CheckPatterns, WantsTheTypeInAnIndexWhereOtherRowsAreRead) {
  const auto with = [](std::string_view projection, std::string_view key) {
    return found("projection",
                 fmt::format("\ntable: {{ name: Things, key: [PK, SK], indexes: {{ ByDay: {{ key: [GSI1PK, GSI1SK], "
                             "projection: {} }} }} }}\n",
                             projection),
                 fmt::format(R"yaml(
entities:
  POST:
    keys: {{ PK: "post#{{id}}", SK: "X", GSI1PK: "all", GSI1SK: "{{id}}" }}
    attributes: {{ id: ulid }}
  AD:
    keys: {{ PK: "ad#{{id}}", SK: "X", GSI1PK: "{}", GSI1SK: "{{id}}" }}
    attributes: {{ id: ulid }}
patterns:
  posts: {{ query: {{ index: ByDay, GSI1PK: "all" }}, returns: POST }}
)yaml",
                             key));
  };
  EXPECT_EQ(with("[id]", "all"), Lines{"error posts: ByDay does not hold EntityType, which it needs to identify, "
                                       "filter, nest or join the rows that it reads"});
  EXPECT_EQ(with("[id]", "ads"), Lines{});
  EXPECT_EQ(with("[id, EntityType]", "all"), Lines{});
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

TEST(CheckPatterns, TakesWhatIsGeneratedForTheOnlyOne) {
  const auto with = [](std::string_view actions) {
    return found("not-unique", "\ntable: { name: Things, key: [PK, SK], indexes: { ById: { key: [GPK] } } }\n",
                 fmt::format(R"yaml(
entities:
  ORDER:
    keys: {{ PK: "user#{{user}}", SK: "{{at}}#{{id}}", GPK: "order#{{id}}" }}
    attributes: {{ user: string, at: {{ type: timestamp, generated: now }}, id: {{ type: ulid, generated: ulid }} }}
patterns:
  order: {{ query: {{ index: ById, GPK: "order#{{id}}" }}, returns: ORDER, single: true }}
{})yaml",
                             actions));
  };
  EXPECT_EQ(with(""), Lines{});
  EXPECT_EQ(
      with(R"yaml(actions:
  copy: { post: /copies, input: { of: { type: ulid, required: true } }, steps: [{ create: ORDER, as: made, set: { user: "'u'", id: ":of" } }] }
)yaml"),
      Lines{"error order: it promises one ORDER, but nothing keeps id unique: an index takes any number of rows with "
            "one key"});
}

TEST(CheckPatterns, TakesAPartOfAValueForLessThanUnique) {
  const auto with = [](std::string_view key, std::string_view asked, std::string_view rest) {
    return found("not-unique", kTable,
                 fmt::format(R"yaml(
entities:
  USER:
    keys: {{ PK: "user#{{id}}", SK: "{{at}}", GSI1PK: {}, GSI1SK: "X" }}
    attributes: {{ id: uuid, at: timestamp, name: {{ type: string, max: 9, required: true, unique_within: table{} }} }}
patterns:
  user: {{ query: {{ index: GSI1, GSI1PK: "{}" }}, returns: USER, single: true }}
)yaml",
                             key, rest, asked))
        .size();
  };
  EXPECT_EQ(with("\"{name}\"", "{name}", ""), 0U);
  EXPECT_EQ(with("\"{name|sortable}\"", "{name|sortable}", ""), 1U) << "'Ada' and 'ada'";
  EXPECT_EQ(with("\"{name|sortable}\"", "{name|sortable}", ", fold: true"), 0U);
  EXPECT_EQ(with("\"{name}\"", "{name}", ", fold: true"), 0U);
  EXPECT_EQ(with("\"{name|alphabetical}\"", "{name|alphabetical}", ", fold: true"), 1U) << "'Æsop' and 'Aesop'";
  EXPECT_EQ(with("\"{name|alphabetical}\"", "{name|alphabetical}", ", fold: letters"), 0U);
  EXPECT_EQ(with("\"{name|sortable}\"", "{name|sortable}", ", fold: letters"), 0U);
  EXPECT_EQ(with("\"{id}#{at}\"", "{id}#{at}", ""), 0U);
  EXPECT_EQ(with("\"{id}#{at|month}\"", "{id}#{at|month}", ""), 1U);
  EXPECT_EQ(with("[\"N#{name}\", \"X#{id}\"]", "N#{name}", ""), 0U);
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

TEST(CheckPatterns, WarnsOfRowsThatAreNotInAnIndexForLackOfACopy) {
  const auto with = [](std::string_view relation, std::string_view name) {
    return found("sparse-index", kTable,
                 fmt::format(R"yaml(
entities:
  OWNER: {{ keys: {{ PK: "owner#{{owner}}", SK: "X" }}, attributes: {{ owner: uuid, name: {} }} }}
  CAT:
    parents: {{ of: {{ entity: OWNER, by: {{ owner: ownedBy }}{} }} }}
    keys: {{ PK: "owner#{{ownedBy}}", SK: "cat#{{cat}}", GSI1PK: "cats#{{shard:2}}", GSI1SK: "{{ownerName}}#{{cat}}" }}
    attributes: {{ cat: uuid, ownedBy: uuid, ownerName: {{ copy_of: of.name }} }}
patterns:
  cats: {{ query: {{ index: GSI1, GSI1PK: "cats#{{shard:2}}" }}, returns: CAT }}
)yaml",
                             name, relation));
  };
  EXPECT_EQ(with("", "{ type: string, max: 9 }"),
            Lines{"warning cats: a CAT without ownerName is not in GSI1, and so is never returned"});
  EXPECT_EQ(with("", "{ type: string, required: true, max: 9 }"), Lines{});
  EXPECT_EQ(with(", must_exist: false", "{ type: string, required: true, max: 9 }").size(), 1U);
}

TEST(CheckPatterns, KnowsThatEveryRowOfAnOrderHasANumber) {
  const auto with = [](std::string_view list) {
    return found("sparse-index", kTable,
                 fmt::format(R"yaml(
entities:
  TASK:
    keys: {{ PK: "task#{{task}}", SK: "X", GSI1PK: "list#{{list}}", GSI1SK: "{{rank:05}}#{{task}}" }}
    attributes: {{ task: uuid, list: {}, rank: {{ next: {{ in: tasks }}, min: 0, max: 99999 }} }}
patterns:
  tasks: {{ query: {{ index: GSI1, GSI1PK: "list#{{list}}" }}, returns: TASK }}
)yaml",
                             list));
  };
  EXPECT_EQ(with("{ type: uuid, required: true }"), Lines{});
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
  EXPECT_EQ(with(", access: public"), Lines{"warning notes: more people may run it than may read a NOTE, and neither "
                                            "its key nor its filter leaves out the rows that they may not see"});
  EXPECT_EQ(with(", access: public, filter: \"open = true\""), Lines{});
  EXPECT_EQ(with(""), Lines{});
}

TEST(CheckPatterns, WarnsOfJoinsThatOthersDoNotSee) {
  const auto with = [](std::string_view read, std::string_view key, std::string_view access) {
    return found("hidden-join", kPlainTable,
                 fmt::format(R"yaml(
entities:
  PROFILE:
    owner: user
    access: {{ read: {} }}
    keys: {{ PK: "profile#{{user}}", SK: "X" }}
    attributes: {{ user: {{ type: string, max: 40 }}, open: boolean }}
  NOTE:
    owner: user
    access: {{ read: public }}
    parents: {{ author: {{ entity: PROFILE }} }}
    keys: {{ PK: "user#{{user}}", SK: "note#{{note}}" }}
    attributes: {{ user: {{ type: string, max: 40 }}, note: uuid }}
patterns:
  notes: {{ query: {{ PK: "user#{{{}}}" }}, returns: NOTE, join: {{ relation: author }}, access: {} }}
)yaml",
                             read, key, access));
  };
  const Lines hidden{
      "warning notes: more people may run it than may read the PROFILE that it joins as author: they do not see it"};
  EXPECT_EQ(with("owner", "user", "public"), hidden);
  EXPECT_EQ(with("signed-in", "user", "public"), hidden);
  EXPECT_EQ(with("signed-in", "user", "signed-in"), Lines{});
  EXPECT_EQ(with("{ public: 'open = true' }", "user", "public"), Lines{});
  EXPECT_EQ(with("owner", "user", "owner"), Lines{});
  EXPECT_EQ(with("owner", "me", "signed-in"), Lines{}) << "these are the caller's own";
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
  constexpr std::string_view kUnique = ", unique_within: user, fold: true";
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}#{book}", kUnique), Lines{});
  EXPECT_EQ(with("{name|raw}", "{seriesName|raw}#{book}", kUnique),
            Lines{"error shelf: a SERIES with a longer name that begins with this one is sorted between this SERIES "
                  "and its BOOK"});
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}+{book}", kUnique),
            Lines{"error shelf: a SERIES with a longer name that begins with this one is sorted between this SERIES "
                  "and its BOOK"});
  EXPECT_EQ(with("{name|sortable}", "{book}", kUnique),
            Lines{"error shelf: GSI1SK of BOOK does not begin with that of its SERIES, so they do not follow each "
                  "other in the order of keys"});
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}#{book}", ", unique_within: user").size(), 1U)
      << "'Dune' and 'dune' have one key";
  EXPECT_EQ(with("{name|sortable}", "{seriesName|sortable}#{book}", ""),
            Lines{"error shelf: two SERIES can have the same GSI1SK, and then their children are mixed"});
}

TEST(CheckPatterns, LetsChildrenStandAnywhereBehindTheOneParentOfTheirPartition) {
  const auto with = [](std::string_view parent, std::string_view child, std::string_view child_sort) {
    return found("nest-order", kPlainTable,
                 fmt::format(R"yaml(
entities:
  ACCOUNT: {{ keys: {{ PK: "{}", SK: "ACC" }}, attributes: {{ no: uuid, bank: uuid }} }}
  ENTRY:
    keys: {{ PK: "{}", SK: "{}" }}
    parents: {{ account: {{ entity: ACCOUNT }} }}
    attributes: {{ no: uuid, bank: uuid, other: uuid, id: ulid }}
patterns:
  statement:
    query: {{ PK: "{}" }}
    returns: [ACCOUNT, ENTRY]
    nest: {{ parent: ACCOUNT, children: ENTRY, relation: account, as: lines }}
)yaml",
                             parent, child, child_sort, parent))
        .size();
  };
  EXPECT_EQ(with("ACC#{no}", "ACC#{no}", "E#{id}"), 0U);
  EXPECT_EQ(with("BANK#{bank}#{no}", "BANK#{bank}#{no}", "E#{id}"), 0U);
  EXPECT_EQ(with("ACC#{no}", "ACC#{other}", "E#{id}"), 1U) << "entries of other accounts are there, too";
  EXPECT_EQ(with("ACC#{no}", "ACC#{no}", "A#{id}"), 1U) << "they stand before it";
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

TEST(CheckPatterns, LeavesAnIndexAloneByWhichChildrenAreFound) {
  const auto with = [](std::string_view code, std::string_view on_delete) {
    return found(
        code,
        "\ntable: { name: Things, key: [PK, SK], indexes: { BySeries: { key: [GPK, GSK], projection: keys } } }\n",
        fmt::format(R"yaml(
entities:
  SERIES: {{ keys: {{ PK: "S#{{series}}", SK: "S" }}, attributes: {{ series: {{ type: uuid, generated: uuid }} }} }}
  BOOK:
    parents: {{ series: {{ entity: SERIES, by: {{ series: {} }}{} }} }}
    keys: {{ PK: "B#{{book}}", SK: "B", GPK: "S#{{series}}", GSK: "{{book}}" }}
    attributes: {{ book: {{ type: uuid, generated: uuid }}, series: {{ type: uuid, required: true }}, other: {{ type: uuid }} }}
patterns:
  series: {{ query: {{ PK: "S#{{series}}", SK: "S" }}, returns: SERIES, single: true }}
  book: {{ query: {{ PK: "B#{{book}}", SK: "B" }}, returns: BOOK, single: true }}
)yaml",
                    on_delete == "none" ? "other" : "series",
                    on_delete == "none" ? ", optional: true" : ", on_delete: cascade"));
  };
  EXPECT_EQ(with("unused-index", "cascade"), Lines{});
  EXPECT_EQ(with("unread-rows", "cascade"), Lines{});
  EXPECT_EQ(with("unused-index", "none"),
            Lines{"warning BySeries: no pattern reads BySeries, and every write pays for it"});
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

}  // namespace
}  // namespace stator::model
