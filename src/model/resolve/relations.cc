#include <algorithm>

#include "stator/model/resolve/resolver.h"
#include "stator/model/types/type_rules.h"

namespace stator::model {
namespace {

// ------------------------------------------------------------------------------------------- what a deletion does

bool cascades(const Entity& child, const Parent& relation, unsigned depth);

bool is_overruled(const Entity& child, const Parent& relation, unsigned depth) {
  if (relation.on_delete != OnDelete::Restrict || depth > kMostGenerations) return false;
  const auto& parent = *relation.to;
  const auto is_held_by = [&](const Entity* ancestor) {
    return std::any_of(child.parents.begin(), child.parents.end(), [&](const Parent& own) {
      const bool holds = own.on_delete == OnDelete::Cascade || own.on_delete == OnDelete::Restrict;
      return own.to == ancestor && holds && own.must_exist && !own.optional && !own.when;
    });
  };
  return parent.expires() || std::any_of(parent.parents.begin(), parent.parents.end(), [&](const Parent& further) {
           return cascades(parent, further, depth + 1) && !is_held_by(further.to);
         });
}

bool cascades(const Entity& child, const Parent& relation, unsigned depth) {
  return relation.on_delete == OnDelete::Cascade || is_overruled(child, relation, depth);
}

bool never_recreated(const Entity& entity, unsigned depth) {
  if (depth > kMostGenerations) return false;
  return std::any_of(entity.identity.begin(), entity.identity.end(), [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    if (attribute == nullptr) return false;
    if (attribute->generated != Generated::No) return true;
    const auto* giver = attribute->next ? attribute->next->through : nullptr;
    const auto is_in_name = [&](const auto& pair) { return entity.is_named_by(pair.second); };
    return giver != nullptr && std::all_of(giver->by.begin(), giver->by.end(), is_in_name) &&
           never_recreated(*giver->to, depth + 1);
  });
}

bool can_precede(const Parent& relation) {
  if (!relation.must_exist) return true;
  // Children that cascade are gone before another parent of that name is created.  Others may still point to the name.
  const bool stays = relation.on_delete == OnDelete::Nothing || relation.on_delete == OnDelete::Clear;
  return stays && !relation.to->never_recreated;
}

// ----------------------------------------------------------------------------------------- how children are found

// Which keys lead to all children of whatever parent.
class ChildKeys {
 public:
  ChildKeys(const Entity& child, const Parent& relation) : child_(child), relation_(relation) {}

  bool lead_through(const TableDesign& table) const { return follows_from_parent(table.partition); }

  bool lead_through(const IndexDesign& index) const {
    return holds_every_child(index) && std::all_of(index.partition.begin(), index.partition.end(),
                                                   [&](const auto& key) { return follows_from_parent(key); });
  }

 private:
  bool follows_from_parent(const KeyDesign& key) const {
    const KeyRule* rule = child_.main().find_key(key.name);
    if (rule == nullptr) return is_kept_by_parent(key);
    if (rule->alternatives.size() != 1 || !applies_to_children(rule->alternatives[0])) return false;
    const Template& text = rule->alternatives[0].text;
    const auto names = text.attributes();
    return text.shards() == 1 &&
           std::all_of(names.begin(), names.end(), [&](const auto& name) { return is_known(name); });
  }

  bool is_known(std::string_view name) const {
    return std::any_of(relation_.by.begin(), relation_.by.end(), [&](const auto& pair) { return pair.second == name; });
  }

  // Whether the parent has the attribute of the key, with values of the key's type.
  bool is_kept_by_parent(const KeyDesign& key) const {
    return std::any_of(relation_.by.begin(), relation_.by.end(), [&](const auto& pair) {
      const Attribute* theirs = relation_.to->find_attribute(pair.first);
      return pair.second == key.name && (theirs == nullptr || stored_type(theirs->type) == key.type);
    });
  }

  bool applies_to_children(const KeyTemplate& alternative) const {
    return !alternative.when || (relation_.when && alternative.when->text() == relation_.when->text());
  }

  // Whether an attribute is there in every child that there can be.
  bool is_always_there(const std::string& name) const {
    if (is_known(name) || child_.owner == name || child_.is_named_by(name)) return true;
    const Attribute* attribute = child_.find_attribute(name);
    if (attribute == nullptr) return false;
    return attribute->required || attribute->updated || attribute->generated != Generated::No ||
           (attribute->next && attribute->next->in_every_row());
  }

  // A sparse index may lack some.
  bool holds_every_child(const IndexDesign& index) const {
    const auto is_set = [&](const KeyDesign& key) {
      const KeyRule* rule = child_.main().find_key(key.name);
      if (rule == nullptr) return is_always_there(key.name);
      return std::any_of(rule->alternatives.begin(), rule->alternatives.end(), [&](const KeyTemplate& alternative) {
        const auto attributes = alternative.text.attributes();
        return applies_to_children(alternative) && std::all_of(attributes.begin(), attributes.end(),
                                                               [&](const auto& name) { return is_always_there(name); });
      });
    };
    return std::all_of(index.partition.begin(), index.partition.end(), is_set) &&
           std::all_of(index.sort.begin(), index.sort.end(), is_set);
  }

  const Entity& child_;
  const Parent& relation_;
};

// The attributes that depend on the relation.
void derive_dependants(const Entity& child, Parent& relation) {
  const auto is_in = [&](const Attribute& attribute) {
    const auto* of = attribute.count ? &attribute.count->of : attribute.sum ? &attribute.sum->of : nullptr;
    return of != nullptr &&
           std::any_of(of->begin(), of->end(), [&](const Children& each) { return each.through == &relation; });
  };
  for (const auto& attribute : relation.to->attributes) {
    if (is_in(attribute)) relation.counters.push_back(&attribute);
  }
  for (const auto& attribute : child.attributes) {
    if (attribute.copy_of && attribute.copy_of->through == &relation) relation.copies.push_back(&attribute);
    if (attribute.next && attribute.next->through == &relation) relation.numbers.push_back(&attribute);
  }
}

}  // namespace

void derive_relations(Model& model) {
  for (auto& entity : model.entities) entity.never_recreated = never_recreated(entity, 0);
  for (auto& child : model.entities) {
    for (auto& relation : child.parents) {
      derive_dependants(child, relation);
      relation.overruled = is_overruled(child, relation, 0);
      relation.cascades = cascades(child, relation, 0);
      relation.can_precede = can_precede(relation);
      const ChildKeys keys(child, relation);
      if (keys.lead_through(model.table)) relation.found_by.push_back(nullptr);
      for (const auto& index : model.table.indexes) {
        if (keys.lead_through(index)) relation.found_by.push_back(&index);
      }
    }
  }
}

}  // namespace stator::model
