#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "stator/base/article.h"
#include "stator/model/row_keys.h"
#include "stator/model/rows.h"
#include "stator/model/types/type_rules.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

// A key whose range holds the children, and how much of it the parent determines.
struct Front {
  Item partition;
  std::string sort_prefix;
  std::set<std::string> determined;  // attributes of the child
  bool distinct = true;              // different values of these cannot give the same front
};

std::string_view common_front(std::string_view a, std::string_view b) {
  return a.substr(0, static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin()));
}

// A byte that escaped text cannot hold.
bool is_separator(char c) { return static_cast<unsigned char>(c) < '%'; }

// Whether a key made from `text` can begin with `front`.  True when that is not certain.
bool can_begin_with(const Template& text, std::string_view front) {
  const auto& parts = text.parts();
  for (std::size_t i = 0; i < parts.size() && !front.empty(); ++i) {
    if (const auto* literal = std::get_if<Template::Literal>(&parts[i])) {
      const std::size_t common = common_front(front, literal->text).size();
      if (common < std::min(front.size(), literal->text.size())) return false;
      front.remove_prefix(common);
      continue;
    }
    // What fills a hole ends where the separator stands that follows it.
    const auto* field = std::get_if<Template::Field>(&parts[i]);
    if (field != nullptr && field->transform == Transform::Raw) return true;
    const auto* next = i + 1 < parts.size() ? std::get_if<Template::Literal>(&parts[i + 1]) : nullptr;
    if (i + 1 < parts.size() && (next == nullptr || !is_separator(next->text.front()))) return true;
    front.remove_prefix(
        static_cast<std::size_t>(std::find_if(front.begin(), front.end(), is_separator) - front.begin()));
  }
  return front.empty();
}

// Whether what fills the hole `at` can be told from everything else: it is not folded, and what follows is a separator,
// which escaped text cannot hold.
bool stands_alone(const Template& text, std::size_t at, bool can_end) {
  const auto& field = std::get<Template::Field>(text.parts()[at]);
  if (field.transform != Transform::Escaped) return false;
  if (at + 1 == text.parts().size()) return can_end;
  const auto* next = std::get_if<Template::Literal>(&text.parts()[at + 1]);
  return next != nullptr && is_separator(next->text.front());
}

// Which keys lead to all children of whatever parent.  Told from the model alone, so that the checker can ask what the
// search asks.
class ChildKeys {
 public:
  ChildKeys(const Model& model, const Entity& child, const Parent& relation)
      : model_(model), child_(child), relation_(relation), identity_(child.identity(model.table)) {}

  bool lead_through_table() const { return follows_from_parent(model_.table.partition); }

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

  // Whether the parent has what is in the key, and has it as values of the key's type.
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
    if (is_known(name) || child_.owner == name) return true;
    if (std::find(identity_.begin(), identity_.end(), name) != identity_.end()) return true;
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

  const Model& model_;
  const Entity& child_;
  const Parent& relation_;
  const std::vector<std::string> identity_;
};

class ChildSearch {
 public:
  ChildSearch(const Model& model, const Entity& child, const Parent& relation, const Item& parent_attributes)
      : model_(model), child_(child), relation_(relation) {
    for (const auto& [theirs, ours] : relation.by) {
      if (const AttributeValue* value = find_path(parent_attributes, theirs)) known_.set(ours, *value);
    }
  }

  Result<ChildPlan> run() {
    const auto& table = model_.table;
    const ChildKeys keys(model_, child_, relation_);
    if (keys.lead_through_table()) {
      TRY(consider(nullptr, {table.partition}, table.sort ? std::vector{*table.sort} : std::vector<KeyDesign>()));
    }
    for (const auto& index : table.indexes) {
      if (keys.lead_through(index)) TRY(consider(&index, index.partition, index.sort));
    }
    if (!best_) {
      return validation_error(fmt::format("no key leads from {} to its rows of {} through {}",
                                          with_article(relation_.entity), child_.name, relation_.name));
    }
    return std::move(*best_);
  }

 private:
  // Keeps the key if it beats what was found so far; the table comes first and wins ties.
  Result<void> consider(const IndexDesign* index, const std::vector<KeyDesign>& partition,
                        const std::vector<KeyDesign>& sort) {
    Front front;
    for (const auto& key : partition) {
      if (!TRY(add_partition(key, front))) return {};
    }
    if (!sort.empty()) TRY(add_sort(sort.front(), front));
    if (best_ && front.determined.size() <= determined_) return {};
    determined_ = front.determined.size();
    best_ = ChildPlan{.child = &child_,
                      .relation = &relation_,
                      .index = index,
                      .partition = front.partition,
                      .sort_prefix = front.sort_prefix,
                      .exact = is_exact(partition, sort, front)};
    return {};
  }

  // False when the parent lacks what it is made of.
  Result<bool> add_partition(const KeyDesign& key, Front& front) {
    const KeyRule* rule = child_.main().find_key(key.name);
    if (rule == nullptr) {
      const AttributeValue* value = known_.find(key.name);
      if (value == nullptr || value->type() != key.type) return false;
      front.partition.set(key.name, *value);
      front.determined.insert(key.name);
      return true;
    }
    const Template& text = rule->alternatives[0].text;
    auto rendered = TRY(text.render(lookup_in(known_)));
    if (!rendered) return false;
    front.partition.set(key.name, TRY(as_key(key, std::move(*rendered))));
    note_determined(text, true, front);
    return true;
  }

  // What all alternatives begin with.
  Result<void> add_sort(const KeyDesign& key, Front& front) {
    const KeyRule* rule = child_.main().find_key(key.name);
    if (rule == nullptr || key.type != value::Type::S) return {};
    bool first = true;
    bool all_agree = true;
    for (const auto& alternative : rule->alternatives) {
      if (alternative.text.shards() > 1) {
        front.sort_prefix.clear();
        return {};
      }
      const auto prefix = TRY(alternative.text.render_prefix(lookup_in(known_)));
      all_agree = first || (all_agree && prefix.text == front.sort_prefix);
      front.sort_prefix = first ? prefix.text : std::string(common_front(front.sort_prefix, prefix.text));
      first = false;
    }
    if (!first && all_agree) note_determined(rule->alternatives[0].text, false, front);
    return {};
  }

  // The holes of `text` up to the first that is not known.
  void note_determined(const Template& text, bool can_end, Front& front) const {
    for (std::size_t at = 0; at < text.parts().size(); ++at) {
      const auto* field = std::get_if<Template::Field>(&text.parts()[at]);
      if (field == nullptr) continue;
      if (find_path(known_, field->attribute) == nullptr) return;
      front.determined.insert(field->attribute);
      front.distinct = front.distinct && stands_alone(text, at, can_end);
    }
  }

  bool is_exact(const std::vector<KeyDesign>& partition, const std::vector<KeyDesign>& sort, const Front& front) const {
    const bool all_determined = std::all_of(relation_.by.begin(), relation_.by.end(), [&](const auto& pair) {
      return front.determined.find(pair.second) != front.determined.end();
    });
    if (relation_.when || !all_determined || !front.distinct || partition.size() != 1 || sort.size() > 1) return false;
    const auto* partition_text = front.partition.begin()->value.as_string();
    if (partition_text == nullptr || partition_text->starts_with("unique#")) return false;
    for (const auto& entity : model_.entities) {
      for (const auto& record : entity.records) {
        if (&record == &child_.main()) continue;
        if (can_begin(entity, record, partition[0], *partition_text) &&
            (sort.empty() || can_begin(entity, record, sort[0], front.sort_prefix))) {
          return false;
        }
      }
    }
    return true;
  }

  // Whether a row of that record can have a key that begins with `front`.
  static bool can_begin(const Entity& entity, const Record& record, const KeyDesign& key, std::string_view front) {
    const KeyRule* rule = record.find_key(key.name);
    if (rule == nullptr) return entity.find_attribute(key.name) != nullptr;
    return std::any_of(rule->alternatives.begin(), rule->alternatives.end(),
                       [&](const KeyTemplate& alternative) { return can_begin_with(alternative.text, front); });
  }

  const Model& model_;
  const Entity& child_;
  const Parent& relation_;
  Item known_;  // attributes of the children, as the parent determines them
  std::optional<ChildPlan> best_;
  std::size_t determined_ = 0;
};

}  // namespace

bool can_find_children(const Model& model, const Entity& child, const Parent& relation, const IndexDesign* without) {
  const ChildKeys keys(model, child, relation);
  const auto& indexes = model.table.indexes;
  return keys.lead_through_table() || std::any_of(indexes.begin(), indexes.end(), [&](const IndexDesign& index) {
           return &index != without && keys.lead_through(index);
         });
}

Result<ChildPlan> plan_children(const Model& model, const Entity& child, const Parent& relation,
                                const Item& parent_attributes) {
  return ChildSearch(model, child, relation, parent_attributes).run();
}

}  // namespace stator::model
