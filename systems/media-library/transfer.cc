#include "stator/systems/media-library/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/file_body.h"
#include "stator/model/expression/template.h"
#include "stator/model/problem_list.h"
#include "stator/model/types/isbn.h"
#include "stator/runtime/write/given.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/csv.h"
#include "stator/systems/media-library/import_lease.h"
#include "stator/systems/media-library/item_table.h"
#include "stator/systems/media-library/native_support.h"
#include "stator/value/json.h"

namespace stator::systems::media_library {
namespace {

using runtime::Object;
using runtime::Problem;
using runtime::ProblemKind;
using value::AttributeValue;
using value::Item;
using value::JsonWriter;

constexpr unsigned kRowsAtOnce = 500;

Problem invalid(std::string message, std::vector<model::ValueProblem> details = {}) {
  return {
      .kind = ProblemKind::Invalid, .code = "Invalid", .message = std::move(message), .details = std::move(details)};
}

// Whether the next line can still succeed.
bool is_the_lines_fault(const Problem& problem) {
  return problem.kind == ProblemKind::Invalid || problem.kind == ProblemKind::Conflict ||
         problem.kind == ProblemKind::TooLarge;
}

// Everything that a pattern finds, page by page.
Result<void, Problem> for_each(runtime::Repository& repository, std::string_view pattern, const Item& parameters,
                               const std::function<void(const Object&)>& visit) {
  runtime::PageRequest request{.limit = kRowsAtOnce, .start = std::nullopt};
  do {
    auto page = TRY(repository.run(*repository.model().find_pattern(pattern), parameters, the_service(), request));
    for (const auto& object : page.objects) visit(object);
    request.start = std::move(page.next);
  } while (request.start);
  return {};
}

// The collections and ISBNs of the library, which decide what a line becomes.  Confined to one import.
class Import {
 public:
  Import(runtime::Repository& repository, const Item& library, const runtime::Caller& caller)
      : repository_(repository), library_(library), caller_(caller) {}

  // Adds to `problems` the mistakes of a line that are not in it yet.
  void check(ItemTable::Line& line, std::vector<model::ValueProblem>& problems) const {
    auto more = runtime::check_new(*line.entity, line.attributes, runtime::Source::Request);
    runtime::check_complete(*line.entity, with_place(line.attributes), more);
    if (!line.collection.empty()) check_collection(line.collection, more);
    for (auto& one : more) {
      const bool told = std::ranges::find(problems, one.attribute, &model::ValueProblem::attribute) != problems.end();
      if (!told) problems.push_back(std::move(one));
    }
  }

  // The id of the item that has this line's ISBN already, or nothing when the line was added.
  Result<std::optional<std::string>, Problem> add(ItemTable::Line line) {
    const auto isbn = model::normal_isbn(line.attributes.text("Isbn"));
    if (isbn) {
      if (!by_isbn_) TRY(read_isbns());
      const auto known = by_isbn_->find(model::isbn13(*isbn));
      if (known != by_isbn_->end()) return std::optional(known->second);
    }
    const auto id = TRY(create(line));
    if (isbn) by_isbn_->emplace(model::isbn13(*isbn), id);
    return std::optional<std::string>();
  }

 private:
  static std::string folded(std::string_view name) {
    auto fold = model::fold(name);
    return fold ? std::move(*fold) : std::string(name);
  }

  Item with_place(Item attributes) const {
    for (const auto& [name, value] : library_) attributes.set(name, value);
    return attributes;
  }

  Result<void, Problem> read_isbns() {
    by_isbn_.emplace();
    return for_each(repository_, "all_items", library_, [this](const Object& item) {
      if (const auto isbn = item.attributes.text("Isbn"); !isbn.empty()) {
        by_isbn_->emplace(model::isbn13(isbn), item.attributes.text("ItemId"));
      }
    });
  }
  Result<void, Problem> read_collections() {
    collections_.emplace();
    return for_each(repository_, "all_collections", library_, [this](const Object& collection) {
      collections_->emplace(folded(collection.attributes.text("Name")), collection.attributes.text("CollectionId"));
    });
  }

  void check_collection(const std::string& name, std::vector<model::ValueProblem>& problems) const {
    Item attributes = {{"Name", AttributeValue::string(name)}};
    for (auto& problem : runtime::check_new(collection_entity(), attributes, runtime::Source::Request)) {
      problems.push_back({.attribute = "Collection", .problem = std::move(problem.problem)});
    }
  }

  // The id of the new item.  If another request has created or removed a collection in the meantime, the line is tried
  // again.
  Result<std::string, Problem> create(const ItemTable::Line& line) {
    auto item = create_as_read(line);
    const bool outdated = !item && (item.error().code == "NoSuchParent" || item.error().code == "Duplicate");
    if (!outdated) return item;
    collections_.reset();
    return create_as_read(line);
  }

  Result<std::string, Problem> create_as_read(const ItemTable::Line& line) {
    auto attributes = with_place(line.attributes);
    if (line.collection.empty()) return created(*line.entity, attributes);
    if (!collections_) TRY(read_collections());
    const auto known = collections_->find(folded(line.collection));
    if (known == collections_->end()) return create_in_new_collection(line, attributes);
    attributes.set("CollectionId", AttributeValue::string(known->second));
    return created(*line.entity, attributes);
  }

  Result<std::string, Problem> created(const model::Entity& entity, const Item& attributes) {
    const auto item = TRY(repository_.create(entity, attributes, caller_));
    return item.attributes.text("ItemId");
  }

  // Both in one transaction, so that a line that is refused after all leaves no collection behind.
  Result<std::string, Problem> create_in_new_collection(const ItemTable::Line& line, const Item& attributes) {
    std::string collection, item;
    TRY(repository_.transact([&](runtime::Transaction& transaction) -> Result<void, Problem> {
      auto named = library_;
      named.set("Name", AttributeValue::string(line.collection));
      const auto* made = TRY(transaction.create(collection_entity(), named, runtime::Source::Request));
      collection = made->after->text("CollectionId");
      auto placed = attributes;
      placed.set("CollectionId", AttributeValue::string(collection));
      item = TRY(transaction.create(*line.entity, placed, runtime::Source::Request))->after->text("ItemId");
      return {};
    }));
    collections_->emplace(folded(line.collection), collection);
    return item;
  }

  const model::Entity& collection_entity() const { return *repository_.model().find_entity("COLLECTION"); }

  runtime::Repository& repository_;
  const Item library_;  // what names it: the caller is its owner
  const runtime::Caller& caller_;
  // Read when a line first needs them.
  std::optional<std::map<std::string, std::string>> collections_;  // folded name -> id
  std::optional<std::map<std::string, std::string>> by_isbn_;      // ISBN-13 -> item
};

// Reads the file once without doing anything, so that one that cannot be read, or is too long, adds nothing.  How many
// lines it has beside the first, which `look_at_first` judges.
Result<std::size_t, Problem> look_through(const app::RestCall& call,
                                          const std::function<Result<void, Problem>(const CsvRow&)>& look_at_first) {
  app::FileBody file(call);
  CsvReader reader(file);
  for (std::size_t rows = 0;; ++rows) {
    const auto row = reader.next();
    if (!row) return app::unreadable(row.error());
    if (rows + reader.empty_lines() > Transfer::kMostLines + (*row ? 0 : 1)) {
      return invalid(fmt::format("at most {} lines can be imported at once, beside the first; empty ones count",
                                 Transfer::kMostLines));
    }
    if (!*row && rows == 0) return invalid("the first line must name the columns");
    if (!*row) return rows - 1;
    if (rows == 0) TRY(look_at_first(**row));
  }
}

// What is told about an import.  Of lines that are wrong, the first hundred.
class Report {
 public:
  void created() { ++created_; }
  void duplicate(std::size_t line, const std::string& isbn, const std::string& item) {
    duplicates_.begin_object().key("line").integer(static_cast<std::int64_t>(line)).key("Isbn").string(isbn);
    duplicates_.key("ItemId").string(item).end_object();
  }
  void error(std::size_t line, const Problem& problem) {
    if (errors_told_ == model::kMostProblems) {
      ++more_errors_;
      return;
    }
    ++errors_told_;
    errors_.begin_object().key("line").integer(static_cast<std::int64_t>(line)).key("code").string(problem.code);
    errors_.key("message").string(problem.message).key("details").begin_array();
    const auto told = model::short_list(problem.details);
    for (const auto* detail : told.first) {
      errors_.begin_object().key("attribute").string(detail->attribute);
      errors_.key("problem").string(detail->problem).end_object();
    }
    errors_.end_array();
    if (told.more > 0) errors_.key("more").integer(static_cast<std::int64_t>(told.more));
    errors_.end_object();
  }

  std::string body(std::size_t rows, bool complete) {
    duplicates_.end_array();
    errors_.end_array();
    std::string body;
    JsonWriter json(body);
    json.begin_object().key("rows").integer(static_cast<std::int64_t>(rows)).key("created").integer(created_);
    json.key("complete").boolean(complete).key("duplicates").raw(duplicates_text_);
    json.key("errors").raw(errors_text_);
    if (more_errors_ > 0) json.key("moreErrors").integer(more_errors_);
    json.end_object();
    return body;
  }

 private:
  std::int64_t created_ = 0;
  std::size_t errors_told_ = 0;
  std::int64_t more_errors_ = 0;
  std::string duplicates_text_, errors_text_;
  JsonWriter duplicates_ = std::move(JsonWriter(duplicates_text_).begin_array());
  JsonWriter errors_ = std::move(JsonWriter(errors_text_).begin_array());
};

}  // namespace

Result<http::Response, Problem> Transfer::import(const app::NativeCall& call) const {
  std::vector<model::ValueProblem> problems;
  std::optional<ItemTable> table;
  const auto lines = TRY(look_through(call.call, [&](const CsvRow& first) -> Result<void, Problem> {
    if (!first.problem.empty()) return invalid("the first line " + first.problem);
    table.emplace(parts_.repository.model(), first.fields, problems);
    if (!problems.empty()) return invalid("the first line does not name the columns", std::move(problems));
    return {};
  }));

  const auto library = chosen(call.within->attributes, {"OwnerId", "LibraryId"});
  auto lease = TRY(ImportLease::take(parts_, library));
  Import import(parts_.repository, library, call.caller());
  Report report;
  bool complete = true;
  app::FileBody file(call.call);
  CsvReader reader(file);
  auto row = reader.next();  // the first line, which has been looked at
  while (complete && row && *row) {
    row = reader.next();
    if (!row || !*row) break;
    const auto& [at, fields, wrong] = **row;
    if (const auto kept = lease.keep(); !kept) {
      report.error(at, kept.error());
      complete = false;
      break;
    }
    if (!wrong.empty()) {
      report.error(at, invalid("the line " + wrong));
      continue;
    }
    auto line = table->read(fields, problems);
    import.check(line, problems);
    if (!problems.empty()) {
      report.error(at, invalid("the line is not valid", std::exchange(problems, {})));
      continue;
    }
    const auto isbn = line.attributes.text("Isbn");
    const auto added = import.add(std::move(line));
    if (!added) {
      report.error(at, added.error());
      complete = is_the_lines_fault(added.error());
    } else if (*added) {
      report.duplicate(at, isbn, **added);
    } else {
      report.created();
    }
  }
  complete = complete && row.ok();  // the file has been read to its end before, so it always is
  lease.release();
  return app::json_answer(200, report.body(lines, complete));
}

Result<http::Response, Problem> Transfer::export_page(const app::NativeCall& call) const {
  auto& repository = parts_.repository;
  const auto library = chosen(call.within->attributes, {"OwnerId", "LibraryId"});
  const ListName list{.parts = parts_, .action = "export", .parameters = library, .caller = call.caller()};
  runtime::PageRequest request;
  request.limit = std::nullopt;
  request.start = TRY(list.start(call.inputs));
  std::string text;
  append_csv(text, ItemTable::columns());
  auto left = limit_of(call.inputs);
  do {
    request.limit = std::min(kRowsAtOnce, left);
    auto page = TRY(repository.run(*repository.model().find_pattern("all_items"), library, the_service(), request));
    for (const auto& object : page.objects) {
      if (object.entity->name != "COLLECTION") append_csv(text, ItemTable::fields_of(object));
    }
    left -= static_cast<unsigned>(page.objects.size());
    request.start = std::move(page.next);
  } while (request.start && left > 0 && text.size() < kPageBytes);
  http::Response answer{.status = 200,
                        .content_type = "text/csv; charset=utf-8",
                        .headers = "Content-Disposition: attachment; filename=\"library.csv\"\r\n",
                        .body = std::move(text),
                        .close = false};
  if (request.start) answer.headers += fmt::format("Next-Token: {}\r\n", list.token(*request.start));
  return answer;
}

}  // namespace stator::systems::media_library
