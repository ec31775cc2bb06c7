#include "stator/model/load.h"

#include <gtest/gtest.h>

#include "stator/model/testing/load_or_fail.h"

namespace stator::model {
namespace {

// The example of docs/model-language.md.
constexpr std::string_view kNotebook = R"(model: notebook
description: Notebooks and their notes.

table:
  name: Notebook
  key: [PK, SK]
  indexes:
    ByTitle: { key: [GSI1PK, GSI1SK], projection: all }

entities:
  NOTEBOOK:
    path: /notebooks/{notebookId}
    owner: userId
    keys:
      PK: "USER#{userId}"
      SK: "NOTEBOOK#{notebookId}"
      GSI1PK: "USER#{userId}"
      GSI1SK: "{title|sortable}"
    attributes:
      userId: string
      notebookId: { type: uuid, generated: uuid }
      title: { type: string, required: true, min: 1, max: 100, unique_within: userId, fold: true }
      noteCount: { count: NOTE.notebook }
      createdAt: { type: timestamp, generated: now }
      updatedAt: { type: timestamp, updated: true }
  NOTE:
    path: /notebooks/{notebookId}/notes/{noteId}
    owner: userId
    parents:
      notebook: { entity: NOTEBOOK, on_delete: cascade }
    keys:
      PK: "USER#{userId}"
      SK: "NOTE#{notebookId}#{noteId}"
    attributes:
      userId: string
      notebookId: uuid
      noteId: { type: ulid, generated: ulid }
      text: { type: string, required: true, max: 10000 }
      notebookTitle: { type: string, copy_of: notebook.title }

patterns:
  notebooks:
    get: /notebooks
    query: { index: ByTitle, GSI1PK: "USER#{me}" }
    returns: NOTEBOOK
  notes:
    get: /notebooks/{notebookId}/notes
    within: NOTEBOOK
    query: { PK: "USER#{me}", SK: { begins_with: "NOTE#{notebookId}#" } }
    order: descending
    returns: NOTE
)";

TEST(LoadModel, ReadsTheExampleOfThePage) {
  const auto model = load_or_fail(kNotebook);
  EXPECT_EQ(model.name, "notebook");
  EXPECT_EQ(model.description, "Notebooks and their notes.");
  EXPECT_EQ(model.file, "model.yaml");
  EXPECT_EQ(model.table.name, "Notebook");
  EXPECT_EQ(model.table.partition.name, "PK");
  EXPECT_EQ(model.table.sort->name, "SK");

  const Entity& notebook = *model.find_entity("NOTEBOOK");
  EXPECT_EQ(notebook.operations, (std::vector<std::string>{"create", "get", "update", "delete"}));
  EXPECT_TRUE(notebook.read.owner && notebook.create.owner && notebook.update.owner && notebook.remove.owner);
  EXPECT_EQ(notebook.key_family, "NOTEBOOK");
  EXPECT_EQ(notebook.main().name, "main");
  EXPECT_EQ(notebook.main().type, "NOTEBOOK");
  EXPECT_EQ(notebook.main().find_key("GSI1SK")->alternatives[0].text.text(), "{title|sortable}");
  ASSERT_EQ(notebook.uniques.size(), 1U);
  EXPECT_EQ(notebook.uniques[0].attributes, std::vector<std::string>{"title"});
  EXPECT_EQ(notebook.uniques[0].within, std::vector<std::string>{"userId"});
  EXPECT_TRUE(notebook.uniques[0].fold);
  EXPECT_EQ(notebook.find_attribute("noteCount")->type.kind, Kind::Integer);

  const Parent& parent = *model.find_entity("NOTE")->find_parent("notebook");
  EXPECT_EQ(parent.on_delete, OnDelete::Cascade);
  EXPECT_EQ(parent.by,
            (std::vector<std::pair<std::string, std::string>>{{"userId", "userId"}, {"notebookId", "notebookId"}}));

  const Pattern& notes = *model.find_pattern("notes");
  EXPECT_EQ(notes.returns[0].record, "main");
  EXPECT_EQ(notes.order, Order::Descending);
  EXPECT_TRUE(notes.access.owner);
  ASSERT_EQ(notes.parameters.size(), 1U);
  EXPECT_EQ(notes.parameters[0].name, "notebookId");
  EXPECT_EQ(notes.parameters[0].type.kind, Kind::Uuid);
  EXPECT_TRUE(notes.parameters[0].required);
}

}  // namespace
}  // namespace stator::model
