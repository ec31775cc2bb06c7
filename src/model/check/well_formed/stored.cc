#include <fmt/format.h>

#include "stator/model/check/well_formed/well_formed.h"

// Attributes that the model reads again, later or elsewhere, must be stored.
namespace stator::model {
namespace {

using Op = Expression::Node::Op;

// Reports what is not stored; `user` ("a key") would look at it again in what is.
void need_stored(const Entity& entity, std::string_view name, Position position, std::string_view user,
                 Report& report) {
  const Attribute* attribute = entity.find_attribute(name);
  if (attribute != nullptr && !attribute->is_stored())
    report.error(position, "not-stored", fmt::format("{} is not stored, so {} cannot depend on it", name, user),
                 attribute->when_read ? attribute->derived->text() : std::string());
}

void check_entity(const EntitySyntax& syntax, const Entity& entity, Report& report) {
  for (const auto& [name, user] : syntax.names) {
    if (!user.empty()) need_stored(entity, name.text, name.position, user, report);
  }
  for (const auto& [expression, user] : syntax.expressions) {
    if (user.empty()) continue;
    visit_names(expression, [&, user = user](const Expression::Node& node, Position position) {
      if (node.op == Op::Path) need_stored(entity, node.name, position, user, report);
    });
  }
  // A transient attribute has its value while a request is checked. An attribute that is computed when it is read does
  // not.
  for (const auto& that : syntax.checks) {
    visit_names(that, [&](const Expression::Node& node, Position position) {
      const Attribute* read = entity.find_attribute(node.name);
      if (read != nullptr && read->when_read) need_stored(entity, node.name, position, "a check", report);
    });
  }
  // A key is computed again at every change.
  for (const auto& key : syntax.keys) {
    for (const auto& path : key.value.attributes()) {
      const Attribute* attribute = entity.find_attribute(std::string_view(path).substr(0, path.find('.')));
      if (attribute != nullptr && !attribute->is_stored())
        report.error(place_in_template(key.source, path), "not-stored",
                     fmt::format("{} is not stored, so no key can be made from it", path));
    }
  }
  for (const auto& sum : syntax.sums) {
    for (const auto& children : entity.attributes[sum.attribute].sum->of) {
      const Attribute* number = children.child == nullptr ? nullptr : children.child->find_attribute(sum.summed.text);
      if (number != nullptr && !number->is_stored())
        report.error(sum.summed.position, "not-stored",
                     fmt::format("{}.{} is not stored, so there is nothing to sum", children.entity, sum.summed.text));
    }
  }
  for (const auto& copy : syntax.copies) {
    const CopyOf& source = *entity.attributes[copy.attribute].copy_of;
    if (source.origin != nullptr && !source.origin->is_stored())
      report.error(
          copy.source.position, "not-stored",
          fmt::format("{}.{} is not stored, so there is nothing to copy", source.through->entity, source.attribute));
  }
}

// Rows are chosen by what one of them holds.
void check_pattern(const PatternSyntax& syntax, const Pattern& pattern, const TableDesign& table, Report& report) {
  for (const auto& expression : syntax.row_conditions) {
    visit_names(expression, [&](const Expression::Node& node, Position position) {
      if (node.op != Op::Path || node.name == table.type_attribute) return;
      bool is_known = false, is_held = false;
      for (const auto& returned : pattern.returns) {
        const Attribute* attribute = returned.entity->find_attribute(node.name);
        is_known = is_known || attribute != nullptr;
        is_held = is_held || (attribute != nullptr && attribute->is_stored() && returned.record->holds(node.name));
      }
      if (is_known && !is_held)
        report.error(
            position, "not-stored",
            fmt::format("no row that {} returns holds {}, so none can be chosen by it", pattern.name, node.name));
    });
  }
}

}  // namespace

void check_stored(const Syntax& syntax, const Model& model, Report& report) {
  for (std::size_t i = 0; i < model.entities.size(); ++i) check_entity(syntax.entities[i], model.entities[i], report);
  for (std::size_t i = 0; i < model.patterns.size(); ++i)
    check_pattern(syntax.patterns[i], model.patterns[i], model.table, report);
}

}  // namespace stator::model
