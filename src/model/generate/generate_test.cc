#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "stator/model/generate/design_document.h"
#include "stator/model/generate/diagram.h"
#include "stator/model/generate/type_declarations.h"
#include "stator/model/testing/load_or_fail.h"

namespace stator::model::generate {
namespace {

const Model& notebook() {
  static const Model model = load_or_fail(R"(
model: notebook
description: Notebooks and <their> notes.
table:
  name: Notebook
  key: [PK, SK]
  indexes:
    ByTitle: { key: [GSI1PK, GSI1SK], projection: [title] }
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
      userId: { type: string, min: 1, max: 128 }
      notebookId: { type: uuid, generated: uuid }
      title: { type: string, required: true, min: 1, max: 100, unique_within: userId, fold: true }
      color: { type: enum, values: [red, blue] }
      template: string
      noteCount: { count: NOTE.notebook }
  NOTE:
    path: /notebooks/{notebookId}/notes/{noteId}
    owner: userId
    parents:
      notebook: { entity: NOTEBOOK, on_delete: cascade }
    keys:
      PK: "USER#{userId}"
      SK: "NOTE#{notebookId}#{noteId}"
    attributes:
      userId: { type: string, min: 1, max: 128 }
      notebookId: uuid
      noteId: { type: ulid, generated: ulid }
      text: { type: string, required: true, max: 10000 }
      secret: { type: string, hidden: true }
      place: { type: map, shape: { city: { type: string, required: true }, zip: integer } }
      notebookTitle: { type: string, max: 100, copy_of: notebook.title }
patterns:
  notebooks:
    description: By title.
    get: /notebooks
    query: { index: ByTitle, GSI1PK: "USER#{me}" }
    returns: NOTEBOOK
  notes:
    get: /notebooks/{notebookId}/notes
    within: NOTEBOOK
    query: { PK: "USER#{me}", SK: { begins_with: "NOTE#{notebookId}#" } }
    order: descending
    returns: NOTE
)");
  return model;
}

void expect_parts(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts) EXPECT_NE(text.find(part), std::string::npos) << "lacks: " << part << "\n" << text;
}

TEST(DesignDocument, SaysWhatTheModelSays) {
  expect_parts(design_document(notebook()),
               {"# notebook\n", "- **Partition key:** `PK` (S)\n",
                "| `ByTitle` | global | `GSI1PK` (S) | `GSI1SK` (S) | keys, `title` |",
                "| NOTEBOOK | `USER#{userId}` | `NOTEBOOK#{notebookId}` |",
                "| NOTEBOOK | `USER#{userId}` | `{title\\|sortable}` |",
                "| `title` | string | required; 1 to 100 characters; unique within userId without regard to case |",
                "| `noteCount` | integer | counts NOTE.notebook |",
                "| `notebookTitle` | string | 1 to 100 characters; copy of notebook.title |", "it goes, too",
                "| `notebooks` | `GET /notebooks` | `ByTitle` | `GSI1PK = USER#{me}` | ascending | NOTEBOOK | owner | "
                "By title. |",
                "| `notes` | `GET /notebooks/{notebookId}/notes` | table | `PK = USER#{me}, SK begins with "
                "NOTE#{notebookId}#` | descending |"});
}

TEST(DesignDocument, LeavesOutARowThatIsNotInAnIndex) {
  const auto text = design_document(notebook());
  const auto index = text.substr(text.find("### ByTitle"));
  EXPECT_EQ(index.substr(0, index.find("## Attributes")).find("| NOTE |"), std::string::npos) << index;
}

TEST(Diagram, HasACardPerEntityAndIndexAndAnArrowPerRelation) {
  expect_parts(diagram(notebook()),
               {"<svg xmlns=", ">NOTEBOOK</text>", ">NOTE</text>", ">ByTitle</text>", "NOTE belongs to NOTEBOOK",
                "SK: NOTE#{notebookId}#{noteId}", "notebooks → NOTEBOOK"});
}

TEST(TypescriptTypes, TellWhatIsServedCreatedAndPatched) {
  const auto text = typescript_types(notebook());
  expect_parts(text,
               {"export interface Notebook {", "  title: string;\n", "  color?: \"red\" | \"blue\";\n",
                "  readonly noteCount: number;\n", "export interface NotebookCreate {", "export interface NotePatch {",
                "  place?: { city: string; zip?: number } | null;\n", "export interface Page<T>"});
  EXPECT_EQ(text.find("secret: string"), std::string::npos) << "what is hidden is not served";
}

const Model& reading_room() {
  static const Model model = load_or_fail(R"(
model: room
table: { name: Room, key: [PK, SK], indexes: { ByTitle: { key: [GPK, GSK], projection: [title] } } }
entities:
  SHELF:
    keys: { PK: "ROOM#{room}", SK: "{shelf}" }
    attributes: { room: string, shelf: string, label: string }
  BOOK:
    parents:
      shelf: { entity: SHELF, by: { room: room, shelf: shelf } }
      writer: { entity: WRITER, by: { writer: writer }, optional: true }
    keys: { PK: "ROOM#{room}", SK: "{shelf}#{book}", GPK: "ROOM#{room}", GSK: "{title}" }
    attributes: { room: string, shelf: string, book: string, title: string, writer: string }
  WRITER:
    keys: { PK: "WRITER#{writer}", SK: "WRITER" }
    attributes: { writer: string, name: string, born: date }
patterns:
  shelves:
    get: /rooms/{room}/shelves
    query: { PK: "ROOM#{room}" }
    returns: [SHELF, BOOK]
    nest: { parent: SHELF, children: [BOOK], relation: shelf, as: books }
    join: { relation: writer, as: writtenBy, attributes: [name] }
    access: public
  titles: { get: "/rooms/{room}/titles", query: { index: ByTitle, GPK: "ROOM#{room}" }, returns: BOOK, access: public }
  writer: { get: "/writers/{writer}", query: { PK: "WRITER#{writer}", SK: "WRITER" }, returns: WRITER, single: true, access: public }
  not_over_rest: { query: { PK: "ROOM#{room}" }, returns: [SHELF, BOOK] }
)");
  return model;
}

TEST(Types, TellWhatPatternsAnswer) {
  const auto typescript = typescript_types(reading_room());
  expect_parts(
      typescript,
      {"export type ShelvesAnswer = Page<(Shelf & { books: Array<(Book & { writtenBy?: Pick<Writer, \"name\" | "
       "\"EntityType\" | \"Version\"> })>; continued?: true }) | (Book & { writtenBy?: Pick<Writer,",
       "export type TitlesAnswer = Page<Partial<Book>>;\n", "export type WriterAnswer = Writer;\n"});
  EXPECT_EQ(typescript.find("NotOverRest"), typescript.find("NotOverRestParameters"));
  expect_parts(cpp_types(reading_room()),
               {"struct ShelvesBook : Book {\n  std::optional<Writer> writtenBy;\n};\n",
                "struct ShelvesShelf : Shelf {\n  std::vector<ShelvesBook> books;\n  bool continued = false;",
                "using ShelvesAnswer = Page<std::variant<ShelvesShelf, ShelvesBook",
                "using TitlesAnswer = Page<Book>;\n", "using WriterAnswer = Writer;\n"});
}

TEST(Types, HaveNamesOfTheirOwn) {
  const auto model = load_or_fail(R"yaml(
model: clash
table: { name: Clash, key: [PK] }
entities:
  BOOK: { path: "/books/{id}", keys: { PK: "{id}" }, attributes: { id: string, Book: string, place: { type: map, shape: { x: string } } } }
  BOOK_CREATE: { keys: { PK: "c{id}" }, attributes: { id: string } }
  BOOK_PLACE: { keys: { PK: "d{id}" }, attributes: { id: string } }
  PAGE: { keys: { PK: "p{id}" }, attributes: { id: string } }
  PATCH: { keys: { PK: "q{id}" }, attributes: { id: string } }
)yaml");
  expect_parts(typescript_types(model),
               {"export interface Book {", "export interface BookCreate {", "export interface BookCreate2 {",
                "export interface Page2 {", "export interface Patch {", "export interface Page<T>"});
  expect_parts(cpp_types(model),
               {"struct Book {", "std::optional<std::string> Book_;", "struct BookCreate {", "struct BookCreate2 {",
                "struct BookPlace {", "struct BookPlace2 {", "std::optional<BookPlace2> place;", "struct Patch2 {"});
}

TEST(CppTypes, AreStructs) {
  expect_parts(cpp_types(notebook()), {"namespace notebook {", "struct Notebook {", "  std::string title{};\n",
                                       "  std::optional<NotePlace> place;\n",
                                       "struct NotePlace {\n  std::string city{};\n", "  Patch<std::string> color;\n",
                                       "  std::int64_t noteCount{};\n", "  std::optional<std::string> template_;\n"});
}

}  // namespace
}  // namespace stator::model::generate
