#include "stator/model/check/well_formed/well_formed.h"

#include <algorithm>
#include <set>

namespace stator::model {

void check_well_formed(const Syntax& syntax, const Model& model, Report& report) {
  check_words(syntax, model, report);
  check_values(syntax, model, report);
  check_paths(syntax, report);
  check_grants(model, report);
  check_relations(syntax, model, report);
  check_stored(syntax, model, report);
  check_entities(syntax, model, report);
  check_operations(syntax, model, report);
  check_steps(syntax, model, report);
  check_cycles(model, report);
  check_table(syntax, model, report);
  check_routes(model, report);
  check_orders(model, report);
}

bool gives(const std::vector<std::string_view>& names, const Entity& entity, std::string_view attribute) {
  std::set<std::string_view> seen;
  const std::function<bool(std::string_view)> is_given = [&](std::string_view name) {
    if (name == entity.owner || std::find(names.begin(), names.end(), name) != names.end()) return true;
    const Attribute* found = entity.find_attribute(name);
    if (found == nullptr || !found->derived) return false;
    if (!seen.insert(found->name).second) return true;  // it is being looked at, or has been
    const auto sources = found->derived->paths();
    return std::all_of(sources.begin(), sources.end(), is_given);
  };
  return is_given(attribute);
}

}  // namespace stator::model
