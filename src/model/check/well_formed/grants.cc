#include <fmt/format.h>

#include <algorithm>

#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {
namespace {

bool has(const std::vector<std::pair<std::string, std::string>>& pairs, const std::optional<std::string>& first) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == first; });
}

}  // namespace

void check_grants(const Model& model, Report& report) {
  for (const auto& grant : model.grants) {
    if (grant.pointer == nullptr) continue;
    for (const auto& name : grant.pointer->identity) {
      if (!has(grant.key, name))
        report.error(grant.position, "grant-lacks-key",
                     fmt::format("the key of {} is made from {}, which the grant's key does not give",
                                 grant.pointer->name, name));
    }
    for (const auto& entity : model.entities) {
      if (entity.lets_in_by(grant) && !has(grant.gives, entity.owner))
        report.error(grant.position, "grant-lacks-owner",
                     fmt::format("{} lets callers in through {}, which does not give its owner{}", entity.name,
                                 grant.name, entity.owner ? fmt::format(", {}", *entity.owner) : std::string()));
    }
  }
}

}  // namespace stator::model
