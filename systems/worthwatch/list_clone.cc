#include "stator/systems/worthwatch/list_clone.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "stator/base/log.h"
#include "stator/model/types/calendar.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/worthwatch/item_order.h"
#include "stator/systems/worthwatch/list_items.h"

namespace stator::systems::worthwatch {
namespace {

using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;

constexpr std::size_t kClonedTogether =
    45;  // each item and its movie or show, and the list and its owner, make less than 100 rows
constexpr std::chrono::hours kUnfinished{1};  // until an interrupted copy is deleted

void copy_attribute(const Item& from, std::string_view name, Item& to) {
  if (const auto* content = from.find(name)) to.set(name, *content);
}

// One copy being made.
class Cloning {
 public:
  Cloning(runtime::Repository& repository, const Object& list, const runtime::Caller& caller,
          const std::vector<Object>& items, const Clock& clock)
      : repository_(repository),
        clock_(clock),
        list_(list),
        item_(*repository.model().find_entity("WATCHLIST_ITEM")),
        caller_(caller),
        items_(items) {}

  Result<Object, Problem> run(const CloneRequest& request) {
    const auto first = std::min(kClonedTogether, items_.size());
    const bool at_once = first == items_.size();
    TRY(repository_.transact([&](Transaction& transaction) -> Result<void, Problem> {
      const auto* copy =
          TRY(transaction.create(*list_.entity, attributes_of_copy(request, at_once), ValueSource::Model));
      id_ = *copy->after->find("watchlistId");
      return add(transaction, 0, first);
    }));
    if (!at_once) {
      if (auto rest = add_rest(first); !rest) {
        const auto removed = repository_.remove(*list_.entity, name(), caller_);
        if (!removed) log::warning("unfinished_clone_left_to_expire", {{"error", removed.error().message}});
        return std::move(rest).error();
      }
    }
    return repository_.get(*list_.entity, name(), caller_);
  }

 private:
  Item attributes_of_copy(const CloneRequest& request, bool at_once) const {
    Item copy{{"curatorId", AttributeValue::string(*caller_.subject)},
              {"title", AttributeValue::string(request.title)},
              {"isPublic", AttributeValue::boolean(request.is_public)},
              {"clonedFrom", *list_.attributes.find("watchlistId")}};
    copy_attribute(list_.attributes, "description", copy);
    copy_attribute(list_.attributes, "tags", copy);
    if (!at_once) {
      const auto until = std::chrono::floor<std::chrono::milliseconds>(clock_.now() + kUnfinished);
      copy.set("unfinishedUntil", AttributeValue::string(model::format_timestamp(until)));
    }
    return copy;
  }

  Result<void, Problem> add_rest(std::size_t first) {
    for (auto start = first; start < items_.size(); start += kClonedTogether) {
      const auto end = std::min(start + kClonedTogether, items_.size());
      TRY(repository_.transact([&](Transaction& transaction) -> Result<void, Problem> {
        if (end == items_.size()) TRY(finish(transaction));
        return add(transaction, start, end);
      }));
    }
    return {};
  }

  Result<void, Problem> finish(Transaction& transaction) {
    auto* copy = TRY(transaction.load(*list_.entity, name()));
    if (copy == nullptr) return runtime::conflict("Removed", "the copy was deleted while it was being made");
    return transaction.change(*copy, {.values = {}, .nulls = {"unfinishedUntil"}}, ValueSource::Model);
  }

  Result<void, Problem> add(Transaction& transaction, std::size_t start, std::size_t end) {
    for (auto i = start; i < end; ++i) {
      Item item{{"watchlistId", id_},
                {"position", AttributeValue::number((static_cast<std::int64_t>(i) + 1) * kPositionStep)}};
      for (const auto* name : {"contentType", "contentId", "curatorNote"}) {
        copy_attribute(items_[i].attributes, name, item);
      }
      TRY(transaction.create(item_, std::move(item), ValueSource::Model));
    }
    return {};
  }

  Item name() const { return Item{{"watchlistId", id_}}; }

  runtime::Repository& repository_;
  const Clock& clock_;
  const Object& list_;
  const model::Entity& item_;
  const runtime::Caller& caller_;
  const std::vector<Object>& items_;
  AttributeValue id_;
};

}  // namespace

Result<Object, Problem> clone_list(runtime::Repository& repository, const Object& list, const CloneRequest& request,
                                   const runtime::Caller& caller, const Clock& clock) {
  const auto items = TRY(items_of(repository, *list.attributes.find("watchlistId"), caller, kMostClonedItems));
  if (items.size() > kMostClonedItems) {
    return runtime::Problem{.kind = runtime::ProblemKind::TooLarge,
                            .code = "TooLarge",
                            .message = fmt::format("a list of more than {} items cannot be cloned", kMostClonedItems),
                            .details = {}};
  }
  return Cloning(repository, list, caller, items, clock).run(request);
}

}  // namespace stator::systems::worthwatch
