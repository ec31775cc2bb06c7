#include "stator/runtime/rules/rules.h"

#include <algorithm>

namespace stator::runtime {
namespace {

using model::Attribute;
using model::Entity;
using model::Model;
using model::Parent;

bool is_needed(const Parent& relation) { return !relation.optional && relation.must_exist; }

bool has_soft_deletion(const Entity& entity) { return entity.soft_delete.has_value(); }
bool can_hide_itself(const Entity& entity) { return entity.soft_delete || entity.unfinished; }

// Whether a child can be hidden because its parent through this relation, or one of that one's ancestors, is hidden.
bool can_hide(const Parent& relation, bool (*hides)(const Entity&)) {
  std::set<const Entity*> seen;
  std::vector<const Parent*> open = {&relation};
  while (!open.empty()) {
    const auto* one = open.back();
    open.pop_back();
    const auto* parent = one->to;
    if (!is_needed(*one) || !seen.insert(parent).second) continue;
    if (hides(*parent)) return true;
    for (const auto& further : parent->parents) open.push_back(&further);
  }
  return false;
}

RelationRules relation_rules(const Entity& child, const Parent& relation) {
  RelationRules rules;
  rules.child = &child;
  rules.relation = &relation;
  rules.parent = relation.to;
  rules.can_be_hidden = can_hide(relation, can_hide_itself);
  for (const auto* attribute : relation.counters) {
    rules.counters.push_back(
        {.attribute = attribute, .summed = attribute->sum ? attribute->sum->attribute : std::string()});
  }
  rules.copies = relation.copies;
  rules.numbers = relation.numbers;
  const auto is_in_path = [&](const std::string& name) {
    return child.path.find("{" + name + "}") != std::string::npos;
  };
  rules.in_path = !child.path.empty() && std::all_of(relation.by.begin(), relation.by.end(), [&](const auto& pair) {
    return child.owner == pair.second || is_in_path(pair.second);
  });
  const bool is_named =
      std::any_of(relation.by.begin(), relation.by.end(), [&](const auto& pair) { return is_in_path(pair.second); });
  rules.is_below = rules.in_path && is_named && is_needed(relation) && relation.cascades;
  return rules;
}

// The first name of a path: attributes are read and compared whole.
std::string first_name(const std::string& path) { return path.substr(0, path.find_first_of(".[")); }

// Collects the attributes that computations read.  A derived attribute is replaced by those it is derived from.
class Inputs {
 public:
  explicit Inputs(const Entity& entity) : entity_(entity) {}

  Inputs& add(const std::vector<std::string>& attributes) {
    for (const auto& path : attributes) {
      const auto name = first_name(path);
      const auto* attribute = entity_.find_attribute(name);
      if (attribute == nullptr || !seen_.insert(name).second) continue;
      if (attribute->derived)
        add(attribute->derived->paths());
      else if (!attribute->transient)
        names_.insert(name);
    }
    return *this;
  }
  Inputs& add(const std::optional<model::Expression>& expression) {
    return expression ? add(expression->paths()) : *this;
  }
  std::set<std::string> take() { return std::move(names_); }

 private:
  const Entity& entity_;
  std::set<std::string> seen_;
  std::set<std::string> names_;
};

std::vector<std::set<std::string>> computed_things(const Entity& entity, const std::vector<RelationRules>& relations) {
  std::vector<std::set<std::string>> things;
  const auto add = [&](Inputs& inputs) {
    auto names = inputs.take();
    if (!names.empty() && std::find(things.begin(), things.end(), names) == things.end()) things.push_back(names);
  };
  for (const auto& attribute : entity.attributes) {
    Inputs inputs(entity);
    if (attribute.derived) add(inputs.add(attribute.derived->paths()));
  }
  for (const auto& record : entity.records) {
    for (const auto& rule : record.keys) {
      Inputs inputs(entity);  // of all alternatives: which one applies is part of the computation
      for (const auto& alternative : rule.alternatives) {
        inputs.add(alternative.text.attributes()).add(alternative.when);
      }
      add(inputs);
    }
    Inputs existence(entity), expiry(entity);
    add(existence.add(record.when));
    add(expiry.add(record.expires));
  }
  for (const auto& unique : entity.uniques) {
    Inputs inputs(entity);
    add(inputs.add(unique.attributes).add(unique.within));
  }
  for (const auto& check : entity.checks) {
    Inputs inputs(entity);
    add(inputs.add(check.that.paths()));
  }
  for (const auto& rules : relations) {
    Inputs inputs(entity);
    for (const auto& [theirs, ours] : rules.relation->by) inputs.add(std::vector{ours});
    if (entity.soft_delete) inputs.add(std::vector{entity.soft_delete->attribute});
    for (const auto& counter : rules.counters) inputs.add(std::vector{counter.summed});
    add(inputs.add(rules.relation->when));
  }
  return things;
}

// The attributes that only rules write: keys of the table and its indexes, the type, the TTL.
void add_ruled_attributes(const model::TableDesign& table, std::set<std::string>& names) {
  names.insert({table.partition.name, table.type_attribute});
  if (table.sort) names.insert(table.sort->name);
  if (table.ttl_attribute) names.insert(*table.ttl_attribute);
  for (const auto& index : table.indexes) {
    for (const auto& key : index.partition) names.insert(key.name);
    for (const auto& key : index.sort) names.insert(key.name);
  }
}

bool in_several_rows(const Entity& entity, const std::string& attribute) {
  return std::any_of(entity.records.begin() + 1, entity.records.end(),
                     [&](const model::Record& record) { return record.holds(attribute); });
}

// Without the keys that the model has itself: of a model that is not the old one of a migration, nothing is left.
model::AddedKeys foreign_keys(const Model& model, const Entity& entity, const model::AddedKeys& added) {
  std::set<std::string> own;
  add_ruled_attributes(model.table, own);
  auto foreign = added;
  for (auto& record : foreign.records) {
    std::erase_if(record.designs, [&](const auto& design) { return own.contains(design.key.name); });
  }
  std::erase_if(foreign.records, [&](const auto& record) {
    return record.designs.empty() || entity.find_record(record.name) == nullptr;
  });
  return foreign;
}

EntityRules entity_rules(const Model& model, const Entity& entity, const model::AddedKeys& added) {
  EntityRules rules;
  rules.added = foreign_keys(model, entity, added);
  rules.entity = &entity;
  for (const auto& relation : entity.parents) rules.relations.push_back(relation_rules(entity, relation));
  rules.computed = computed_things(entity, rules.relations);
  for (const auto& names : rules.added.empty() ? std::vector<std::vector<std::string>>() : rules.added.inputs()) {
    Inputs inputs(entity);
    auto computation = inputs.add(names).take();
    for (const auto& name : names) {  // of attributes that this model does not know, the row as it is decides
      if (entity.find_attribute(name) == nullptr) computation.insert(name);
    }
    if (!computation.empty()) rules.computed.push_back(std::move(computation));
  }

  std::set<std::string> used;
  for (const auto& thing : rules.computed) used.insert(thing.begin(), thing.end());
  rules.inputs = used;
  add_ruled_attributes(model.table, rules.known);
  rules.known.insert(model.table.version_attribute);
  for (const auto& record : rules.added.records) {
    for (const auto& design : record.designs) rules.known.insert(design.key.name);
  }
  for (const auto& relation : rules.relations) {
    for (const auto& counter : relation.counters) {
      if (!counter.summed.empty()) rules.inputs.insert(counter.summed);
    }
    if (relation.relation->on_delete == model::OnDelete::Clear) {
      rules.drifting.insert(relation.relation->clear.begin(), relation.relation->clear.end());
    }
  }
  for (const auto& attribute : entity.attributes) {
    rules.known.insert(attribute.name);
    const bool counter = attribute.count || attribute.sum;
    if (counter || attribute.copy_of || attribute.last || attribute.drifts) rules.drifting.insert(attribute.name);
    if (counter && !used.contains(attribute.name) && !in_several_rows(entity, attribute.name)) {
      rules.plain_counters.insert(attribute.name);
    }
  }
  return rules;
}

}  // namespace

Rules::Rules(const Model& model, const AddedKeysOf& added) : model_(&model) {
  const model::AddedKeys none;
  for (const auto& entity : model.entities) {
    const auto found = added.find(entity.name);
    entities_.emplace(&entity, entity_rules(model, entity, found != added.end() ? found->second : none));
  }
  for (const auto& entity : model.entities) {
    for (const auto& relation : entities_.at(&entity).relations) {
      auto& parent = entities_.at(relation.parent);
      parent.children.push_back(&relation);
      if (relation.relation->on_delete != model::OnDelete::Restrict) continue;
      for (const auto& counter : relation.counters) {
        if (counter.summed.empty()) parent.restricting.insert(counter.attribute->name);
      }
    }
  }
}

bool can_be_hidden(const Entity& entity) {
  return entity.soft_delete || std::any_of(entity.parents.begin(), entity.parents.end(), [&](const Parent& relation) {
           return can_hide(relation, has_soft_deletion);
         });
}

bool has_had_parent(const RelationRules& rules, const value::Item& attributes) {
  return rules.relation->must_exist ||
         std::any_of(rules.copies.begin(), rules.copies.end(),
                     [&](const Attribute* copy) { return attributes.find(copy->name) != nullptr; });
}

namespace {

bool is_true(const value::Item& attributes, const std::string& name) {
  const auto* found = attributes.find(name);
  return found != nullptr && found->as_bool() != nullptr && *found->as_bool();
}

}  // namespace

bool is_live(const Entity& entity, const value::Item& attributes) {
  return !entity.soft_delete || !is_true(attributes, entity.soft_delete->attribute);
}

bool is_finished(const Entity& entity, const value::Item& attributes) {
  return !entity.unfinished || !is_true(attributes, *entity.unfinished);
}

}  // namespace stator::runtime
