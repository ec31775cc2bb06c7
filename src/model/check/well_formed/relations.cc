#include <fmt/format.h>

#include <algorithm>

#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {
namespace {

// ------------------------------------------------------------------------------------------------------------- parents

// A relation can clear its own attributes and those that requests and actions set; others would get their values back
// at once.
void check_clear(const Entity& entity, const Parent& relation, const Text& name, Report& report) {
  const Attribute* attribute = entity.find_attribute(name.text);
  if (attribute == nullptr) return;
  const auto refuse = [&](const std::string& what) {
    report.error(name.position, "contradiction", fmt::format("{} is {}, so it cannot be cleared", name.text, what));
  };
  if (attribute->required && !attribute->default_value) refuse("required");
  if (entity.is_named_by(name.text)) refuse("in the key of " + entity.name);
  if (attribute->derived) refuse("derived");
  if (attribute->count || attribute->sum || attribute->last) refuse("counted");
  if (attribute->is_numbered()) refuse("a number that its parent gives");
  if (attribute->copy_of && attribute->copy_of->relation != relation.name)
    refuse("a copy through " + attribute->copy_of->relation);
}

// A parent can only refuse to go while it has children if it counts them.
void check_restrict(const Entity& entity, const Parent& relation, Report& report) {
  if (relation.on_delete != OnDelete::Restrict || relation.to == nullptr) return;
  const auto& counting = relation.to->attributes;
  const bool is_counted = std::any_of(counting.begin(), counting.end(), [&](const Attribute& attribute) {
    return attribute.count && std::any_of(attribute.count->of.begin(), attribute.count->of.end(),
                                          [&](const Children& of) { return of.through == &relation; });
  });
  if (!is_counted)
    report.error(relation.position, "restrict-needs-count",
                 fmt::format("on_delete: restrict needs an attribute of {} that counts {}.{}", relation.to->name,
                             entity.name, relation.name),
                 fmt::format("{}Count: {{ count: {}.{} }}", relation.name, entity.name, relation.name));
}

// ------------------------------------------------------------------------------------------ copies, counts and sums

// A copy is what its source is.  A limit of its own would be trusted, in keys above all, and kept by nobody.
void check_limits_of_copy(const Attribute& copy, const Type& own, std::string_view source, Report& report) {
  const Type& theirs = copy.copy_of->origin->type;
  const auto check = [&](std::string_view word, const auto& limit, const auto& their_limit) {
    if (!limit || limit == their_limit) return;
    report.error(copy.position, "contradiction",
                 fmt::format("{} is a copy of {}, which has {} {}: it cannot have one of its own", copy.name, source,
                             their_limit ? "another" : "no", word),
                 fmt::format("leave {} out here, and let {} have it", word, source));
  };
  check("min", own.min, theirs.min);
  check("max", own.max, theirs.max);
  check("step", own.step, theirs.step);
  check("pattern", own.pattern, theirs.pattern);
  if (own.kind == Kind::Enum && own.values != theirs.values)
    report.error(copy.position, "contradiction",
                 fmt::format("{} is a copy of {}, which has other values", copy.name, source),
                 fmt::format("leave the type out; it is that of {}", source));
}

void check_type_of_copy(const FromParentSyntax& syntax, const Attribute& copy, Report& report) {
  const Attribute* origin = copy.copy_of->origin;
  if (!syntax.type || origin == nullptr || !origin->is_stored()) return;
  const auto source = fmt::format("{}.{}", copy.copy_of->through->entity, syntax.source.text);
  if (syntax.type->kind == origin->type.kind) return check_limits_of_copy(copy, *syntax.type, source, report);
  report.error(copy.position, "wrong-type",
               fmt::format("{} is of type {}, and a copy of {}, which is of type {}", copy.name,
                           kind_name(syntax.type->kind), source, kind_name(origin->type.kind)),
               std::string(kind_name(origin->type.kind)));
}

// The children's relation has to lead here.
void check_children(const Entity& entity, const std::vector<Children>& of, Report& report) {
  for (const auto& children : of) {
    if (children.through == nullptr || children.through->to == nullptr || children.through->to == &entity) continue;
    const Text name{.text = children.entity, .position = children.position, .lead = 0};
    report.error(name.at(children.entity.size() + 1), "wrong-relation",
                 fmt::format("{}.{} leads to {}, not to {}", children.entity, children.relation,
                             children.through->entity, entity.name));
  }
}

void check_sum(const SumSyntax& syntax, const Sum& sum, Report& report) {
  for (const auto& children : sum.of) {
    const Attribute* number = children.child == nullptr ? nullptr : children.child->find_attribute(sum.attribute);
    if (number != nullptr && !is_number(number->type.kind))
      report.error(syntax.summed.position, "wrong-type",
                   fmt::format("{}.{} is of type {}; only numbers can be summed", children.entity, sum.attribute,
                               kind_name(number->type.kind)));
  }
}

}  // namespace

void check_relations(const Syntax& syntax, const Model& model, Report& report) {
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    const auto& written = syntax.entities[i];
    const auto& entity = model.entities[i];
    for (const auto& copy : written.copies) check_type_of_copy(copy, entity.attributes[copy.attribute], report);
    for (const auto& attribute : entity.attributes) {
      if (attribute.count) check_children(entity, attribute.count->of, report);
      if (attribute.sum) check_children(entity, attribute.sum->of, report);
    }
    for (const auto& sum : written.sums) check_sum(sum, *entity.attributes[sum.attribute].sum, report);
    for (std::size_t j = 0; j < entity.parents.size(); ++j) {
      for (const auto& name : written.parents[j].clear) check_clear(entity, entity.parents[j], name, report);
      check_restrict(entity, entity.parents[j], report);
    }
  }
}

}  // namespace stator::model
