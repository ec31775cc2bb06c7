#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/generate/design_document.h"
#include "stator/model/generate/diagram.h"
#include "stator/model/generate/diagram_layout.h"
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

TEST(Diagram, NamesRelationsInTheCardOfTheChild) { expect_parts(diagram(notebook()), {">notebook → NOTEBOOK</text>"}); }

TEST(Diagram, ShowsARelationOfAnEntityToItself) {
  const auto model = load_or_fail(R"yaml(
model: tree
table: { name: Tree, key: [PK] }
entities:
  FOLDER:
    path: /folders/{folder}
    parents: { above: { entity: FOLDER, by: { folder: inside }, optional: true } }
    keys: { PK: "{folder}" }
    attributes: { folder: string, inside: string }
)yaml");
  expect_parts(diagram(model), {"above: FOLDER belongs to FOLDER", ">above → FOLDER (optional)</text>"});
}

TEST(Diagram, ContinuesALongLineInTheNextOne) {
  const auto model = load_or_fail(R"yaml(
model: long
table: { name: Long, key: [PK, SK] }
entities:
  ROW: { keys: { PK: "{tenant}#{region}", SK: "{a}#{b}" }, attributes: { tenant: string, region: string, a: string, b: string } }
patterns:
  between_two_very_long_bounds:
    query: { PK: "{tenant}#{region}", SK: { between: ["{first_of_all}#{second_of_all}", "{last_of_all}#{very_last_of_all}"] } }
    parameters: { first_of_all: string, second_of_all: string, last_of_all: string, very_last_of_all: string }
    returns: ROW
)yaml");
  expect_parts(diagram(model), {">  PK = {tenant}#{region}, SK between {first_of_all}#{second_of_all} and</text>",
                                ">    {last_of_all}#{very_last_of_all}</text>"});
}

struct Box {
  double x, y, width, height;
};
// Whether a line from `a` to `b` has points inside the box.
bool runs_through(const Box& box, const Point& a, const Point& b) {
  return std::max(a.x, b.x) > box.x && std::min(a.x, b.x) < box.x + box.width && std::max(a.y, b.y) > box.y &&
         std::min(a.y, b.y) < box.y + box.height;
}
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  const std::regex number(R"(-?[0-9]+(\.[0-9]+)?)");
  for (auto found = std::sregex_iterator(text.begin(), text.end(), number); found != std::sregex_iterator(); ++found) {
    numbers.push_back(std::stod(found->str()));
  }
  return numbers;
}
// The parts of a picture that match, as the numbers in them.
std::vector<std::vector<double>> found_in(const std::string& svg, const char* pattern) {
  std::vector<std::vector<double>> found;
  const std::regex part(pattern);
  for (auto one = std::sregex_iterator(svg.begin(), svg.end(), part); one != std::sregex_iterator(); ++one) {
    found.push_back(numbers_in((*one)[1]));
  }
  return found;
}

void expect_no_line_behind_a_card(const std::string& svg) {
  std::vector<Box> boxes;
  for (const auto& box : found_in(svg, R"(<rect ([^>]*) rx=)")) boxes.push_back({box[0], box[1], box[2], box[3]});
  const auto lines = found_in(svg, R"(class="relation[^>]* d="([^"]*)\")");
  EXPECT_FALSE(lines.empty());
  for (const auto& line : lines) {
    for (std::size_t i = 3; i < line.size(); i += 2) {
      const Point a{line[i - 3], line[i - 2]}, b{line[i - 1], line[i]};
      for (const auto& box : boxes)
        EXPECT_FALSE(runs_through(box, a, b)) << a.x << "," << a.y << " " << b.x << "," << b.y;
    }
  }
}

// Relations over several columns, back, and between neighbours.
TEST(Diagram, LetsNoLineRunBehindACard) {
  const auto model = load_or_fail(R"yaml(
model: far
table: { name: Far, key: [PK] }
entities:
  A: { parents: { d: { entity: D, by: { d: d }, optional: true } }, keys: { PK: "A{a}" }, attributes: { a: string, d: string } }
  B: { parents: { a: { entity: A, by: { a: a } } }, keys: { PK: "B{b}" }, attributes: { a: string, b: string } }
  B2: { parents: { a: { entity: A, by: { a: a } } }, keys: { PK: "BB{b}" }, attributes: { a: string, b: string } }
  C: { parents: { b: { entity: B, by: { b: b } }, a: { entity: A, by: { a: a } } }, keys: { PK: "C{c}" }, attributes: { a: string, b: string, c: string } }
  D: { parents: { a: { entity: A, by: { a: a } }, c: { entity: C, by: { c: c } }, other: { entity: D, by: { d: other }, optional: true } }, keys: { PK: "D{d}" }, attributes: { a: string, c: string, d: string, other: string } }
)yaml");
  expect_no_line_behind_a_card(diagram(model));
}

TEST(TypescriptTypes, TellWhatIsServedCreatedAndPatched) {
  const auto text = typescript_types(notebook());
  expect_parts(text,
               {"export interface Notebook {", "  title: string;\n", "  color?: \"red\" | \"blue\";\n",
                "  readonly noteCount: number;\n", "export interface NotebookCreate {", "export interface NotePatch {",
                "  place?: { city: string; zip?: number } | null;\n", "export interface Page<T>"});
  EXPECT_EQ(text.find("secret: string"), std::string::npos) << "what is hidden is not served";
}

TEST(TypescriptTypes, AskForWhatACreateNeeds) {
  const auto text = typescript_types(load_or_fail(R"yaml(
model: shop
table: { name: Shop, key: [PK, SK] }
entities:
  CUSTOMER:
    path: /customers/{customerId}
    owner: customerId
    soft_delete: { attribute: deleted }
    keys: { PK: "CUSTOMER#{customerId}", SK: "CUSTOMER" }
    attributes: { customerId: string, name: { type: string, required: true, default: nobody }, deleted: boolean }
  PRICE:
    path: /shops/{shop}/prices/{product}
    access: { read: public, write: "role:admin" }
    keys: { PK: "SHOP#{shop}", SK: "PRICE#{product}" }
    attributes: { shop: string, product: string, amount: { type: number, required: true }, note: string }
)yaml"));
  expect_parts(
      text, {"export interface CustomerCreate {\n  name?: string;\n  customerId?: string;\n}",
             "export interface CustomerPatch {\n  name?: string | null;\n}",
             "export interface PriceCreate {\n  product: string;\n  amount: number;\n  note?: string;\n}",
             "export interface PricePatch {\n  amount?: number;\n  note?: string | null;\n}",
             "export interface Price {\n  shop: string;\n  product: string;\n  amount: number;\n  note?: string;\n"});
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
