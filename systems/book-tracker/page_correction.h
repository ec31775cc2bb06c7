#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stator/app/rest/extension.h"

namespace stator::runtime {
class Transaction;
struct Draft;
}  // namespace stator::runtime

namespace stator::systems::book_tracker {

// POST /books/{id}/corrections: corrects a reading event.
//
// A correction has the whole reading of its event, so the last one replaces the event in statistics.  The next event of
// the book began at the page that is corrected, so it gets a correction, too.  If it is the book's last event, the book
// itself moves.  All this is one transaction.  Thread-safe.
class PageCorrection {
 public:
  explicit PageCorrection(const app::ExtensionParts& parts);

  Result<http::Response, runtime::Problem> answer(const app::NativeCall& call) const;

 private:
  // An event as its last correction says it.
  struct Reading {
    std::string event;  // its id
    std::string occurred_at;
    std::int64_t from_page = 0;
    std::int64_t page = 0;
    std::int64_t corrections = 0;
  };
  struct Found {
    std::optional<Reading> event;
    std::optional<Reading> next;  // of the same book
  };

  Result<Found, runtime::Problem> find(const app::NativeCall& call) const;
  Result<runtime::Draft*, runtime::Problem> append(runtime::Transaction& transaction, const runtime::Draft& book,
                                                   const Reading& reading, std::int64_t from_page,
                                                   std::int64_t page) const;
  static bool is_last(const runtime::Draft& book, const Found& found);
  static Result<void, runtime::Problem> move_book(runtime::Transaction& transaction, runtime::Draft& book,
                                                  std::int64_t page);

  runtime::Repository* repository_;
  const model::Entity* book_;
  const model::Entity* correction_;
  const model::Pattern* events_from_;
};

}  // namespace stator::systems::book_tracker
