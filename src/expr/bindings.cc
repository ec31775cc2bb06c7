#include "stator/expr/bindings.h"

#include <algorithm>
#include <unordered_set>

namespace stator::expr {

using value::AttributeValue;

const AttributeValue* Bindings::find(const Node& path, const value::Item& item) const {
  const auto steps = tree->steps_of(path);
  const AttributeValue* at = item.find(*names[steps[0].number]);
  for (const Step& step : steps.subspan(1)) {
    if (at == nullptr) return nullptr;
    if (step.is_index) {
      const auto* list = at->as_list();
      at = list != nullptr && step.number < list->size() ? &(*list)[step.number] : nullptr;
    } else {
      const auto* map = at->as_map();
      at = map != nullptr ? map->find(*names[step.number]) : nullptr;
    }
  }
  return at;
}

Path Bindings::path(const Node& path) const {
  const auto steps = tree->steps_of(path);
  Path result{*names[steps[0].number], {}};
  result.elements.reserve(steps.size() - 1);
  for (const Step& step : steps.subspan(1)) {
    if (step.is_index) {
      result.elements.emplace_back(step.number);
    } else {
      result.elements.emplace_back(*names[step.number]);
    }
  }
  return result;
}

std::vector<std::string_view> Bindings::attributes(Depth depth) const {
  std::vector<std::string_view> result;
  std::unordered_set<std::string_view> seen;
  for (const Node& node : tree->nodes) {
    if (node.op != Op::Path || (depth == Depth::Nested && node.range.count == 1)) continue;
    const std::string_view name = attribute(node);
    if (seen.insert(name).second) result.push_back(name);
  }
  return result;
}

bool Bindings::is_complete() const {
  return std::ranges::find(names, nullptr) == names.end() && std::ranges::find(values, nullptr) == values.end();
}

std::shared_ptr<const Bindings> bind(std::shared_ptr<const Tree> tree,
                                     std::shared_ptr<const Placeholders> placeholders) {
  const auto look_up = [](const auto& map, const std::string& key) {
    const auto found = map.find(key);
    return found != map.end() ? &found->second : nullptr;
  };
  auto bindings = std::make_shared<Bindings>();
  bindings->names.reserve(tree->names.size());
  for (const Name& name : tree->names) {
    bindings->names.push_back(name.is_placeholder ? look_up(placeholders->names, name.text) : &name.text);
  }
  bindings->values.reserve(tree->values.size());
  for (const std::string& value : tree->values) bindings->values.push_back(look_up(placeholders->values, value));
  bindings->tree = std::move(tree);
  bindings->placeholders = std::move(placeholders);
  return bindings;
}

}  // namespace stator::expr
