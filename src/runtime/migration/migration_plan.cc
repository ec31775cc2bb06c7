// The steps of a migration: the comparison of two models.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "stator/runtime/migration/clashes.h"
#include "stator/runtime/migration/migration.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::IndexDesign;
using model::Model;

std::string text_of(const std::optional<model::Expression>& expression) { return expression ? expression->text() : ""; }

std::string describe(const std::vector<model::KeyDesign>& keys) {
  std::string text;
  for (const auto& key : keys) text += fmt::format("{}:{} ", key.name, value::type_name(key.type));
  return text;
}

bool same_index(const IndexDesign& a, const IndexDesign& b) {
  auto included_a = a.included;
  auto included_b = b.included;
  std::sort(included_a.begin(), included_a.end());
  std::sort(included_b.begin(), included_b.end());
  return a.local == b.local && describe(a.partition) == describe(b.partition) && describe(a.sort) == describe(b.sort) &&
         a.projection == b.projection && included_a == included_b;
}

std::string describe(const model::Record& record) {
  std::string text =
      fmt::format("{} {} {} {}\n", record.name, record.type, text_of(record.when), text_of(record.expires));
  text += fmt::format("{}\n", fmt::join(record.attributes, ","));
  for (const auto& rule : record.keys) {
    text += rule.attribute;
    for (const auto& alternative : rule.alternatives) {
      text += fmt::format(" | {} {}", alternative.text.text(), text_of(alternative.when));
    }
    text += '\n';
  }
  return text;
}

std::string describe(const std::vector<model::Children>& children) {
  std::vector<std::string> relations;
  for (const auto& of : children) relations.push_back(fmt::format("{}.{}", of.entity, of.relation));
  return fmt::format("{}", fmt::join(relations, " and "));
}

std::string describe(const model::Parent& relation) {
  std::string text = fmt::format("{} {}", relation.entity, text_of(relation.when));
  for (const auto& [theirs, ours] : relation.by) text += fmt::format(" {}={}", theirs, ours);
  return text;
}

// Whether a relation that both models have finds other parents, or finds them at other times.
bool changed_relation(const Entity& from, const Entity& to, std::string_view name) {
  const auto find = [&](const Entity& entity) {
    return std::find_if(entity.parents.begin(), entity.parents.end(),
                        [&](const model::Parent& relation) { return relation.name == name; });
  };
  const auto was = find(from);
  const auto is = find(to);
  return was != from.parents.end() && is != to.parents.end() && describe(*was) != describe(*is);
}

// Softly deleted children are not counted.
std::string describe_deletion(const Entity& entity) { return entity.soft_delete ? entity.soft_delete->attribute : ""; }

// The attributes that are numbered by a last number.
std::set<std::string> numbered_by(const Model& model, const model::Attribute& counter) {
  std::set<std::string> names;
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) {
      if (attribute.next && attribute.next->last == &counter) names.insert(entity.name + "." + attribute.name);
    }
  }
  return names;
}

// Whether children are counted that were not, or the other way round.
bool counts_otherwise(const Model& from, const Model& to, const model::Attribute& old,
                      const model::Attribute& counter) {
  if (counter.last) return numbered_by(from, old) != numbered_by(to, counter);
  const auto& children = counter.count ? counter.count->of : counter.sum->of;
  return std::any_of(children.begin(), children.end(), [&](const model::Children& of) {
    const auto* was = from.find_entity(of.entity);
    const auto* is = to.find_entity(of.entity);
    return was != nullptr && is != nullptr &&
           (changed_relation(*was, *is, of.relation) || describe_deletion(*was) != describe_deletion(*is));
  });
}

std::string describe(const model::Unique& unique) {
  return fmt::format("{} within {}{}", fmt::join(unique.attributes, "+"), fmt::join(unique.within, "+"),
                     unique.compared == model::Transform::Escaped    ? ""
                     : unique.compared == model::Transform::Sortable ? " folded"
                                                                     : " folded with letters");
}

template <typename List>
std::string describe_all(const List& list) {
  std::string text;
  for (const auto& one : list) text += describe(one) + "\n";
  return text;
}

// Why the rows of an entity have to be rewritten; empty: they need not be.
std::vector<std::string> reasons(const Entity& from, const Entity& to) {
  std::vector<std::string> reasons;
  if (describe_all(from.records) != describe_all(to.records)) reasons.emplace_back("keys or records");
  for (const auto& attribute : to.attributes) {
    const auto* old = from.find_attribute(attribute.name);
    const auto was = old != nullptr ? computation_of(*old) : std::string();
    const auto is = computation_of(attribute);
    if (was != is && !is.empty()) reasons.push_back(fmt::format("{} is {}", attribute.name, is));
    if (old == nullptr && attribute.default_value) reasons.push_back(fmt::format("{} has a default", attribute.name));
  }
  if (describe_all(from.uniques) != describe_all(to.uniques)) reasons.emplace_back("unique values");
  for (const auto& relation : to.parents) {
    if (changed_relation(from, to, relation.name)) reasons.push_back(fmt::format("relation {}", relation.name));
  }
  if (describe_deletion(from) != describe_deletion(to)) reasons.emplace_back("soft deletion");
  if (!from.versioned && to.versioned) reasons.emplace_back("versions");
  return reasons;
}

// Values that rows have and the new model would not take: they stay, and are told.
void compare_values(const Entity& from, const Entity& to, MigrationPlan& plan) {
  const auto remark = [&](const std::string& name, std::string_view what) {
    plan.remarks.push_back(fmt::format("{}.{} {}", to.name, name, what));
  };
  for (const auto& attribute : to.attributes) {
    const auto* old = from.find_attribute(attribute.name);
    const bool new_here = old == nullptr && !attribute.computed();
    if (old != nullptr && old->type.kind != attribute.type.kind)
      remark(attribute.name, "has another type; rows keep their values until the attribute is changed");
    else if (old != nullptr && attribute.type.lower && !old->type.lower)
      remark(attribute.name, "is kept in lower case; rows keep their values until the attribute is changed");
    const bool needed = attribute.required && !attribute.default_value && !attribute.next;
    if ((new_here || (old != nullptr && !old->required)) && needed)
      remark(attribute.name, "is required; rows without it stay as they are until they are changed");
    if (old == nullptr && attribute.next) {
      plan.obstacles.push_back(
          fmt::format("{}.{} gets the number after the last one, and existing rows have no number; add it without "
                      "next, give them their numbers, and then add next",
                      to.name, attribute.name));
    }
  }
}

void compare_tables(const model::TableDesign& from, const model::TableDesign& to, MigrationPlan& plan) {
  const auto refuse = [&](std::string reason) { plan.obstacles.push_back(std::move(reason)); };
  if (from.name != to.name) refuse(fmt::format("the table's name changes from {} to {}", from.name, to.name));
  const auto sort_of = [](const model::TableDesign& table) {
    return table.sort ? describe({*table.sort}) : std::string();
  };
  if (describe({from.partition}) != describe({to.partition}) || sort_of(from) != sort_of(to)) {
    refuse("the key attributes of a table cannot change; make a new table");
  }
  if (from.type_attribute != to.type_attribute) refuse("the type attribute of a table cannot change");
  for (const auto& index : from.indexes) {
    const auto* now = to.find_index(index.name);
    if (now != nullptr && same_index(index, *now)) continue;
    if (index.local || (now != nullptr && now->local)) {
      refuse(fmt::format(
          "{} is a local index, and those are made with their table; make a new table, or a global index", index.name));
    } else if (now != nullptr) {
      refuse(
          fmt::format("index {} changes its key or projection; give the new one another name, so that both can be "
                      "there while rows are rewritten",
                      index.name));
    }
  }
  for (const auto& index : to.indexes) {
    if (from.find_index(index.name) != nullptr) continue;
    if (index.local) {
      refuse(fmt::format("{} is a new local index, and those are made with their table", index.name));
    } else {
      plan.steps.push_back({MigrationStep::Kind::CreateIndex, index.name, fmt::format("create index {}", index.name)});
    }
  }
  if (to.ttl_attribute && to.ttl_attribute != from.ttl_attribute) {
    if (from.ttl_attribute) refuse("the TTL attribute of a table in use cannot change");
    plan.steps.push_back({MigrationStep::Kind::EnableTtl, *to.ttl_attribute,
                          fmt::format("enable time to live on {}", *to.ttl_attribute)});
  }
}

// The stream must be made again if the new model has another one; a stream that the new model does not have is left
// alone.
std::optional<MigrationStep> change_stream(const model::TableDesign& from, const model::TableDesign& to) {
  if (to.stream == model::StreamView::None || to.stream == from.stream) return std::nullopt;
  return MigrationStep{
      MigrationStep::Kind::ChangeStream, std::string(stream_name(to.stream)),
      fmt::format("change the stream from {} to {}", stream_name(from.stream), stream_name(to.stream))};
}

// Key attributes of indexes that go and that the new model has no other use for.
std::set<std::string> obsolete_keys(const Model& from, const Model& to) {
  std::set<std::string> kept = {to.table.partition.name, to.table.type_attribute, to.table.version_attribute};
  if (to.table.sort) kept.insert(to.table.sort->name);
  if (to.table.ttl_attribute) kept.insert(*to.table.ttl_attribute);
  const auto each_key = [](const model::TableDesign& table, auto visit) {
    for (const auto& index : table.indexes) {
      for (const auto& key : index.partition) visit(key.name);
      for (const auto& key : index.sort) visit(key.name);
    }
  };
  each_key(to.table, [&](const std::string& name) { kept.insert(name); });
  for (const auto* model : {&from, &to}) {  // what the old model has as an attribute is more than a key
    for (const auto& entity : model->entities) {
      for (const auto& attribute : entity.attributes) kept.insert(attribute.name);
    }
  }
  std::set<std::string> obsolete;
  each_key(from.table, [&](const std::string& name) {
    if (!kept.contains(name)) obsolete.insert(name);
  });
  return obsolete;
}

}  // namespace

// Empty: rows need not be looked at because of it.
std::string computation_of(const model::Attribute& attribute) {
  std::string text;
  if (attribute.derived) text += "derived: " + attribute.derived->text();
  if (attribute.count) text += "the count of " + describe(attribute.count->of);
  if (attribute.sum) text += fmt::format("the sum of {} of {}", attribute.sum->attribute, describe(attribute.sum->of));
  if (attribute.copy_of)
    text += fmt::format("a copy of {}.{}", attribute.copy_of->relation, attribute.copy_of->attribute);
  if (attribute.last) text += "the last number that was given";
  if (attribute.is_numbered())
    text += fmt::format("numbered by {}.{}", attribute.next->relation, attribute.next->counter);
  return text;
}

void only_prepare(MigrationPlan& plan) {
  plan.only_prepares = true;
  std::erase_if(plan.steps, [](const auto& step) { return step.kind == MigrationStep::Kind::DropIndex; });
}

std::set<const model::Attribute*> new_counters(const Model& from, const Model& to) {
  std::set<const model::Attribute*> counters;
  for (const auto& entity : to.entities) {
    const auto* old = from.find_entity(entity.name);
    for (const auto& attribute : entity.attributes) {
      if (!attribute.count && !attribute.sum && !attribute.last) continue;
      const auto* was = old != nullptr ? old->find_attribute(attribute.name) : nullptr;
      const bool kept = was != nullptr && computation_of(*was) == computation_of(attribute) &&
                        !counts_otherwise(from, to, *was, attribute);
      if (!kept) counters.insert(&attribute);
    }
  }
  return counters;
}

MigrationPlan plan_migration(const Model& from, const Model& to) {
  MigrationPlan plan;
  if (from.name != to.name) {
    plan.obstacles.push_back(
        fmt::format("the model's name changes from {} to {}, and reservations and progress are kept under it; give "
                    "both files the same name",
                    from.name, to.name));
  }
  const auto stream = change_stream(from.table, to.table);
  // Changes of rows are followed by both images: with them first, without them last.
  const bool both_images = to.table.stream == model::StreamView::NewAndOldImages;
  if (stream && both_images) plan.steps.push_back(*stream);
  compare_tables(from.table, to.table, plan);
  const auto old_keys = primary_keys(from);
  const auto new_keys = primary_keys(to);
  std::vector<std::string> why;
  for (const auto& entity : to.entities) {
    const auto* old = from.find_entity(entity.name);
    if (old == nullptr) continue;  // it has no rows yet
    compare_values(*old, entity, plan);
    if (old->versioned && entity.versioned && from.table.version_attribute != to.table.version_attribute) {
      why.push_back(fmt::format("{}: versions are in {}", entity.name, to.table.version_attribute));
    }
    for (const auto& reason : reasons(*old, entity)) why.push_back(fmt::format("{}: {}", entity.name, reason));
    const auto& key = *new_keys.find(entity.name);
    if (*old_keys.find(entity.name) != key) {
      plan.moved.set(entity.name, key);
      why.push_back(fmt::format("{}: rows move to other primary keys", entity.name));
    }
    for (const auto& attribute : old->attributes) {
      if (entity.find_attribute(attribute.name) == nullptr) {
        plan.remarks.push_back(
            fmt::format("{}.{} is no longer in the model; rows keep it", entity.name, attribute.name));
      }
    }
  }
  for (const auto& entity : from.entities) {
    if (to.find_entity(entity.name) == nullptr) {
      plan.remarks.push_back(fmt::format("{} is no longer in the model; its rows stay", entity.name));
    }
  }
  if (const auto rules = rules_that_compare_otherwise(from, to); !rules.empty()) {
    plan.steps.push_back({MigrationStep::Kind::FindClashes,
                          {},
                          fmt::format("look for values of {} that become the same", fmt::join(rules, ", "))});
  }
  if (!why.empty()) {
    plan.steps.push_back(
        {MigrationStep::Kind::RewriteRows, {}, fmt::format("rewrite rows ({})", fmt::join(why, "; "))});
    plan.steps.push_back(
        {MigrationStep::Kind::CheckRows, {}, "check all rows, with copies, counters and unique values"});
  }
  for (const auto& index : from.table.indexes) {
    if (index.local || to.table.find_index(index.name) != nullptr) continue;
    plan.steps.push_back({MigrationStep::Kind::DropIndex, index.name, fmt::format("drop index {}", index.name)});
  }
  if (stream && !both_images) plan.steps.push_back(*stream);
  plan.blind = blind_old_programs(from, to);
  plan.advice = way_to_keep_seeing(from, to);
  for (auto& text : reordered_patterns(from, to)) plan.remarks.push_back(std::move(text));
  auto keys = keys_for_old_programs(from, to);
  plan.added = std::move(keys.added);
  plan.blind.insert(plan.blind.end(), keys.blind.begin(), keys.blind.end());
  plan.obsolete = obsolete_keys(from, to);
  return plan;
}

}  // namespace stator::runtime
