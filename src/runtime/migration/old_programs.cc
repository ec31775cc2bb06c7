#include "stator/runtime/migration/old_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "stator/base/article.h"
#include "stator/model/rows.h"
#include "stator/runtime/rules/migration_notice.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::IndexDesign;
using model::KeyDesign;
using model::KeyRule;
using model::Model;
using model::Record;
using model::TableDesign;

std::string text_of(const KeyRule* rule) {
  if (rule == nullptr) return "nothing";
  std::vector<std::string> texts;
  for (const auto& alternative : rule->alternatives) {
    const auto when = alternative.when ? fmt::format(" when {}", alternative.when->text()) : std::string();
    texts.push_back(fmt::format("\"{}\"{}", alternative.text.text(), when));
  }
  return fmt::format("{}", fmt::join(texts, " or "));
}

bool same_rule(const KeyRule* a, const KeyRule* b) { return text_of(a) == text_of(b); }

// The record of the new model that is the same row of the same entity; null: there is none.
const Record* counterpart(const Entity& from, const Record& record, const Entity& to) {
  return &record == &from.main() ? &to.main() : to.find_record(record.name);
}

std::vector<const KeyDesign*> partition_of(const TableDesign& table, const IndexDesign* index) {
  std::vector<const KeyDesign*> keys;
  if (index == nullptr || index->local) return {&table.partition};
  for (const auto& key : index->partition) keys.push_back(&key);
  return keys;
}

std::vector<const KeyDesign*> sort_of(const TableDesign& table, const IndexDesign* index) {
  std::vector<const KeyDesign*> keys;
  if (index == nullptr && table.sort) keys.push_back(&*table.sort);
  if (index == nullptr) return keys;
  for (const auto& key : index->sort) keys.push_back(&key);
  return keys;
}

std::vector<const KeyDesign*> key_designs_of(const TableDesign& table, const IndexDesign* index) {
  auto keys = partition_of(table, index);
  for (const auto* key : sort_of(table, index)) keys.push_back(key);
  return keys;
}

bool is_key_of(const TableDesign& table, const IndexDesign* index, const std::string& name) {
  const auto keys = key_designs_of(table, index);
  return std::any_of(keys.begin(), keys.end(), [&](const KeyDesign* key) { return key->name == name; });
}

bool is_any_key(const TableDesign& table, const std::string& name) {
  return is_key_of(table, nullptr, name) ||
         std::any_of(table.indexes.begin(), table.indexes.end(),
                     [&](const IndexDesign& index) { return is_key_of(table, &index, name); });
}

// Whether every key that the rule makes begins as the condition wants it, whatever the values are.
bool meets(const KeyRule& rule, const model::PatternCondition& condition) {
  if (condition.comparison != model::Comparison::BeginsWith) return false;
  const auto& prefix = condition.operands.front().text();
  return std::all_of(rule.alternatives.begin(), rule.alternatives.end(),
                     [&](const model::KeyTemplate& one) { return one.text.text().starts_with(prefix); });
}

// Whether a row that has the old key has the new one as well.
bool is_as_present(const Entity& entity, const KeyRule* was, const KeyRule& is) {
  const auto& last = is.alternatives.back();
  if (last.when) return false;
  std::set<std::string> given;
  if (was != nullptr && !was->alternatives.back().when) {
    for (auto& name : was->alternatives.back().text.attributes()) given.insert(std::move(name));
  }
  const auto names = last.text.attributes();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    return given.contains(name) || (attribute != nullptr && (attribute->required || attribute->default_value ||
                                                             attribute->generated != model::Generated::No));
  });
}

enum class Sight : std::uint8_t { Same, OtherOrder, Blind };

struct Seen {
  Sight sight = Sight::Same;
  std::string why;  // of the key that changes
};

// How a pattern of the old model sees the rows of a record in their new form.
Seen sight_of(const Model& from, const model::Pattern& pattern, const Entity& entity, const Record& was,
              const Record& is) {
  if (was.type != is.type) {
    return {Sight::Blind, fmt::format("its rows have the type {} instead of {}", is.type, was.type)};
  }
  Seen seen;
  const auto change = [](const std::string& name, const KeyRule* old_rule, const KeyRule* new_rule) {
    return fmt::format("{} changes from {} to {}", name, text_of(old_rule), text_of(new_rule));
  };
  for (const auto* key : partition_of(from.table, pattern.index)) {
    const auto* old_rule = was.find_key(key->name);
    const auto* new_rule = is.find_key(key->name);
    if (!same_rule(old_rule, new_rule)) return {Sight::Blind, change(key->name, old_rule, new_rule)};
  }
  for (const auto* key : sort_of(from.table, pattern.index)) {
    const auto* old_rule = was.find_key(key->name);
    const auto* new_rule = is.find_key(key->name);
    if (same_rule(old_rule, new_rule)) continue;
    const auto condition = std::find_if(pattern.sort.begin(), pattern.sort.end(),
                                        [&](const auto& one) { return one.attribute == key->name; });
    const bool found = new_rule != nullptr && is_as_present(entity, old_rule, *new_rule) &&
                       (condition == pattern.sort.end() || meets(*new_rule, *condition));
    if (!found) return {Sight::Blind, change(key->name, old_rule, new_rule)};
    seen = {Sight::OtherOrder, change(key->name, old_rule, new_rule)};
  }
  return seen;
}

template <typename Visit>
void for_each_sight(const Model& from, const Model& to, Visit visit) {
  for (const auto& pattern : from.patterns) {
    for (const auto& returned : pattern.returns) {
      const auto* entity = to.find_entity(returned.entity->name);
      if (entity == nullptr) continue;  // no program writes its rows any longer, and those that are there stay
      const auto& was = returned.record != nullptr ? *returned.record : returned.entity->main();
      const auto* is = counterpart(*returned.entity, was, *entity);
      const auto seen = is != nullptr ? sight_of(from, pattern, *entity, was, *is)
                                      : Seen{Sight::Blind, fmt::format("the record {} is gone", was.name)};
      visit(pattern, *returned.entity, seen);
    }
  }
}

std::string place_of(const model::Pattern& pattern) {
  return pattern.index != nullptr ? "index " + pattern.index->name : "the table";
}

// Relations through which programs of the old model find children in one index only, whose partitions change.
std::vector<Blindness> blind_relations(const Model& from, const Model& to) {
  std::vector<Blindness> blind;
  for (const auto& child : from.entities) {
    const auto* now = to.find_entity(child.name);
    for (const auto& relation : now != nullptr ? child.parents : std::vector<model::Parent>()) {
      for (const auto& index : from.table.indexes) {
        if (relation.found_by != std::vector<const model::IndexDesign*>{&index}) continue;
        const auto keys = partition_of(from.table, &index);
        const auto changed = std::find_if(keys.begin(), keys.end(), [&](const KeyDesign* key) {
          return !same_rule(child.main().find_key(key->name), now->main().find_key(key->name));
        });
        if (changed == keys.end()) continue;
        blind.push_back(
            {fmt::format("{}.{}", child.name, relation.name),
             fmt::format("{0}.{1}: programs of the old model do not find the {0} of {2} in index {3} any "
                         "longer, to copy to them or to remove them: {4} changes",
                         child.name, relation.name, with_article(relation.entity), index.name, (*changed)->name)});
      }
    }
  }
  return blind;
}

// ------------------------------------------------------------------------------------------------- the way to go on

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string yaml_of(const model::KeyTemplate& alternative) {
  if (!alternative.when) return in_quotes(alternative.text.text());
  return fmt::format("{{ key: {}, when: {} }}", in_quotes(alternative.text.text()),
                     in_quotes(alternative.when->text()));
}

std::string yaml_of(const KeyRule& rule) {
  if (rule.alternatives.size() == 1) return yaml_of(rule.alternatives.front());
  std::vector<std::string> texts;
  for (const auto& alternative : rule.alternatives) texts.push_back(yaml_of(alternative));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string yaml_of(const std::vector<std::string>& names) {
  return names.size() == 1 ? names.front() : fmt::format("[{}]", fmt::join(names, ", "));
}

std::string with_type(const KeyDesign& key, const std::string& name) {
  return key.type == value::Type::S ? name : fmt::format("{}:{}", name, value::type_name(key.type));
}

std::string projection_of(const IndexDesign& index) {
  if (index.projection == model::ProjectionKind::All) return "all";
  if (index.projection == model::ProjectionKind::KeysOnly) return "keys";
  return fmt::format("[{}]", fmt::join(index.included, ", "));
}

// Writes the advice: an index whose keys change stays as the old model has it, and a new one gets the new keys.
class Advice {
 public:
  Advice(const Model& from, const Model& to) : from_(from), to_(to) {}

  std::string write() {
    for_each_sight(from_, to_, [&](const model::Pattern& pattern, const Entity& /*entity*/, const Seen& seen) {
      if (seen.sight == Sight::Blind && pattern.index != nullptr) blind_.insert(pattern.index->name);
    });
    if (blind_.empty()) return {};
    std::string indexes;
    for (const auto& index : from_.table.indexes) {
      if (!blind_.contains(index.name)) continue;
      const auto* now = to_.table.find_index(index.name);
      indexes += index_line(index, index.name, {}, now != nullptr ? "as it is" : "as it was");
      if (now == nullptr) continue;
      const auto name = free_name(index.name, [&](const std::string& one) {
        return from_.table.find_index(one) == nullptr && to_.table.find_index(one) == nullptr;
      });
      rename_keys(*now);
      renamed_[index.name] = name;
      indexes += index_line(*now, name, names_, "with the new keys");
    }
    std::string accepted;
    for (const auto& name : blind_) {
      accepted += fmt::format(
          "  - {{ finding: unused-index, on: {}, because: \"programs of the old model read it\" }}\n", name);
    }
    return fmt::format("table:\n  indexes:\n{}entities:\n{}accept:\n{}{}", indexes, entities(), accepted, patterns());
  }

 private:
  std::string index_line(const IndexDesign& index, const std::string& name,
                         const std::map<std::string, std::string>& names, std::string_view remark) const {
    const auto list = [&](const std::vector<const KeyDesign*>& keys) {
      std::vector<std::string> texts;
      for (const auto* key : keys) {
        const auto found = names.find(key->name);
        texts.push_back(with_type(*key, found != names.end() ? found->second : key->name));
      }
      return yaml_of(texts);
    };
    const auto sort = list(sort_of(to_.table, &index));
    const bool stays_local = index.local && names.empty();
    const auto key = stays_local          ? fmt::format("local: {}", sort)
                     : index.sort.empty() ? fmt::format("key: [{}]", list(partition_of(to_.table, &index)))
                                          : fmt::format("key: [{}, {}]", list(partition_of(to_.table, &index)), sort);
    return fmt::format("    {}: {{ {}, projection: {} }}  # {}\n", name, key, projection_of(index), remark);
  }

  // ByName, GSI1PK: ByName2, GSI2PK.
  static std::string free_name(const std::string& name, const std::function<bool(const std::string&)>& is_free) {
    const auto digit = name.find_first_of("0123456789");
    const auto end = digit == std::string::npos ? name.size() : name.find_first_not_of("0123456789", digit);
    const auto front = name.substr(0, digit);
    const auto back = end >= name.size() ? std::string() : name.substr(end);
    for (unsigned number = 2;; ++number) {
      auto one = fmt::format("{}{}{}", front, number, back);
      if (is_free(one)) return one;
    }
  }

  void rename_keys(const IndexDesign& index) {
    for (const auto* key : key_designs_of(to_.table, &index)) {
      const auto& name = key->name;
      if (is_key_of(to_.table, nullptr, name) || names_.contains(name)) continue;
      names_[name] = free_name(name, [&](const std::string& one) { return !is_taken(one); });
      taken_.insert(names_[name]);
    }
  }

  bool is_taken(const std::string& name) const {
    if (taken_.contains(name)) return true;
    for (const auto* model : {&from_, &to_}) {
      if (is_any_key(model->table, name)) return true;
      for (const auto& entity : model->entities) {
        if (entity.find_attribute(name) != nullptr) return true;
      }
    }
    return false;
  }

  bool is_blind_key(const std::string& name) const {
    return std::any_of(blind_.begin(), blind_.end(), [&](const std::string& index) {
      return is_key_of(from_.table, from_.table.find_index(index), name) && !is_key_of(from_.table, nullptr, name);
    });
  }

  // The keys that a record is to have: of its old form as they were, and the new ones by their new names.
  std::string keys(const Record* was, const Record& is, std::string_view indent) const {
    std::string text;
    if (was != nullptr) {
      for (const auto& rule : was->keys) {
        if (is_blind_key(rule.attribute)) text += fmt::format("{}{}: {}\n", indent, rule.attribute, yaml_of(rule));
      }
    }
    for (const auto& rule : is.keys) {
      const auto name = names_.find(rule.attribute);
      if (name != names_.end()) text += fmt::format("{}{}: {}\n", indent, name->second, yaml_of(rule));
    }
    return text;
  }

  std::string entities() const {
    std::string text;
    for (const auto& entity : to_.entities) {
      const auto* old = from_.find_entity(entity.name);
      std::string records;
      for (const auto& record : entity.records) {
        const auto* was = old == nullptr              ? nullptr
                          : &record == &entity.main() ? &old->main()
                                                      : old->find_record(record.name);
        const bool alone = entity.records.size() == 1;
        const auto lines = keys(was, record, alone ? "      " : "          ");
        if (lines.empty()) continue;
        records += alone ? "    keys:\n" + lines : fmt::format("      {}:\n        keys:\n{}", record.name, lines);
      }
      if (records.empty()) continue;
      text += fmt::format("  {}:\n{}{}", entity.name, entity.records.size() == 1 ? "" : "    records:\n", records);
    }
    return text;
  }

  std::string patterns() const {
    std::string text;
    for (const auto& pattern : to_.patterns) {
      const auto name = pattern.index != nullptr ? renamed_.find(pattern.index->name) : renamed_.end();
      if (name == renamed_.end()) continue;
      std::vector<std::string> changes;
      for (const auto* key : key_designs_of(to_.table, pattern.index)) {
        const auto renamed = names_.find(key->name);
        if (renamed != names_.end()) changes.push_back(fmt::format("{} for {}", renamed->second, key->name));
      }
      text += fmt::format("#   {}: index {}, with {}\n", pattern.name, name->second, fmt::join(changes, " and "));
    }
    return text.empty() ? text : "# patterns that read the new index:\n" + text;
  }

  const Model& from_;
  const Model& to_;
  std::set<std::string> blind_;                 // indexes
  std::map<std::string, std::string> renamed_;  // an index -> the new one
  std::map<std::string, std::string> names_;    // a key attribute -> the new one
  std::set<std::string> taken_;
};

// ---------------------------------------------------------------------------------------------- keys for old programs

// Finds out how programs of the old model can compute the keys of new indexes for one entity.
class KeySearch {
 public:
  KeySearch(const Model& from, const Model& to, const Entity& was, const Entity& is)
      : from_(from), to_(to), was_(was), is_(is) {}

  model::AddedKeys run() {
    for (const auto& record : was_.records) {
      const auto* now = counterpart(was_, record, is_);
      if (now == nullptr) continue;
      model::AddedKeys::OfRecord of{.name = record.name, .designs = {}, .rules = {}};
      for (const auto& index : to_.table.indexes) {
        for (const auto* key : partition_of(to_.table, &index)) add(of, *now, *key, model::KeyPart::Partition, index);
        for (const auto* key : sort_of(to_.table, &index)) add(of, *now, *key, model::KeyPart::Sort, index);
      }
      if (!of.designs.empty()) added_.records.push_back(std::move(of));
    }
    return std::move(added_);
  }
  // Index -> why old programs cannot write a key of it.
  const std::map<std::string, std::string>& impossible() const { return impossible_; }

 private:
  void add(model::AddedKeys::OfRecord& record, const Record& now, const KeyDesign& key, model::KeyPart part,
           const IndexDesign& index) {
    const bool known = is_any_key(from_.table, key.name) || was_.find_attribute(key.name) != nullptr ||
                       std::any_of(record.designs.begin(), record.designs.end(),
                                   [&](const auto& one) { return one.key.name == key.name; });
    if (known) return;
    const auto* rule = now.find_key(key.name);
    std::set<std::string> seen;
    std::optional<std::string> obstacle;
    if (rule == nullptr) {
      const auto* own = is_.find_attribute(key.name);
      if (own == nullptr) return;
      obstacle = look_at(key.name, seen);
    } else {
      for (const auto& alternative : rule->alternatives) {
        for (const auto& path : alternative.text.attributes()) {
          if (!obstacle) obstacle = look_at(path, seen);
        }
        for (const auto& path : alternative.when ? alternative.when->paths() : std::vector<std::string>()) {
          if (!obstacle) obstacle = look_at(path, seen);
        }
      }
    }
    if (obstacle) {
      impossible_.emplace(index.name, fmt::format("{} is made of {}", key.name, *obstacle));
      return;
    }
    record.designs.push_back({.key = key, .part = part});
    if (rule != nullptr) record.rules.keys.push_back(*rule);
  }

  // The obstacle to computing an attribute as the new model does; nullopt: none.
  std::optional<std::string> look_at(const std::string& path, std::set<std::string>& seen) {
    const auto name = path.substr(0, path.find_first_of(".["));
    if (!seen.insert(name).second) return std::nullopt;
    const auto* now = is_.find_attribute(name);
    const auto* old = was_.find_attribute(name);
    if (now == nullptr) return std::nullopt;
    if (old != nullptr && computation_of(*old) == computation_of(*now)) return std::nullopt;
    if (now->derived) {
      for (const auto& source : now->derived->paths()) {
        if (auto obstacle = look_at(source, seen)) return obstacle;
      }
      const auto known =
          std::any_of(added_.derived.begin(), added_.derived.end(), [&](const auto& one) { return one.first == name; });
      if (!known) added_.derived.emplace_back(name, *now->derived);
      return std::nullopt;
    }
    const bool kept_elsewhere = now->copy_of || now->count || now->sum || now->last || now->next || now->updated ||
                                now->transient || now->generated != model::Generated::No;
    if (kept_elsewhere) return fmt::format("{}, which programs of the old model do not keep", name);
    if (now->default_value && old == nullptr) added_.defaults.set(name, *now->default_value);
    return std::nullopt;
  }

  const Model& from_;
  const Model& to_;
  const Entity& was_;
  const Entity& is_;
  model::AddedKeys added_;
  std::map<std::string, std::string> impossible_;
};

}  // namespace

std::vector<Blindness> blind_old_programs(const Model& from, const Model& to) {
  std::vector<Blindness> blind;
  const auto old_keys = primary_keys(from);
  const auto new_keys = primary_keys(to);
  for (const auto& entity : from.entities) {
    const auto* key = new_keys.find(entity.name);
    if (key == nullptr || *key == *old_keys.find(entity.name)) continue;
    blind.push_back({entity.name, fmt::format("{}: programs of the old model do not find a row that has moved, and "
                                              "their writes of {} are refused (503) from the beginning of the move on",
                                              entity.name, entity.name)});
  }
  for_each_sight(from, to, [&](const model::Pattern& pattern, const Entity& entity, const Seen& seen) {
    if (seen.sight != Sight::Blind) return;
    blind.push_back(
        {pattern.name, fmt::format("{}: this pattern of the old model does not find {} in {} any longer: {}",
                                   pattern.name, entity.name, place_of(pattern), seen.why)});
  });
  for (auto& relation : blind_relations(from, to)) blind.push_back(std::move(relation));
  return blind;
}

std::vector<std::string> reordered_patterns(const Model& from, const Model& to) {
  std::vector<std::string> texts;
  for_each_sight(from, to, [&](const model::Pattern& pattern, const Entity& entity, const Seen& seen) {
    if (seen.sight != Sight::OtherOrder) return;
    texts.push_back(fmt::format("{}: this pattern of the old model finds {} in another order: {}", pattern.name,
                                entity.name, seen.why));
  });
  return texts;
}

std::string way_to_keep_seeing(const Model& from, const Model& to) { return Advice(from, to).write(); }

NewKeys keys_for_old_programs(const Model& from, const Model& to) {
  NewKeys keys;
  for (const auto& entity : to.entities) {
    const auto* old = from.find_entity(entity.name);
    if (old == nullptr) continue;
    KeySearch search(from, to, *old, entity);
    auto added = search.run();
    if (!added.empty()) keys.added.emplace(entity.name, std::move(added));
    for (const auto& pattern : to.patterns) {
      const auto found =
          pattern.index != nullptr ? search.impossible().find(pattern.index->name) : search.impossible().end();
      const bool returned = std::any_of(pattern.returns.begin(), pattern.returns.end(),
                                        [&](const model::Returned& one) { return one.entity == &entity; });
      if (found == search.impossible().end() || !returned) continue;
      keys.blind.push_back(
          {pattern.name,
           fmt::format("{}: this pattern of the new model does not find {} that programs of the old model write, until "
                       "the migration is finished: {}",
                       pattern.name, entity.name, found->second)});
    }
  }
  return keys;
}

}  // namespace stator::runtime
