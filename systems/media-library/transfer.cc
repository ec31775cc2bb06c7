#include "stator/systems/media-library/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "stator/app/auth/crypto.h"
#include "stator/app/rest/answer.h"
#include "stator/app/rest/idempotency.h"
#include "stator/app/rest/request/file_body.h"
#include "stator/app/rest/routes/list_name.h"
#include "stator/model/expression/template.h"
#include "stator/model/problem_list.h"
#include "stator/model/types/isbn.h"
#include "stator/runtime/write/given.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/csv.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

using runtime::Object;
using runtime::Problem;
using runtime::ProblemKind;
using value::AttributeValue;
using value::Item;

constexpr unsigned kRowsAtOnce = 500;

Problem invalid(std::string message, std::vector<model::ValueProblem> details = {}) {
  return {
      .kind = ProblemKind::Invalid, .code = "Invalid", .message = std::move(message), .details = std::move(details)};
}

// Whether the next line can still succeed.
bool is_the_lines_fault(const Problem& problem) {
  if (problem.code == kImportRunning) return false;
  return problem.kind == ProblemKind::Invalid || problem.kind == ProblemKind::Conflict ||
         problem.kind == ProblemKind::TooLarge;
}

// Everything that a pattern finds, page by page.
Result<void, Problem> for_each(runtime::Repository& repository, std::string_view pattern, const Item& parameters,
                               const std::function<void(const Object&)>& visit) {
  runtime::PageOptions request{.limit = kRowsAtOnce, .start = std::nullopt};
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
  Import(runtime::Repository& repository, const Item& library) : repository_(repository), library_(library) {}

  // Adds to `problems` the mistakes of a line that are not in it yet.
  void check(ItemTable::Line& line, std::vector<model::ValueProblem>& problems) const {
    auto more = runtime::check_new(*line.entity, line.attributes, runtime::ValueSource::Request);
    runtime::check_complete(*line.entity, with_place(line.attributes), more);
    if (!line.collection.empty()) check_collection(line.collection, more);
    for (auto& one : more) {
      const bool told = std::ranges::find(problems, one.attribute, &model::ValueProblem::attribute) != problems.end();
      if (!told) problems.push_back(std::move(one));
    }
  }

  // The id of the item that has this line's ISBN already, or nothing when the line was added, as the next row of `job`.
  Result<std::optional<std::string>, Problem> add(const ItemTable::Line& line, ImportJob& job) {
    const auto isbn = model::normal_isbn(line.attributes.text("Isbn"));
    if (isbn) {
      if (!by_isbn_) TRY(read_isbns());
      const auto known = by_isbn_->find(model::isbn13(*isbn));
      if (known != by_isbn_->end()) return std::optional(known->second);
    }
    const auto id = TRY(create(line, job));
    if (isbn) by_isbn_->emplace(model::isbn13(*isbn), id);
    return std::optional<std::string>();
  }

 private:
  static std::string folded(std::string_view name) {
    auto fold = model::fold_letters(name);
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
    for (auto& problem : runtime::check_new(collection_entity(), attributes, runtime::ValueSource::Request)) {
      problems.push_back({.attribute = "Collection", .problem = std::move(problem.problem)});
    }
  }

  // The id of the new item.  If another request has created or removed a collection in the meantime, the line is tried
  // again.
  Result<std::string, Problem> create(const ItemTable::Line& line, ImportJob& job) {
    auto item = create_as_read(line, job);
    const bool outdated = !item && (item.error().code == "NoSuchParent" || item.error().code == "Duplicate");
    if (!outdated) return item;
    collections_.reset();
    return create_as_read(line, job);
  }

  // With its collection, if that is missing, in one transaction: a line that is refused after all leaves none behind.
  Result<std::string, Problem> create_as_read(const ItemTable::Line& line, ImportJob& job) {
    if (!line.collection.empty() && !collections_) TRY(read_collections());
    const auto name = folded(line.collection);
    const bool is_new = !line.collection.empty() && !collections_->contains(name);
    std::string item, collection;
    TRY(job.add([&](runtime::Transaction& transaction) -> Result<void, Problem> {
      auto attributes = with_place(line.attributes);
      if (is_new) {
        collection = TRY(create_collection(transaction, line.collection));
      } else if (!line.collection.empty()) {
        collection = collections_->at(name);
      }
      if (!collection.empty()) attributes.set("CollectionId", AttributeValue::string(collection));
      item = TRY(transaction.create(*line.entity, attributes, runtime::ValueSource::Request))->after->text("ItemId");
      return {};
    }));
    if (is_new) collections_->emplace(name, collection);
    return item;
  }

  Result<std::string, Problem> create_collection(runtime::Transaction& transaction, const std::string& name) const {
    auto named = library_;
    named.set("Name", AttributeValue::string(name));
    auto made = transaction.create(collection_entity(), named, runtime::ValueSource::Request);
    if (made) return (*made)->after->text("CollectionId");
    auto problem = std::move(made).error();
    for (auto& detail : problem.details) {
      if (detail.attribute == "Name") detail.attribute = "Collection";  // as the column is called
    }
    if (problem.details.size() == 1) problem.message = problem.details[0].attribute + ' ' + problem.details[0].problem;
    return problem;
  }

  const model::Entity& collection_entity() const { return *repository_.model().find_entity("COLLECTION"); }

  runtime::Repository& repository_;
  const Item library_;  // what names it: the caller is its owner
  // Read when a line first needs them.
  std::optional<std::map<std::string, std::string>> collections_;  // folded name -> id
  std::optional<std::map<std::string, std::string>> by_isbn_;      // ISBN-13 -> item
};

// Reads the file once without doing anything, so that one that cannot be read, or is too long, adds nothing.  How many
// lines it has beside the first, which `look_at_first` judges.
Result<std::size_t, Problem> look_through(const app::RestCall& call, std::optional<char> separator,
                                          const std::function<Result<void, Problem>(const CsvRow&)>& look_at_first) {
  app::FileBody file(call);
  CsvReader reader(file, separator);
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

std::optional<char> declared_separator(const Item& inputs) {
  const auto name = inputs.text("separator");
  if (name.empty()) return std::nullopt;
  return name == "semicolon" ? ';' : name == "tab" ? '\t' : ',';
}

// The rows of a file, from the first behind those that are done.
class Rows {
 public:
  Rows(const app::RestCall& call, std::optional<char> separator) : file_(call), reader_(file_, separator) {}

  // The first line, and that many behind it.
  Result<void, Problem> pass(std::size_t count) {
    for (std::size_t i = 0; i <= count; ++i) TRY(next());
    return {};
  }
  Result<std::optional<CsvRow>, Problem> next() {
    auto row = reader_.next();
    if (!row) return app::unreadable(row.error());
    return std::move(*row);
  }

 private:
  app::FileBody file_;
  CsvReader reader_;
};

http::Response replayed(std::string body) {
  auto answer = app::json_answer(200, std::move(body));
  answer.headers = "Idempotency-Replayed: true\r\n";
  return answer;
}

}  // namespace

Result<ImportJob, Problem> Transfer::open_job(const app::NativeCall& call, const Item& library, std::size_t rows,
                                              const std::string& id, const std::string& digest) const {
  if (auto job = TRY(find_job(call, library, id, digest))) return std::move(*job);
  auto made = ImportJob::create(parts_, library, id, digest, rows);
  if (made || made.error().kind != ProblemKind::Conflict) return made;
  // Another request with the same key has just made it.
  auto job = TRY(find_job(call, library, id, digest));
  if (!job) return made;
  return std::move(*job);
}

Result<std::optional<ImportJob>, Problem> Transfer::find_job(const app::NativeCall& call, const Item& library,
                                                             const std::string& id, const std::string& digest) const {
  auto job = TRY(ImportJob::find(parts_, library, id));
  const bool must_be_there = call.inputs.find("continue") != nullptr;
  if (!job && must_be_there) return app::problem(ProblemKind::NotFound, "NotFound", "there is no such import");
  if (job && job->digest() != digest) {
    return app::problem(ProblemKind::Conflict, "IdempotencyKeyReused",
                        "this import is of another file; only the same file can continue it");
  }
  return job;
}

Result<http::Response, Problem> Transfer::import(const app::NativeCall& call) const {
  const auto key = call.call.request.header("Idempotency-Key");
  if (!key.empty()) TRY(app::IdempotencyStore::check_key(key));
  const auto library = chosen(call.within->attributes, {"OwnerId", "LibraryId"});
  const auto separator = declared_separator(call.inputs);
  const auto continued = call.inputs.text("continue");
  const auto id = !continued.empty() ? continued : key.empty() ? parts_.random.uuid() : ImportJob::id_of(library, key);
  const auto digest = app::base64url(app::sha256(
      std::array{std::string_view(separator ? &*separator : "", separator ? 1 : 0), std::string_view(call.call.body)}));
  const auto known = TRY(find_job(call, library, id, digest));
  if (known && known->complete()) return replayed(TRY(known->report("DONE")));

  std::vector<model::ValueProblem> problems;
  std::optional<ItemTable> table;
  const auto rows = TRY(look_through(call.call, separator, [&](const CsvRow& first) -> Result<void, Problem> {
    if (!first.problem.empty()) return invalid("the first line " + first.problem);
    table.emplace(parts_.repository.model(), first.fields, problems);
    if (!problems.empty()) return invalid("the first line does not name the columns", std::move(problems));
    return {};
  }));
  auto lease = TRY(ImportLease::take(parts_, library, id));
  auto job = open_job(call, library, rows, id, digest);
  auto stopped_by = job ? import_rows(call, *table, lease, *job) : job.error();
  // Of an import that another request continues, that request has the lease.
  if (stopped_by || stopped_by.error().code != kImportRunning) lease.release();
  const auto stopped = TRY(std::move(stopped_by));
  return app::json_answer(200, TRY(job->report(job->complete() ? "DONE" : "STOPPED", stopped)));
}

Result<std::optional<ImportJob::StoppedBy>, Problem> Transfer::import_rows(const app::NativeCall& call,
                                                                           const ItemTable& table, ImportLease& lease,
                                                                           ImportJob& job) const {
  Import import(parts_.repository, chosen(call.within->attributes, {"OwnerId", "LibraryId"}));
  Rows rows(call.call, declared_separator(call.inputs));
  TRY(rows.pass(job.done()));
  std::size_t line = 0;
  const auto do_row = [&](const CsvRow& row) -> Result<void, Problem> {
    TRY(lease.keep());
    if (!row.problem.empty()) return job.skip_wrong(row.line, invalid("the line " + row.problem));
    std::vector<model::ValueProblem> problems;
    auto item = table.read(row.fields, problems);
    if (item.entity != nullptr) import.check(item, problems);
    if (!problems.empty()) return job.skip_wrong(row.line, invalid("the line is not valid", std::move(problems)));
    const auto added = import.add(item, job);
    if (added && *added) return job.skip_duplicate(row.line, item.attributes.text("Isbn"), **added);
    if (added) return {};
    return is_the_lines_fault(added.error()) ? job.skip_wrong(row.line, added.error()) : added.error();
  };
  const auto do_all = [&]() -> Result<void, Problem> {
    for (auto row = TRY(rows.next()); row; row = TRY(rows.next())) {
      line = row->line;
      TRY(do_row(*row));
    }
    return job.flush(true);
  };
  auto done = do_all();
  if (done) return std::optional<ImportJob::StoppedBy>();
  if (done.error().code == kImportRunning) return std::move(done).error();
  return std::optional(ImportJob::StoppedBy{.line = line, .problem = std::move(done).error()});
}

Result<http::Response, Problem> Transfer::show_import(const app::NativeCall& call) const {
  const auto id = call.inputs.text("ImportId");
  const auto job = TRY(ImportJob::find(parts_, chosen(call.within->attributes, {"OwnerId", "LibraryId"}), id));
  if (!job) return app::problem(ProblemKind::NotFound, "NotFound", "there is no such import");
  const bool runs = ImportLease::is_held(parts_, call.within->attributes, id);
  return app::json_answer(200, TRY(job->report(job->complete() ? "DONE" : runs ? "RUNNING" : "STOPPED")));
}

Result<http::Response, Problem> Transfer::export_page(const app::NativeCall& call) const {
  auto& repository = parts_.repository;
  const auto library = chosen(call.within->attributes, {"OwnerId", "LibraryId"});
  const app::ListName list{.parts = parts_, .action = "export", .parameters = library, .caller = call.caller()};
  runtime::PageOptions request;
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
