#include "stator/systems/media-library/lending.h"

#include <chrono>

#include "stator/app/rest/answer.h"
#include "stator/model/types/calendar.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

using runtime::Problem;
using runtime::ProblemKind;
using runtime::Transaction;
using value::AttributeValue;
using value::Item;

constexpr unsigned kEventsAtOnce = 50;  // a transaction has room for 100 rows

// The attributes that name the item an action is about.
Item item_naming(const app::NativeCall& call) {
  auto naming = chosen(call.within->attributes, {"OwnerId", "LibraryId"});
  naming.set("ItemId", AttributeValue::string(call.inputs.text("ItemId")));
  return naming;
}

// Requires that the item exists and is not lent when the transaction is committed.
Result<void, Problem> require_at_home(Transaction& transaction, const model::Model& model, const Item& naming) {
  for (const auto* name : {"BOOK", "VIDEO"}) {
    const auto* item = TRY(transaction.load(*model.find_entity(name), naming));
    if (item == nullptr) continue;
    if (item->after->find("LentTo") != nullptr) {
      return app::problem(ProblemKind::Conflict, "StillLent", "its history is kept while it is lent");
    }
    transaction.depend_on(*item, {"LentTo"});
    return {};
  }
  return app::problem(ProblemKind::NotFound, "NotFound", "there is no such item");
}

}  // namespace

Result<http::Response, Problem> Lending::history(const app::NativeCall& call) const {
  const auto naming = item_naming(call);
  TRY(find_item(parts_.repository, naming));
  return list_answer(parts_, call, "events_of_item", naming);
}

Result<http::Response, Problem> Lending::forget(const app::NativeCall& call) const {
  auto& repository = parts_.repository;
  const auto& model = repository.model();
  const auto naming = item_naming(call);
  const auto& event = *model.find_entity("EVENT");
  for (bool more = true; more;) {
    const auto page = TRY(repository.run(*model.find_pattern("stored_events"), naming, the_service(),
                                         {.limit = kEventsAtOnce, .start = std::nullopt}));
    TRY(repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
      TRY(require_at_home(transaction, model, naming));
      for (const auto& object : page.objects) {
        auto* draft = TRY(transaction.load(event, object.attributes));
        if (draft != nullptr) TRY(transaction.remove(*draft));
      }
      return {};
    }));
    more = page.next.has_value();
  }
  return http::Response{.status = 204, .content_type = {}, .headers = {}, .body = {}, .close = false};
}

Result<http::Response, Problem> Lending::overdue(const app::NativeCall& call) const {
  const auto today = std::chrono::floor<std::chrono::days>(parts_.clock.now());
  Item parameters;
  parameters.set("OwnerId", AttributeValue::string(*call.caller().subject));
  parameters.set("Day", AttributeValue::string(model::format_date(today)));
  return list_answer(parts_, call, "due_before", parameters);
}

}  // namespace stator::systems::media_library
