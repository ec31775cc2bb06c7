#include "stator/systems/worthwatch/extension.h"

#include <fmt/format.h>

#include <memory>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/precondition.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/worthwatch/item_order.h"
#include "stator/systems/worthwatch/list_clone.h"
#include "stator/systems/worthwatch/list_items.h"

namespace stator::systems::worthwatch {
namespace {

using app::NativeCall;
using runtime::Problem;

// Objects as the model's own routes answer them.
http::Response object_answer(int status, const model::Model& model, const runtime::Object& object) {
  auto answer = app::json_answer(status, {});
  answer.headers = fmt::format("ETag: {}\r\n", app::etag_of(object));
  if (status == 201) answer.headers += fmt::format("Location: /systems/{}/v1{}\r\n", model.name, app::path_of(object));
  app::append_object(answer.body, model.table, object);
  return answer;
}

Result<http::Response, Problem> clone(runtime::Repository& repository, const Clock& clock, const NativeCall& call) {
  const auto& list = *call.within;
  const auto* title = call.inputs.find("title");
  if (title == nullptr) title = list.attributes.find("title");
  const auto copy = TRY(clone_list(
      repository, list, {.title = *title->as_string(), .is_public = *call.inputs.find("isPublic")->as_bool()},
      call.caller(), clock));
  return object_answer(201, repository.model(), copy);
}

Result<http::Response, Problem> move(ItemOrder& order, const model::Model& model, const NativeCall& call) {
  const auto* before = call.inputs.find("before");
  const auto* behind = call.inputs.find("after");
  if ((before == nullptr) == (behind == nullptr)) {
    return runtime::invalid("say either before or after", {{"before", "or after is required, not both"}});
  }
  const Place place{.side = before != nullptr ? Place::Side::Before : Place::Side::Behind,
                    .anchor = *(before != nullptr ? before : behind)->as_map()};
  value::Item item;
  for (const auto* name : {"watchlistId", "contentType", "contentId"}) item.set(name, *call.inputs.find(name));
  return object_answer(200, model, TRY(order.move(item, place, app::precondition_of(call.call.request))));
}

// A user who was suspended, left and registers again is still suspended.
Result<void, Problem> keep_suspended(const model::Model& model, runtime::Transaction& transaction,
                                     runtime::Draft& user) {
  if (user.before) return {};
  const auto& entity = *model.find_entity("SUSPENSION");
  const value::Item naming{{"userId", *user.after->find("userId")}};
  const auto* suspension = TRY(transaction.load(entity, naming));
  if (suspension == nullptr) return transaction.depend_on_absence(entity, naming);
  transaction.depend_on(*suspension, {});
  model::PlainObject changes;
  changes.values.set("curatorStatus", value::AttributeValue::string("SUSPENDED"));
  return transaction.change(user, changes, runtime::ValueSource::Model);
}

}  // namespace

app::Additions extension(const app::ExtensionParts& parts) {
  auto& repository = parts.repository;
  const auto& model = repository.model();
  const auto& clock = parts.clock;
  const auto order = std::make_shared<ItemOrder>(repository, clock);
  const auto* item_entity = model.find_entity("WATCHLIST_ITEM");
  return {
      .natives =
          {
              {"clone", [&repository, &clock](const NativeCall& call) { return clone(repository, clock, call); }},
              {"move", [&repository, order](const NativeCall& call) { return move(*order, repository.model(), call); }},
          },
      .follow =
          {
              {model.find_entity("USER"),
               [&model](runtime::Transaction& transaction, runtime::Draft& draft) {
                 return keep_suspended(model, transaction, draft);
               }},
              {item_entity,
               [&model, &clock](runtime::Transaction& transaction, runtime::Draft& item) {
                 if (!item.changed()) return Result<void, Problem>();
                 return touch_list(model, transaction, *item.after->find("watchlistId"), clock);
               }},
          },
      .make_room = {{item_entity,
                     [order](const value::Item& naming) { return order->make_room(*naming.find("watchlistId")); }}},
  };
}

}  // namespace stator::systems::worthwatch
