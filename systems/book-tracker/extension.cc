#include "stator/systems/book-tracker/extension.h"

#include "stator/model/types/calendar.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/book-tracker/page_correction.h"
#include "stator/systems/book-tracker/statistics_action.h"

namespace stator::systems::book_tracker {
namespace {

using runtime::Draft;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;

bool is_read(const std::optional<Item>& book) {
  const auto* status = book ? book->find("status") : nullptr;
  return status != nullptr && *status == AttributeValue::string("READ");
}

// A book that becomes READ was finished now; one that is read again is not finished any more.
Result<void, Problem> note_the_end(Transaction& transaction, Draft& book, const Clock& clock) {
  model::PlainObject changes;
  if (is_read(book.after) && !is_read(book.before)) {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(clock.now());
    changes.values.set("finishedAt", AttributeValue(model::format_timestamp(now)));
  } else if (!is_read(book.after) && book.after->find("finishedAt") != nullptr) {
    changes.nulls.emplace_back("finishedAt");
  } else {
    return {};
  }
  return transaction.change(book, changes, ValueSource::Model);
}

// Editing currentPage of a book is a reading event, too.  The first page of a new book is no event: the time of that
// reading is not known.  A page that is cleared is kept, so that the next event begins there.
Result<void, Problem> log_the_page(Transaction& transaction, Draft& book, const model::Entity& event) {
  if (!book.before) return {};
  const auto* page = book.after->find("currentPage");
  const auto* before = book.before->find("currentPage");
  const bool same = page == nullptr || before == nullptr ? page == before : *page == *before;
  if (same) return {};
  model::PlainObject changes;
  if (page == nullptr) {
    changes.values.set("clearedPage", *before);
    return transaction.change(book, changes, ValueSource::Model);
  }
  if (before == nullptr) before = book.before->find("clearedPage");
  Item attributes;
  attributes.set("userId", *book.after->find("userId"));
  attributes.set("bookId", *book.after->find("id"));
  attributes.set("page", *page);
  attributes.set("fromPage", before != nullptr ? *before : AttributeValue::number(0));
  const auto* logged = TRY(transaction.create(event, std::move(attributes), ValueSource::Model));
  changes.values.set("lastEvent", *logged->after->find("id"));
  changes.nulls.emplace_back("clearedPage");
  return transaction.change(book, changes, ValueSource::Model);
}

}  // namespace

app::Additions extension(const app::ExtensionParts& parts) {
  const auto& model = parts.repository.model();
  const auto follow_book = [&clock = parts.clock, &event = *model.find_entity("EVENT")](
                               Transaction& transaction, Draft& book) -> Result<void, Problem> {
    TRY(log_the_page(transaction, book, event));
    return note_the_end(transaction, book, clock);
  };
  return {.natives =
              {
                  {"correct",
                   [action = PageCorrection(parts)](const app::NativeCall& call) { return action.answer(call); }},
                  {"statistics",
                   [action = StatisticsAction(parts)](const app::NativeCall& call) { return action.answer(call); }},
              },
          .follow = {{model.find_entity("BOOK"), follow_book}}};
}

}  // namespace stator::systems::book_tracker
