#include "stator/runtime/migration/clashes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "stator/model/rows.h"
#include "stator/runtime/rules/effects.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Model;
using model::Reservation;
using value::Item;

bool compares_otherwise(const model::Unique& was, const model::Unique& is) {
  return was.attributes == is.attributes && was.within == is.within && was.compared != is.compared;
}

// The rules of `is` that `was` has in another way.
std::vector<const model::Unique*> changed_rules(const Entity& was, const Entity& is) {
  std::vector<const model::Unique*> changed;
  for (const auto& rule : is.uniques) {
    const bool found = std::any_of(was.uniques.begin(), was.uniques.end(),
                                   [&](const model::Unique& old) { return compares_otherwise(old, rule); });
    if (found) changed.push_back(&rule);
  }
  return changed;
}

class ClashSearch {
 public:
  ClashSearch(const Model& from, const Model& to, Dynamo& dynamo) : from_(from), to_(to), dynamo_(dynamo) {}

  Result<std::vector<RowFinding>, Problem> run(const std::function<void(std::uint64_t)>& looked_at) {
    const auto look = [&](const Item& row) { return look_at(row); };
    const auto tell = [&](std::uint64_t rows, const Item&) { return looked_at(rows), true; };
    TRY(dynamo_.scan(to_.table.name, std::nullopt, look, tell));
    return std::move(clashes_);
  }

 private:
  Result<void, Problem> look_at(const Item& row) {
    const auto [was, record] = from_.find_row_type(row.text(from_.table.type_attribute));
    const auto* is = was != nullptr && record == &was->main() ? to_.find_entity(was->name) : nullptr;
    if (is == nullptr || changed_rules(*was, *is).empty()) return {};
    const auto attributes = model::attributes_of(from_, *was, *record, row);
    const auto before = model::reservations_of(from_, *was, attributes);
    const auto after = model::reservations_of(to_, *is, attributes);
    if (!after) return {};  // the rewriting reports a row without a key
    for (const auto& claim : *after) {
      const bool kept = before && std::any_of(before->begin(), before->end(),
                                              [&](const Reservation& old) { return old.key == claim.key; });
      if (!kept) TRY(look_at(*is, model::primary_key_of(from_.table, row), claim));
    }
    return {};
  }

  Result<void, Problem> look_at(const Entity& entity, const Item& key, const Reservation& claim) {
    const auto own = claim.item.text(kReservationOwner);
    auto& first = claims_[key_text(claim.key)];
    if (first.empty()) {
      const auto taken = TRY(dynamo_.get(to_.table.name, claim.key));
      first = taken ? taken->text(kReservationOwner) : own;
    }
    if (first == own) return {};
    clashes_.push_back({.kind = RowFinding::Kind::Reservation,
                        .entity = entity.name,
                        .key = key,
                        .what = fmt::format("{}", fmt::join(claim.rule->attributes, ", ")),
                        .expected = own,
                        .found = first,
                        .repairable = false});
    return {};
  }

  const Model& from_;
  const Model& to_;
  Dynamo& dynamo_;
  std::map<std::string, std::string> claims_;  // keys of reservations that change -> whose they are
  std::vector<RowFinding> clashes_;
};

}  // namespace

std::vector<std::string> rules_that_compare_otherwise(const Model& from, const Model& to) {
  std::vector<std::string> names;
  for (const auto& entity : to.entities) {
    const auto* old = from.find_entity(entity.name);
    if (old == nullptr) continue;
    for (const auto* rule : changed_rules(*old, entity)) {
      names.push_back(fmt::format("{}.{}", entity.name, fmt::join(rule->attributes, "+")));
    }
  }
  return names;
}

Result<std::vector<RowFinding>, Problem> find_clashes(const Model& from, const Model& to, Dynamo& dynamo,
                                                      const std::function<void(std::uint64_t)>& looked_at) {
  return ClashSearch(from, to, dynamo).run(looked_at);
}

}  // namespace stator::runtime
