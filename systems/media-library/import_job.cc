#include "stator/systems/media-library/import_job.h"

#include <fmt/format.h>

#include <utility>

#include "stator/app/auth/crypto.h"
#include "stator/app/rest/answer.h"
#include "stator/model/problem_list.h"
#include "stator/systems/media-library/import_lease.h"
#include "stator/systems/media-library/native_support.h"
#include "stator/value/json.h"

namespace stator::systems::media_library {
namespace {

using runtime::Problem;
using runtime::ProblemKind;
using runtime::Transaction;
using value::AttributeValue;
using value::Item;
using value::JsonWriter;

// Lines that are noted in one transaction, beside what a row adds.
constexpr std::size_t kNotesAtOnce = 25;
constexpr unsigned kNotesOfPage = 500;
// Rows that add nothing and have no note, until the progress is written all the same.
constexpr std::size_t kRowsAtMost = 500;

AttributeValue number(std::size_t value) { return AttributeValue::number(static_cast<std::int64_t>(value)); }

std::size_t count_of(const Item& item, std::string_view name) { return static_cast<std::size_t>(item.integer(name)); }

const model::Entity& job_entity(const app::ExtensionParts& parts) {
  return *parts.repository.model().find_entity("IMPORT");
}

AttributeValue details_of(const Problem& problem) {
  value::List details;
  for (const auto* detail : model::short_list(problem.details).first) {
    details.push_back(AttributeValue(Item{{"attribute", AttributeValue::string(detail->attribute)},
                                          {"problem", AttributeValue::string(detail->problem)}}));
  }
  return AttributeValue(std::move(details));
}

Item error_line(std::size_t line, const Problem& problem) {
  return {{"Line", number(line)},
          {"Code", AttributeValue::string(problem.code)},
          {"Message", AttributeValue::string(problem.message)},
          {"Details", details_of(problem)}};
}

void append_error(JsonWriter& json, const Item& line) {
  json.begin_object().key("line").integer(line.integer("Line")).key("code").string(line.text("Code"));
  json.key("message").string(line.text("Message")).key("details").begin_array();
  const auto* details = line.find("Details");
  if (details != nullptr && details->as_list() != nullptr) {
    for (const auto& detail : *details->as_list()) {
      const auto& map = *detail.as_map();
      json.begin_object().key("attribute").string(map.text("attribute"));
      json.key("problem").string(map.text("problem")).end_object();
    }
  }
  json.end_array().end_object();
}

}  // namespace

std::string ImportJob::id_of(const Item& library, std::string_view key) {
  const auto owner = library.text("OwnerId");
  const auto text = fmt::format("{}:{}:{}:{}", owner.size(), owner, library.text("LibraryId"), key);
  const auto digest = app::sha256(text);
  std::string hex;
  for (std::size_t i = 0; i < 16; ++i) {
    auto byte = static_cast<unsigned char>(digest[i]);
    if (i == 6) byte = static_cast<unsigned char>((byte & 0x0FU) | 0x80U);  // version 8: made from something else
    if (i == 8) byte = static_cast<unsigned char>((byte & 0x3FU) | 0x80U);
    if (i == 4 || i == 6 || i == 8 || i == 10) hex += '-';
    hex += fmt::format("{:02x}", byte);
  }
  return hex;
}

Item ImportJob::naming() const {
  auto naming = library_;
  naming.set("ImportId", AttributeValue::string(id_));
  return naming;
}

Result<std::optional<ImportJob>, Problem> ImportJob::find(const app::ExtensionParts& parts, const Item& library,
                                                          const std::string& id) {
  ImportJob job(parts, library, id);
  const auto stored = parts.repository.get(job_entity(parts), job.naming(), the_service());
  if (!stored && stored.error().kind == ProblemKind::NotFound) return std::optional<ImportJob>();
  if (!stored) return stored.error();
  const auto& attributes = stored->attributes;
  job.digest_ = attributes.text("Digest");
  job.rows_ = count_of(attributes, "Rows");
  job.progress_ = {.done = count_of(attributes, "Done"),
                   .created = count_of(attributes, "Created"),
                   .duplicates = count_of(attributes, "Duplicates"),
                   .errors = count_of(attributes, "Errors")};
  job.committed_ = job.progress_.done;
  const auto* complete = attributes.find("Complete");
  job.complete_ = complete != nullptr && complete->as_bool() != nullptr && *complete->as_bool();
  return std::optional(std::move(job));
}

Result<ImportJob, Problem> ImportJob::create(const app::ExtensionParts& parts, const Item& library,
                                             const std::string& id, const std::string& digest, std::size_t rows) {
  ImportJob job(parts, library, id);
  job.digest_ = digest;
  job.rows_ = rows;
  auto attributes = job.naming();
  attributes.set("Digest", AttributeValue::string(digest));
  attributes.set("Rows", number(rows));
  for (const auto* counter : {"Done", "Created", "Duplicates", "Errors"}) attributes.set(counter, number(0));
  attributes.set("Complete", AttributeValue::boolean(false));
  TRY(parts.repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
    TRY(transaction.create(job_entity(parts), attributes, runtime::ValueSource::Model));
    return {};
  }));
  return job;
}

Result<void, Problem> ImportJob::commit(const Progress& progress, bool complete,
                                        const std::function<Result<void, Problem>(Transaction&)>& work) {
  const auto& entity = job_entity(parts_);
  const auto& line_entity = *parts_.repository.model().find_entity("IMPORT_LINE");
  TRY(parts_.repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* job = TRY(transaction.load(entity, naming()));
    if (job == nullptr) return app::problem(ProblemKind::NotFound, "NotFound", "the library is gone");
    if (count_of(*job->after, "Done") != committed_) {
      return app::problem(ProblemKind::Conflict, kImportRunning, "another request continues this import");
    }
    transaction.depend_on(*job, {"Done"});
    if (work) TRY(work(transaction));
    for (const auto& line : pending_) {
      auto attributes = naming();
      for (const auto& [name, value] : line) attributes.set(name, value);
      TRY(transaction.create(line_entity, std::move(attributes), runtime::ValueSource::Model));
    }
    model::PlainObject change;
    change.values = {{"Done", number(progress.done)},
                     {"Created", number(progress.created)},
                     {"Duplicates", number(progress.duplicates)},
                     {"Errors", number(progress.errors)},
                     {"Complete", AttributeValue::boolean(complete)}};
    return transaction.change(*job, change, runtime::ValueSource::Model);
  }));
  pending_.clear();
  progress_ = progress;
  committed_ = progress.done;
  complete_ = complete;
  return {};
}

Result<void, Problem> ImportJob::add(const std::function<Result<void, Problem>(Transaction&)>& work) {
  auto after = progress_;
  ++after.done;
  ++after.created;
  return commit(after, false, work);
}

Result<void, Problem> ImportJob::note(Item line) {
  pending_.push_back(std::move(line));
  return pending_.size() >= kNotesAtOnce ? flush(false) : Result<void, Problem>();
}

Result<void, Problem> ImportJob::skip_duplicate(std::size_t line, const std::string& isbn, const std::string& item) {
  ++progress_.done;
  ++progress_.duplicates;
  return note(
      {{"Line", number(line)}, {"Isbn", AttributeValue::string(isbn)}, {"ItemId", AttributeValue::string(item)}});
}

Result<void, Problem> ImportJob::skip_wrong(std::size_t line, const Problem& problem) {
  ++progress_.done;
  if (++progress_.errors <= model::kMostProblems) return note(error_line(line, problem));
  return progress_.done - committed_ >= kRowsAtMost ? flush(false) : Result<void, Problem>();
}

Result<void, Problem> ImportJob::flush(bool complete) {
  if (progress_.done == committed_ && complete == complete_) return {};
  return commit(progress_, complete, nullptr);
}

Result<std::string, Problem> ImportJob::report(std::string_view state,
                                               const std::optional<StoppedBy>& stopped_by) const {
  std::string duplicates_text, errors_text, body;
  JsonWriter duplicates(duplicates_text), errors(errors_text), json(body);
  duplicates.begin_array();
  errors.begin_array();
  const auto& pattern = *parts_.repository.model().find_pattern("import_lines");
  runtime::PageOptions request{.limit = kNotesOfPage, .start = std::nullopt};
  do {
    auto page = TRY(parts_.repository.run(pattern, naming(), the_service(), request));
    for (const auto& object : page.objects) {
      const auto& line = object.attributes;
      if (line.find("ItemId") == nullptr) {
        append_error(errors, line);
        continue;
      }
      duplicates.begin_object().key("line").integer(line.integer("Line")).key("Isbn").string(line.text("Isbn"));
      duplicates.key("ItemId").string(line.text("ItemId")).end_object();
    }
    request.start = std::move(page.next);
  } while (request.start);
  if (stopped_by) append_error(errors, error_line(stopped_by->line, stopped_by->problem));
  duplicates.end_array();
  errors.end_array();

  const auto integer = [&](std::string_view name, std::size_t value) {
    json.key(name).integer(static_cast<std::int64_t>(value));
  };
  json.begin_object().key("ImportId").string(id_).key("state").string(state);
  integer("rows", rows_);
  integer("done", progress_.done);
  integer("created", progress_.created);
  json.key("complete").boolean(complete_).key("duplicates").raw(duplicates_text).key("errors").raw(errors_text);
  if (progress_.errors > model::kMostProblems) integer("moreErrors", progress_.errors - model::kMostProblems);
  json.end_object();
  return body;
}

}  // namespace stator::systems::media_library
