#include "stator/model/import/import.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stator::model::import {
namespace {

constexpr std::string_view kOneTable = R"({
  "format": "onetable:1.1.0", "version": "0.0.1",
  "indexes": {
    "primary": { "hash": "pk", "sort": "sk" },
    "gs1": { "hash": "gs1pk", "sort": "gs1sk", "project": ["name", "email"] },
    "ls1": { "sort": "rank", "type": "local", "project": "keys" }
  },
  "models": {
    "BlogPost": {
      "pk": { "type": "string", "value": "account:${accountId}" },
      "sk": { "type": "string", "value": "post:${order:5:0}#${id}" },
      "gs1pk": { "type": "string", "value": "post:" },
      "accountId": { "type": "string", "required": true },
      "id": { "type": "string", "generate": "ulid" },
      "order": { "type": "number" },
      "email": { "type": "string", "unique": true, "validate": "/^[a-z]+@[a-z.]+$/i" },
      "status": { "type": "string", "enum": ["draft", "live"], "default": "draft" },
      "address": { "type": "object", "schema": { "city": { "type": "string", "required": true } } },
      "tags": { "type": "array", "items": { "type": "string" } },
      "secret": { "type": "string", "crypt": true, "hidden": true },
      "expires": { "type": "date", "ttl": true }
    }
  },
  "params": { "typeField": "_type", "timestamps": true }
})";

TEST(ImportOneTable, TakesModelsKeysAndRulesOver) {
  const auto imported = import_onetable(kOneTable, "My Blog");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->yaml, R"(model: my-blog

table:
  name: "My Blog"
  key: [pk, sk]
  indexes:
    # gs1 projects name, which no model has
    gs1: { key: [gs1pk, gs1sk], projection: [email] }
    ls1: { local: rank, projection: keys }
  type_attribute: _type
  ttl: expires

entities:
  BLOG_POST:
    type: "BlogPost"
    expires: "expiresAt"
    keys:
      pk: "account:{accountId}"
      sk: "post:{order:05}#{id}"
      gs1pk: "post:"
    attributes:
      accountId: { type: string, required: true }
      id: { type: ulid, generated: ulid }
      order: { type: integer }
      # BlogPost.email had flags on its pattern: i
      email: { type: string, unique_within: table, pattern: "[a-z]+@[a-z.]+" }
      status: { type: enum, values: ["draft", "live"], default: "draft" }
      address: { type: map, shape: { city: { type: string, required: true } } }
      tags: { type: list, of: { type: string } }
      # BlogPost.secret was encrypted by OneTable, which has no counterpart
      secret: { type: string, hidden: true }
      # BlogPost.expires is the TTL attribute, and is made from expiresAt, which requests give
      expiresAt: timestamp
      created: { type: timestamp, generated: now }
      updated: { type: timestamp, updated: true }

# OneTable's schemas have no access patterns: write them under `patterns`
)");
  EXPECT_EQ(imported->notes.size(), 5U);
}

TEST(ImportOneTable, PutsTheNameOfAModelWhereItsTypeStands) {
  const auto imported = import_onetable(R"({
    "indexes": { "primary": { "hash": "pk", "sort": "sk" } },
    "models": { "User": { "pk": { "type": "string", "value": "${_type}#${id}" }, "sk": { "type": "string", "value": "${_type}:" },
                          "id": { "type": "string" } } }
  })",
                                        "users");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_NE(imported->yaml.find(R"(pk: "User#{id}")"), std::string::npos) << imported->yaml;
  EXPECT_NE(imported->yaml.find(R"(sk: "User:")"), std::string::npos) << imported->yaml;
}

TEST(ImportOneTable, TellsOfWhatJsonHasLost) {
  const auto imported = import_onetable(R"({
    "indexes": { "primary": { "hash": "pk" } },
    "models": { "User": { "pk": { "type": "string", "value": "u#${id}" }, "id": { "required": true, "validate": {} } } }
  })",
                                        "users");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->notes.front(), "User.id has no type in this JSON, and is taken for a text");
  EXPECT_EQ(imported->notes[1], "User.id was validated by a pattern, which this JSON does not hold");
}

TEST(ImportOneTable, SaysWhatIsMissing) {
  EXPECT_EQ(import_onetable("{}", "x").error().message,
            "the file has no `indexes` and `models`: is it a schema of OneTable?");
  EXPECT_EQ(import_onetable(R"({"indexes": {}, "models": {}})", "x").error().message,
            "the schema has no primary index with a hash");
  EXPECT_FALSE(import_onetable("{", "x"));
}

constexpr std::string_view kWorkbench = R"({
  "ModelName": "Forum",
  "DataModel": [ {
    "TableName": "Forum_Table",
    "KeyAttributes": { "PartitionKey": { "AttributeName": "PK", "AttributeType": "S" },
                       "SortKey": { "AttributeName": "SK", "AttributeType": "S" } },
    "NonKeyAttributes": [ { "AttributeName": "title", "AttributeType": "S" },
                          { "AttributeName": "views", "AttributeType": "N" },
                          { "AttributeName": "labels", "AttributeType": "SS" } ],
    "TableFacets": [ { "FacetName": "Thread",
                       "KeyAttributeAlias": { "PartitionKeyAlias": "FORUM#<forumId>", "SortKeyAlias": "THREAD#<thread id>" },
                       "NonKeyAttributes": [ "title", "views", "labels", "other" ] } ],
    "GlobalSecondaryIndexes": [ { "IndexName": "ByViews",
        "KeyAttributes": { "PartitionKey": { "AttributeName": "forum", "AttributeType": "S" },
                           "SortKey": { "AttributeName": "views", "AttributeType": "N" } },
        "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": [ "title" ] } } ]
  } ]
})";

TEST(ImportWorkbench, TurnsFacetsIntoEntities) {
  const auto imported = import_workbench(kWorkbench, "");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->yaml, R"(model: forum-table

table:
  name: "Forum_Table"
  key: [PK, SK]
  indexes:
    ByViews: { key: [forum, views:N], projection: [title] }

entities:
  THREAD:
    type: "Thread"
    keys:
      PK: "FORUM#{forumId}"
      SK: "THREAD#{thread_id}"
    attributes:
      forumId: { type: string, required: true, immutable: true }
      thread_id: { type: string, required: true, immutable: true }
      title: string
      views: number
      labels: { type: set, of: string }
      # other of Thread is not among the table's attributes: write its type
      other: any

# Workbench has no access patterns in a form that can be taken over: write them under `patterns`
)");
}

TEST(ImportWorkbench, AsksWhichTable) {
  EXPECT_EQ(import_workbench(R"({"DataModel": [{"TableName": "A"}, {"TableName": "B"}]})", "").error().message,
            "the file has several tables; choose one with --table: A, B");
  EXPECT_EQ(import_workbench(R"({"DataModel": [{"TableName": "A"}]})", "C").error().message,
            "the file has no table C; it has A");
  EXPECT_EQ(import_workbench("[]", "").error().message,
            "the file has no DataModel with tables: is it one of NoSQL Workbench?");
}

}  // namespace
}  // namespace stator::model::import
