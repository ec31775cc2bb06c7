#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "stator/base/article.h"
#include "stator/model/row_keys.h"
#include "stator/model/rows.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;

// A key whose range holds the children, and how much of it the parent determines.
struct Front {
  Item partition;
  std::string sort_prefix;
  std::set<std::string> determined;  // attributes of the child
};

std::string_view common_front(std::string_view a, std::string_view b) {
  return a.substr(0, static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin()));
}

class ChildSearch {
 public:
  ChildSearch(const Model& model, const Entity& child, const Parent& relation, const Item& parent_attributes)
      : model_(model), child_(child), relation_(relation) {
    for (const auto& [theirs, ours] : relation.by) {
      if (const AttributeValue* value = find_path(parent_attributes, theirs)) known_.set(ours, *value);
    }
  }

  Result<ChildPlan> run() {
    for (const auto* index : relation_.found_by) TRY(consider(index, model_.table.key_of(index)));
    if (!best_) {
      return validation_error(fmt::format("no key leads from {} to its rows of {} through {}",
                                          with_article(relation_.entity), child_.name, relation_.name));
    }
    return std::move(*best_);
  }

 private:
  // Keeps the key if it beats what was found so far; the table comes first and wins ties.
  Result<void> consider(const IndexDesign* index, const KeyPair& keys) {
    Front front;
    for (const auto& key : keys.partition) {
      if (!TRY(add_partition(key, front))) return {};
    }
    if (!keys.sort.empty()) TRY(add_sort(keys.sort.front(), front));
    if (best_ && front.determined.size() <= determined_) return {};
    determined_ = front.determined.size();
    best_ = ChildPlan{.child = &child_,
                      .relation = &relation_,
                      .index = index,
                      .partition = front.partition,
                      .sort_prefix = front.sort_prefix};
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
    note_determined(text, front);
    return true;
  }

  // The common front of all alternatives.
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
    if (!first && all_agree) note_determined(rule->alternatives[0].text, front);
    return {};
  }

  // The holes of `text` up to the first that is not known.
  void note_determined(const Template& text, Front& front) const {
    for (const auto& part : text.parts()) {
      const auto* field = std::get_if<Template::Field>(&part);
      if (field == nullptr) continue;
      if (find_path(known_, field->attribute) == nullptr) return;
      front.determined.insert(field->attribute);
    }
  }

  const Model& model_;
  const Entity& child_;
  const Parent& relation_;
  Item known_;  // attributes of the children, as the parent determines them
  std::optional<ChildPlan> best_;
  std::size_t determined_ = 0;
};

}  // namespace

Result<ChildPlan> plan_children(const Model& model, const Entity& child, const Parent& relation,
                                const Item& parent_attributes) {
  return ChildSearch(model, child, relation, parent_attributes).run();
}

}  // namespace stator::model
