#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stator/model/check/checked_pattern.h"

namespace stator::model {
namespace {

using Field = Template::Field;
using Literal = Template::Literal;

// Whether a hole of the parent's key and one of the child's hold the same: by the relation, or by a copy.
bool same_value(const Entity& child, const Parent& relation, const Field& parents, const Field& childs) {
  if (parents.transform != childs.transform || parents.width != childs.width) return false;
  for (const auto& [theirs, ours] : relation.by) {
    if (theirs == parents.attribute && ours == childs.attribute) return true;
  }
  const auto* copy = child.find_attribute(childs.attribute);
  return copy != nullptr && copy->copy_of && copy->copy_of->relation == relation.name &&
         copy->copy_of->attribute == parents.attribute;
}

// The rest of the child's key behind the parent's; nullopt if the child's key does not begin with the parent's.
std::optional<std::vector<Template::Part>> behind(const KeyForm& parent, const KeyForm& child, const Entity& entity,
                                                  const Parent& relation) {
  std::vector<Template::Part> rest = child.parts;
  for (const auto& part : parent.parts) {
    if (rest.empty()) return std::nullopt;
    if (const auto* field = std::get_if<Field>(&part)) {
      const auto* own = std::get_if<Field>(&rest.front());
      if (own == nullptr || !same_value(entity, relation, *field, *own)) return std::nullopt;
      rest.erase(rest.begin());
      continue;
    }
    if (part == rest.front()) {
      rest.erase(rest.begin());
      continue;
    }
    const auto* literal = std::get_if<Literal>(&part);
    auto* own = std::get_if<Literal>(&rest.front());
    if (literal == nullptr || own == nullptr || !own->text.starts_with(literal->text)) return std::nullopt;
    own->text.erase(0, literal->text.size());
  }
  return rest;
}

constexpr unsigned char kLowestEscaped = '%';  // escaped text has nothing below this

std::vector<std::string> named_by(const CheckedPattern& query, const Entity& entity,
                                  const std::vector<KeyDesign>& keys) {
  std::vector<std::string> names;
  for (const auto& key : keys) {
    for (const auto& form : forms(query.model, {&entity, &entity.main()}, key)) {
      for (const auto& part : form.parts) {
        if (const auto* field = std::get_if<Field>(&part)) add_name(names, field->attribute);
      }
    }
  }
  return names;
}

// Whether a child is only ever in the partition of its parent, and behind it.
bool is_behind_in_partition(const CheckedPattern& query, const Entity& parent, const Entity& child,
                            const Parent& relation) {
  const KeyedRow parents{&parent, &parent.main()};
  const KeyedRow childs{&child, &child.main()};
  for (const auto& key : query.space.partition) {
    const auto upper = forms(query.model, parents, key);
    const auto lower = forms(query.model, childs, key);
    if (upper.size() != 1 || lower.size() != 1) return false;
    const auto rest = behind(upper.front(), lower.front(), child, relation);
    if (!rest || !rest->empty()) return false;
  }
  const auto& sort = query.space.sort.front();
  const auto before = forms_language(parent, forms(query.model, parents, sort), kAsItIs, query.steps).and_below(true);
  return !common(before, forms_language(child, forms(query.model, childs, sort), kAsItIs, query.steps), query.steps);
}

// A partition that belongs to one parent: nobody else's children can be among its own.
bool has_partition_of_its_own(const CheckedPattern& query, const Entity& parent, const Nest& nest) {
  if (!names_one(query, {&parent, &parent.main()}, query.space.partition)) return false;
  return std::all_of(nest.children.begin(), nest.children.end(), [&](const Related& child) {
    return is_behind_in_partition(query, parent, *child.entity, *child.through);
  });
}

}  // namespace

// Whether children stand right behind their parent, and nothing else does.
void check_nesting(const CheckedPattern& query, Findings& findings) {
  if (!query.pattern.nest || query.space.sort.empty()) return;
  const auto& nest = *query.pattern.nest;
  const auto* parent = nest.parent;
  if (has_partition_of_its_own(query, *parent, nest)) return;
  const auto& key = query.space.sort.front();
  const auto parents = forms(query.model, {parent, &parent->main()}, key);
  if (parents.empty()) return;
  const auto about = query.about("nest-order");
  for (const auto& [child, relation] : nest.children) {
    std::optional<std::vector<Template::Part>> rest;
    for (const auto& form : forms(query.model, {child, &child->main()}, key)) {
      if (!rest) rest = behind(parents.front(), form, *child, *relation);
    }
    if (!rest) {
      findings.error(
          about,
          fmt::format(
              "{} of {} does not begin with that of its {}, so they do not follow each other in the order of keys",
              key.name, child->name, parent->name),
          fmt::format("begin one alternative with {}, with copies of the parent's attributes",
                      spell_text(parents.front().text)));
      continue;
    }
    const auto* end = std::get_if<Field>(&parents.front().parts.back());
    const auto* separator = rest->empty() ? nullptr : std::get_if<Literal>(&rest->front());
    const bool tight = separator != nullptr && static_cast<unsigned char>(separator->text.front()) < kLowestEscaped;
    if (end != nullptr && is_free_text(type_of(*parent, end->attribute), query.steps) &&
        (end->transform == Transform::Raw || !tight)) {
      findings.error(
          about,
          fmt::format("a {0} with a longer {1} that begins with this one is sorted between this {0} and its {2}",
                      parent->name, end->attribute, child->name),
          fmt::format("write {{{}|sortable}} and a separator below '%', such as '#'", end->attribute));
    }
  }
  if (names_one(query, {parent, &parent->main()}, query.space.attributes())) return;
  const auto named = named_by(query, *parent, query.space.attributes());
  findings.error(about,
                 fmt::format("two {} can have the same {}, and then their children are mixed", parent->name, key.name),
                 fmt::format("make {} unique within its partition, or put its id into the key", listed(named)));
}

}  // namespace stator::model
