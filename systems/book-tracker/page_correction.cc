#include "stator/systems/book-tracker/page_correction.h"

#include <fmt/format.h>

#include "stator/app/rest/answer.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"

namespace stator::systems::book_tracker {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;

constexpr std::int64_t kMostCorrections = 999;  // of one event, as the model says

Problem beyond_the_end() {
  constexpr std::string_view kMessage = "the book has fewer pages";
  return {runtime::ProblemKind::Invalid, "BeyondTheEnd", std::string(kMessage), {{"page", std::string(kMessage)}}};
}

}  // namespace

PageCorrection::PageCorrection(const app::ExtensionParts& parts)
    : repository_(&parts.repository),
      book_(parts.repository.model().find_entity("BOOK")),
      correction_(parts.repository.model().find_entity("CORRECTION")),
      events_from_(parts.repository.model().find_pattern("events_from")) {}

// The rows from the event on, until those of a third event begin.  Behind each event are its corrections.
Result<PageCorrection::Found, Problem> PageCorrection::find(const app::NativeCall& call) const {
  const auto& wanted = call.inputs.text("corrects");
  const auto& when = call.inputs.text("occurredAt");
  const Item parameters{{"bookId", *call.inputs.find("id")},
                        {"id", *call.inputs.find("corrects")},
                        {"occurredAt", AttributeValue::string(when)}};
  Found found;
  runtime::PageOptions request;
  do {
    auto page = TRY(repository_->run(*events_from_, parameters, call.caller(), request));
    for (const auto& row : page.objects) {
      const bool corrects = row.entity == correction_;
      const auto& event = row.attributes.text(corrects ? "corrects" : "id");
      const auto& occurred_at = row.attributes.text("occurredAt");
      const bool is_wanted = event == wanted && occurred_at == when;
      if (!found.event && !is_wanted) return found;
      auto& reading = is_wanted ? found.event : found.next;
      if (reading && reading->event != event) return found;
      reading = {.event = event,
                 .occurred_at = occurred_at,
                 .from_page = row.attributes.integer("fromPage"),
                 .page = row.attributes.integer("page"),
                 .corrections = corrects ? row.attributes.integer("number") : 0};
    }
    request.start = std::move(page.next);
  } while (request.start);
  return found;
}

Result<Draft*, Problem> PageCorrection::append(Transaction& transaction, const Draft& book, const Reading& reading,
                                               std::int64_t from_page, std::int64_t page) const {
  if (reading.corrections >= kMostCorrections)
    return runtime::conflict("Full", fmt::format("an event can be corrected {} times", kMostCorrections));
  Item attributes{{"userId", *book.after->find("userId")},
                  {"bookId", *book.after->find("id")},
                  {"corrects", AttributeValue::string(reading.event)},
                  {"occurredAt", AttributeValue::string(reading.occurred_at)},
                  {"number", AttributeValue::number(reading.corrections + 1)},
                  {"fromPage", AttributeValue::number(from_page)},
                  {"page", AttributeValue::number(page)}};
  // If another request corrects the same event at the same moment, the later one starts again.
  TRY(transaction.depend_on_absence(*correction_, attributes));
  return transaction.create(*correction_, std::move(attributes), ValueSource::Model);
}

// Books whose last event is older than the attribute have only the order of the timeline.
bool PageCorrection::is_last(const Draft& book, const Found& found) {
  const auto& last = book.after->text("lastEvent");
  return last.empty() ? !found.next : last == found.event->event;
}

Result<void, Problem> PageCorrection::move_book(Transaction& transaction, Draft& book, std::int64_t page) {
  const bool cleared = book.after->find("currentPage") == nullptr;
  model::PlainObject changes;
  changes.values.set(cleared ? "clearedPage" : "currentPage", AttributeValue::number(page));
  return transaction.change(book, changes, ValueSource::Model);
}

Result<http::Response, Problem> PageCorrection::answer(const app::NativeCall& call) const {
  const auto page = call.inputs.integer("page");
  Object answer;
  TRY(repository_->transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* book = TRY(transaction.load(*book_, call.within->attributes));
    if (book == nullptr) return runtime::not_found(book_->name);
    transaction.depend_on(*book, {});  // each new event changes its version
    const auto* pages = book->after->find("totalPages");
    if (pages != nullptr && book->after->integer("totalPages") < page) return beyond_the_end();
    const auto found = TRY(find(call));
    if (!found.event) return runtime::invalid({{"corrects", "is no event of this book at that time"}});
    const auto* correction = TRY(append(transaction, *book, *found.event, found.event->from_page, page));
    answer = runtime::to_object(repository_->model(), *correction_, *correction->after);
    if (is_last(*book, found)) return move_book(transaction, *book, page);
    const bool follows = found.next && found.next->from_page == found.event->page && found.event->page != page;
    if (follows) TRY(append(transaction, *book, *found.next, page, found.next->page));
    return {};
  }));
  std::string body;
  app::append_object(body, repository_->model().table, answer);
  return app::json_answer(201, std::move(body));
}

}  // namespace stator::systems::book_tracker
