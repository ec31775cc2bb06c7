#include <fmt/format.h>

#include <algorithm>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/next_place.h"

namespace stator::model {
namespace {

// Whether a part of a key tells less than the attribute in it: rows of one order then have several scopes.
bool tells_less(const Entity& entity, const Template::Field& field) {
  const auto* attribute = entity.find_attribute(field.attribute);
  const bool text = attribute != nullptr && attribute->type.kind == Kind::String;
  return field.transform == Transform::Year || field.transform == Transform::Month ||
         field.transform == Transform::Day || (folds(field.transform) && text);
}

// Numbers are kept distinct among rows with the same attributes, so the order has to be one of these.
void check_distinct(const Entity& entity, const Attribute& attribute, const NextPlace& place, Report& report) {
  const auto check = [&](const Template& text) {
    for (const auto& part : text.parts()) {
      const auto* field = std::get_if<Template::Field>(&part);
      if (field == nullptr) continue;
      if (field->attribute == attribute.name) return;
      if (!tells_less(entity, *field)) continue;
      report.error(attribute.next->position, "wrong-order",
                   fmt::format("{} cannot be distinct: the order has only a part of {} in its key", attribute.name,
                               field->attribute),
                   fmt::format("{{{}}}", field->attribute));
    }
  };
  for (const auto& key : place.partition) {
    const auto* rule = place.record->find_key(key.name);
    if (rule == nullptr) continue;
    for (const auto& alternative : rule->alternatives) check(alternative.text);
  }
  if (place.text != nullptr) check(*place.text);
}

void check_order(const Model& model, const Entity& entity, const Attribute& attribute, Report& report) {
  const auto& next = *attribute.next;
  if (!next.place)
    return report.error(next.position, "wrong-order", next_place(model, entity, attribute).error().message);
  if (next.distinct) check_distinct(entity, attribute, *next.place, report);
}

// A parent gives numbers only while it exists, and counts them where nothing else is.
void check_giver(const Entity& entity, const Attribute& attribute, Report& report) {
  const auto& next = *attribute.next;
  if (!next.through->must_exist)
    report.error(next.position, "contradiction",
                 fmt::format("{}.{} says must_exist: false, and a parent that does not exist gives no numbers",
                             entity.name, next.relation));
  if (!next.last->last)
    report.error(next.position, "contradiction",
                 fmt::format("{}.{} has no `last: true`, so it does not keep the last number", next.through->entity,
                             next.counter),
                 fmt::format("{}: {{ last: true }}", next.counter));
}

bool gives_numbers(const Model& model, const Attribute& counter) {
  return std::any_of(model.entities.begin(), model.entities.end(), [&](const Entity& entity) {
    return std::any_of(entity.attributes.begin(), entity.attributes.end(),
                       [&](const Attribute& attribute) { return attribute.next && attribute.next->last == &counter; });
  });
}

}  // namespace

void check_orders(const Model& model, Report& report) {
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) {
      const auto& next = attribute.next;
      if (next && next->order != nullptr) check_order(model, entity, attribute, report);
      if (next && next->last != nullptr) check_giver(entity, attribute, report);
      if (attribute.last && !gives_numbers(model, attribute))
        report.error(attribute.position, "unused-number",
                     fmt::format("no entity is numbered by {}.{}", entity.name, attribute.name),
                     fmt::format("next: {{ by: RELATION.{} }}, in a child", attribute.name));
    }
  }
}

}  // namespace stator::model
