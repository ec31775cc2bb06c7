#include "stator/model/check/load.h"

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
  EXPECT_EQ(notebook.uniques[0].compared, Transform::Sortable);
  EXPECT_EQ(notebook.find_attribute("noteCount")->type.kind, Kind::Integer);

  const Parent& parent = *model.find_entity("NOTE")->find_parent("notebook");
  EXPECT_EQ(parent.on_delete, OnDelete::Cascade);
  EXPECT_EQ(parent.by,
            (std::vector<std::pair<std::string, std::string>>{{"userId", "userId"}, {"notebookId", "notebookId"}}));

  const Pattern& notes = *model.find_pattern("notes");
  EXPECT_EQ(notes.returns[0].record->name, "main");
  EXPECT_EQ(notes.order, Order::Descending);
  EXPECT_TRUE(notes.access.owner);
  ASSERT_EQ(notes.parameters.size(), 1U);
  EXPECT_EQ(notes.parameters[0].name, "notebookId");
  EXPECT_EQ(notes.parameters[0].type.kind, Kind::Uuid);
  EXPECT_TRUE(notes.parameters[0].required);
}

TEST(LoadModel, LooksNamesUpOnceAndForGood) {
  auto loaded = load_or_fail(kNotebook);
  const Model model = std::move(loaded);  // pointers lead to the same parts after a move
  const Entity& notebook = *model.find_entity("NOTEBOOK");
  const Entity& note = *model.find_entity("NOTE");
  const Parent& relation = note.parents[0];
  EXPECT_EQ(relation.to, &notebook);
  const Children& counted = notebook.find_attribute("noteCount")->count->of[0];
  EXPECT_EQ(counted.child, &note);
  EXPECT_EQ(counted.through, &relation);
  const CopyOf& copy = *note.find_attribute("notebookTitle")->copy_of;
  EXPECT_EQ(copy.through, &relation);
  EXPECT_EQ(copy.from, notebook.find_attribute("title"));
  EXPECT_EQ(model.find_pattern("notebooks")->index, &model.table.indexes[0]);
  EXPECT_EQ(model.find_pattern("notes")->index, nullptr);
  EXPECT_EQ(model.find_pattern("notes")->within, &notebook);
  EXPECT_EQ(model.find_pattern("notes")->returns[0].entity, &note);
}

// The media library of the design document, in short.
constexpr std::string_view kMediaLibrary = R"yaml(model: media-library
description: Libraries of books and videos.
table:
  name: MediaLibrary
  key: [PK, SK]
  indexes:
    GSI1: { key: [GSI1PK, GSI1SK] }
    GSI2: { key: [GSI2PK, GSI2SK], projection: [Title, Authors] }
  type_attribute: EntityType
  ttl: ExpiresAt
  stream: new_and_old_images
  billing: { read: 5, write: 5 }

entities:
  LIBRARY:
    path: /libraries/{LibraryId}
    owner: OwnerId
    access: { read: [owner, shared] }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}"
      GSI1PK: "owner#{OwnerId}"
      GSI1SK: "library#{Name|sortable}"
    attributes:
      OwnerId: string
      LibraryId: { type: uuid, generated: uuid }
      Name: { type: string, required: true, min: 1, max: 20 }
      TotalItems: { count: [BOOK.library, VIDEO.library] }
  COLLECTION:
    path: /libraries/{LibraryId}/collections/{CollectionId}
    owner: OwnerId
    parents:
      library: { entity: LIBRARY, on_delete: cascade }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}#collection#{CollectionId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK: "item#{Name|sortable}"
    attributes:
      OwnerId: string
      LibraryId: uuid
      CollectionId: { type: uuid, generated: uuid }
      Name: { type: string, required: true, min: 1, max: 100, unique_within: [OwnerId, LibraryId], fold: true }
      ItemCount: { count: [BOOK.collection, VIDEO.collection] }
      Average: { type: number, derived: "ItemCount / 2" }
  BOOK:
    path: /libraries/{LibraryId}/books/{ItemId}
    owner: OwnerId
    access: { read: [owner, shared] }
    key_family: item
    parents:
      library: { entity: LIBRARY, on_delete: cascade }
      collection:
        entity: COLLECTION
        optional: true
        on_delete: { clear: [CollectionId, CollectionName, Order] }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}#item#{ItemId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK:
        - "item#{CollectionName|sortable}#{Order:05}#{Title|sortable}"
        - "item#{Title|sortable}"
      GSI2PK: "owner#{OwnerId}"
      GSI2SK: { key: "item#{ItemId}", when: "attribute_exists(Title)" }
    attributes:
      OwnerId: string
      LibraryId: uuid
      ItemId: { type: uuid, generated: uuid }
      Title: { type: string, required: true, min: 1, max: 100 }
      Authors: { type: list, of: string }
      CollectionId: uuid
      CollectionName: { copy_of: collection.Name }
      Order: { type: integer, min: 1, max: 1000 }
      LentTo: { type: string, internal: true }
  VIDEO:
    path: /libraries/{LibraryId}/videos/{ItemId}
    owner: OwnerId
    access: { read: [owner, shared] }
    key_family: item
    parents:
      library: { entity: LIBRARY, on_delete: cascade }
      collection:
        entity: COLLECTION
        optional: true
        on_delete: { clear: [CollectionId, CollectionName, Order] }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}#item#{ItemId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK:
        - "item#{CollectionName|sortable}#{Order:05}#{Title|sortable}"
        - "item#{Title|sortable}"
      GSI2PK: "owner#{OwnerId}"
      GSI2SK: { key: "item#{ItemId}", when: "attribute_exists(Title)" }
    attributes:
      OwnerId: string
      LibraryId: uuid
      ItemId: { type: uuid, generated: uuid }
      Title: { type: string, required: true, min: 1, max: 100 }
      Authors: { type: list, of: string }
      CollectionId: uuid
      CollectionName: { copy_of: collection.Name }
      Order: { type: integer, min: 1, max: 1000 }
      LentTo: { type: string, internal: true }
  EVENT:
    path: /libraries/{LibraryId}/items/{ItemId}/events/{EventId}
    owner: OwnerId
    append_only: true
    keys: { PK: "owner#{OwnerId}", SK: "library#{LibraryId}#item#{ItemId}#event#{EventId}" }
    attributes:
      OwnerId: string
      LibraryId: uuid
      ItemId: uuid
      EventId: { generated: ulid }
      Type: { type: enum, values: [LENT, RETURNED], required: true }
      Event: { type: string, required: true }
  SHARED_LIBRARY:
    keys: { PK: "owner#{SharedToId}", SK: "shared#{LibraryId}" }
    attributes: { SharedToId: string, SharedFromId: string, LibraryId: uuid }

patterns:
  items_in_library:
    get: "/libraries/{LibraryId}/items"
    within: LIBRARY
    query: { index: GSI1, GSI1PK: "owner#{OwnerId}#library#{LibraryId}" }
    returns: [COLLECTION, BOOK, VIDEO]
    nest: { parent: COLLECTION, children: [BOOK, VIDEO], relation: collection, as: items }
    page: { default: 20, max: 50 }

actions:
  lend:
    post: /libraries/{LibraryId}/items/{ItemId}/lend
    input: { borrower: { type: string, required: true, min: 1, max: 100 } }
    steps:
      - read: [BOOK, VIDEO]
        as: item
        key: { LibraryId: ":LibraryId", ItemId: ":ItemId" }
      - check: "attribute_not_exists(item.LentTo)"
        else: { status: 409, code: AlreadyLent, message: "it is lent already" }
      - update: item
        set: { LentTo: ":borrower" }
      - create: EVENT
        as: event
        set: { LibraryId: ":LibraryId", ItemId: ":ItemId", Type: "'LENT'", Event: ":borrower" }
    result: event

grants:
  shared:
    pointer: SHARED_LIBRARY
    key: { SharedToId: me, LibraryId: LibraryId }
    gives: { OwnerId: SharedFromId }

accept:
  - { finding: hot-partition, on: GSI2, because: "one user's items" }
)yaml";

TEST(LoadModel, ReadsATable) {
  const auto table = load_or_fail(kMediaLibrary).table;
  EXPECT_EQ(table.ttl_attribute, "ExpiresAt");
  EXPECT_EQ(table.stream, StreamView::NewAndOldImages);
  EXPECT_EQ(table.provisioned->read, 5);
  EXPECT_EQ(table.find_index("GSI1")->projection, ProjectionKind::All);
  EXPECT_EQ(table.find_index("GSI2")->projection, ProjectionKind::Include);
  EXPECT_EQ(table.find_index("GSI2")->included, (std::vector<std::string>{"Title", "Authors"}));
}

TEST(LoadModel, ReadsKeysWithTheirAlternativesAndConditions) {
  const auto model = load_or_fail(kMediaLibrary);
  const Record& book = model.find_entity("BOOK")->main();
  ASSERT_EQ(book.find_key("GSI1SK")->alternatives.size(), 2U);
  EXPECT_EQ(book.find_key("GSI1SK")->alternatives[1].text.text(), "item#{Title|sortable}");
  EXPECT_EQ(book.find_key("GSI2SK")->alternatives[0].when->text(), "attribute_exists(Title)");
  EXPECT_EQ(model.find_entity("BOOK")->key_family, "item");
}

TEST(LoadModel, TakesTheTypeOfACopyFromItsSource) {
  const auto model = load_or_fail(kMediaLibrary);
  const Attribute& copy = *model.find_entity("BOOK")->find_attribute("CollectionName");
  EXPECT_EQ(copy.type.kind, Kind::String);
  EXPECT_EQ(copy.type.max, value::Number::from_int(100));
  EXPECT_EQ(copy.copy_of->relation, "collection");
}

TEST(LoadModel, LetsNoAttributeBeEmptyThatIsAKeyAsItIs) {
  const auto model = load_or_fail(R"yaml(
model: towns
table: { name: Towns, key: [PK], indexes: { ByTown: { key: [town, code], projection: all }, ByMark: { key: mark, projection: all } } }
entities:
  HOUSE:
    keys: { PK: "{house}" }
    attributes:
      house: { type: uuid, generated: uuid }
      town: { type: string, max: 50 }
      code: { type: string, min: 2 }
      mark: { type: string, derived: "if(town = 'Rome', 'eternal', '')" }
      note: string
patterns:
  in_town: { query: { index: ByTown, town: "{town|raw}" }, returns: HOUSE }
  marked: { query: { index: ByMark, mark: "{mark|raw}" }, returns: HOUSE }
)yaml");
  const auto least = [&](std::string_view name) { return model.find_entity("HOUSE")->find_attribute(name)->type.min; };
  EXPECT_EQ(least("town"), value::Number::from_int(1));
  EXPECT_EQ(least("code"), value::Number::from_int(2));
  EXPECT_EQ(least("mark"), std::nullopt) << "what is computed is in no index while it is empty";
  EXPECT_EQ(least("note"), std::nullopt);
}

TEST(LoadModel, MakesTheOperationsThatMakeSense) {
  const auto model = load_or_fail(kMediaLibrary);
  EXPECT_EQ(model.find_entity("EVENT")->operations, (std::vector<std::string>{"create", "get"}));
  EXPECT_EQ(model.find_entity("SHARED_LIBRARY")->operations, std::vector<std::string>());
}

TEST(LoadModel, DerivesFromACountWhenRead) {
  const auto model = load_or_fail(kMediaLibrary);
  EXPECT_TRUE(model.find_entity("COLLECTION")->find_attribute("Average")->when_read);
}

TEST(LoadModel, LetsInWhomAccessNamesAndTheOwnerOtherwise) {
  const auto model = load_or_fail(kMediaLibrary);
  const Entity& library = *model.find_entity("LIBRARY");
  ASSERT_EQ(library.read.grants.size(), 1U);
  EXPECT_EQ(library.read.grants[0]->name, "shared");
  EXPECT_TRUE(library.read.owner && library.update.owner);
  EXPECT_TRUE(library.update.grants.empty());
  const Entity& pointer = *model.find_entity("SHARED_LIBRARY");
  EXPECT_FALSE(pointer.read.owner || pointer.read.anyone || pointer.read.signed_in);
}

TEST(LoadModel, LetsAPatternBeRunByWhomMayReadAllThatItReturns) {
  const auto model = load_or_fail(kMediaLibrary);
  const Access& access = model.find_pattern("items_in_library")->access;
  EXPECT_TRUE(access.owner);
  EXPECT_TRUE(access.grants.empty());  // COLLECTION is the owner's alone
}

TEST(LoadModel, KnowsAttributesOfWhatAPatternWorksWithin) {
  const auto model = load_or_fail(kMediaLibrary);
  const Pattern& items = *model.find_pattern("items_in_library");
  ASSERT_EQ(items.parameters.size(), 1U);  // OwnerId is the library's
  EXPECT_EQ(items.parameters[0].name, "LibraryId");
  ASSERT_EQ(items.nest->children.size(), 2U);
  EXPECT_EQ(items.nest->children[0].entity, model.find_entity("BOOK"));
  EXPECT_EQ(items.nest->children[1].entity, model.find_entity("VIDEO"));
  EXPECT_EQ(items.nest->children[1].through, model.find_entity("VIDEO")->find_parent("collection"));
  EXPECT_EQ(items.default_limit, 20U);
  EXPECT_EQ(items.max_limit, 50U);
}

TEST(LoadModel, TakesInputsThatAreNotListedFromTheEntitiesOfTheSteps) {
  const auto model = load_or_fail(kMediaLibrary);
  const Action& lend = *model.find_action("lend");
  std::vector<std::string> names;
  for (const auto& input : lend.inputs) names.push_back(input.name);
  EXPECT_EQ(names, (std::vector<std::string>{"borrower", "LibraryId", "ItemId"}));
  EXPECT_EQ(lend.inputs[2].type.kind, Kind::Uuid);
  EXPECT_TRUE(lend.inputs[2].required);
  EXPECT_EQ(lend.method, "POST");
  EXPECT_TRUE(lend.access.owner);
  EXPECT_EQ(lend.result, "event");
}

TEST(LoadModel, ReadsTheStepsOfAnAction) {
  const auto model = load_or_fail(kMediaLibrary);
  const auto& steps = model.find_action("lend")->steps;
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].kind, Step::Kind::Read);
  EXPECT_EQ(steps[0].entities, (std::vector{model.find_entity("BOOK"), model.find_entity("VIDEO")}));
  EXPECT_EQ(steps[0].key[0].value.text(), ":LibraryId");
  EXPECT_EQ(steps[1].failure.code, "AlreadyLent");
  EXPECT_EQ(steps[2].as, "item");
  EXPECT_EQ(steps[3].set[2].attribute, "Type");
}

TEST(LoadModel, ReadsGrantsAndWhatIsAccepted) {
  const auto model = load_or_fail(kMediaLibrary);
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(model.find_grant("shared")->pointer, model.find_entity("SHARED_LIBRARY"));
  EXPECT_EQ(model.find_grant("shared")->key, (Pairs{{"SharedToId", "me"}, {"LibraryId", "LibraryId"}}));
  EXPECT_EQ(model.find_grant("shared")->gives, (Pairs{{"OwnerId", "SharedFromId"}}));
  ASSERT_EQ(model.accepted.size(), 1U);
  EXPECT_EQ(model.accepted[0].on, "GSI2");
}

// An entity of a table with nothing else.
std::string shop(std::string_view entity, std::string_view rest = {}) {
  return fmt::format(R"(
model: shop
table: {{ name: Shop, key: [PK, SK], ttl: expiresAt }}
entities:
  BOOK:
{}
{})",
                     entity, rest);
}

TEST(LoadModel, ReadsASoftDeletionAndKeepsItsAttributesFromRequests) {
  const auto model = load_or_fail(shop(R"(
    path: /books/{id}
    keys: { PK: "BOOK#{id}", SK: "BOOK" }
    soft_delete: { attribute: deleted, at: deletedAt, keep: 30d }
    attributes: { id: string, deleted: boolean, deletedAt: timestamp })"));
  const Entity& book = model.entities[0];
  EXPECT_EQ(book.soft_delete->keep, std::chrono::days(30));
  EXPECT_EQ(book.operations, (std::vector<std::string>{"create", "get", "update", "delete", "restore", "purge"}));
  EXPECT_TRUE(book.find_attribute("deleted")->internal);
  EXPECT_TRUE(book.find_attribute("deletedAt")->internal);
}

TEST(LoadModel, ReadsRecordsEachWithItsType) {
  const auto model = load_or_fail(shop(R"yaml(
    records:
      book: { keys: { PK: "BOOK#{id}", SK: "BOOK" } }
      entry: { keys: { PK: "BOOKS", SK: "{id}" }, attributes: [title], when: "attribute_exists(title)", expires: "until" }
    attributes: { id: string, title: string, until: timestamp })yaml",
                                       R"yaml(
patterns:
  books: { query: { PK: "BOOKS" }, returns: [BOOK.entry] }
  book: { query: { PK: "BOOK#{id}" }, returns: BOOK, single: true }
)yaml"));
  const Entity& book = model.entities[0];
  EXPECT_EQ(book.main().type, "BOOK");
  EXPECT_EQ(book.records[1].type, "BOOK.entry");
  EXPECT_EQ(book.records[1].attributes, std::vector<std::string>{"title"});
  EXPECT_EQ(book.records[1].when->text(), "attribute_exists(title)");
  EXPECT_EQ(book.records[1].expires->text(), "until");
  EXPECT_EQ(model.find_pattern("books")->returns[0].record->name, "entry");
  EXPECT_EQ(model.find_pattern("book")->returns[0].record->name, "book");  // the first
}

TEST(LoadModel, ReadsEveryConditionOnASortKey) {
  struct Example {
    std::string_view yaml;
    Comparison comparison;
    std::size_t operands = 1;
    bool half_open = false;
  };
  for (const auto& [yaml, comparison, operands, half_open] : {
           Example{R"("a")", Comparison::Equal},
           Example{R"({ begins_with: "a" })", Comparison::BeginsWith},
           Example{R"({ between: ["a", "b"] })", Comparison::Between, 2},
           Example{R"({ from: "a", before: "b" })", Comparison::Between, 2, true},
           Example{R"({ less: "a" })", Comparison::Less},
           Example{R"({ at_most: "a" })", Comparison::LessOrEqual},
           Example{R"({ greater: "a" })", Comparison::Greater},
           Example{R"({ at_least: "a" })", Comparison::GreaterOrEqual},
       }) {
    SCOPED_TRACE(yaml);
    const auto model = load_or_fail(
        shop(R"(    { keys: { PK: "BOOK#{id}", SK: "BOOK" }, attributes: { id: string } })",
             fmt::format("patterns: {{ books: {{ query: {{ PK: \"A\", SK: {} }}, returns: BOOK }} }}", yaml)));
    const PatternCondition& condition = model.patterns[0].sort.at(0);
    EXPECT_EQ(condition.comparison, comparison);
    EXPECT_EQ(condition.operands.size(), operands);
    EXPECT_EQ(condition.half_open, half_open);
  }
}

TEST(LoadModel, NeedsAParameterOfTheRouteAndOfThePartitionAndOthersAsTheySay) {
  const auto model = load_or_fail(shop(R"(    { keys: { PK: "BOOK#{id}", SK: "BOOK" }, attributes: { id: string } })",
                                       R"(
patterns:
  books:
    get: /books/{shelf}
    query: { PK: "A#{shelf}#{kind}", SK: { begins_with: "{title}" } }
    filter: "id <> :not"
    parameters: { shelf: string, kind: { type: string, default: x }, title: string, not: { type: string, required: true } }
    returns: BOOK
)"));
  std::vector<std::pair<std::string, bool>> required;
  for (const auto& parameter : model.patterns[0].parameters) required.emplace_back(parameter.name, parameter.required);
  EXPECT_EQ(required, (std::vector<std::pair<std::string, bool>>{
                          {"shelf", true}, {"kind", false}, {"title", false}, {"not", true}}));
}

TEST(LoadModel, TellsEverythingThatIsWrongAtOnceInTheOrderOfTheFile) {
  const auto loaded = load_model(R"(modle: shop
table: { name: Shop, key: [PK] }
entities:
  BOOK:
    keys: { PK: "BOOK#{Id}" }
    attributes: { id: strin }
)",
                                 "shop.yaml");
  EXPECT_FALSE(loaded.model);
  EXPECT_EQ(printed(loaded.diagnostics).substr(0, printed(loaded.diagnostics).find(';')),
            "shop.yaml:1:1: error missing-word: a model needs the word model\n"
            "shop.yaml:1:1: error unknown-word: a model has no word modle");
  ASSERT_EQ(loaded.diagnostics.size(), 4U);
  EXPECT_EQ(loaded.diagnostics[2].code, "unknown-attribute");
  EXPECT_EQ(loaded.diagnostics[2].position, (Position{.line = 5, .column = 24}));
  EXPECT_EQ(loaded.diagnostics[3].fix, "string");
}

TEST(LoadModel, SaysThatAFileCannotBeRead) {
  EXPECT_EQ(printed(load_model_file("/no/such/model.yaml").diagnostics),
            "/no/such/model.yaml:0:0: error unreadable: the file cannot be read\n");
  EXPECT_EQ(printed(load_model_file("/").diagnostics), "/:0:0: error unreadable: this is a folder, not a model\n");
}

}  // namespace
}  // namespace stator::model
