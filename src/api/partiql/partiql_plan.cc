#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/api/items/item_writes.h"
#include "stator/api/partiql/partiql.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/item_rules.h"
#include "stator/engine/keyspace.h"
#include "stator/value/item_size.h"

namespace stator::api {
namespace {

using engine::KeyAttribute;
using engine::KeySchema;
using engine::WriteAction;
using expr::KeyTerm;
using expr::partiql::Binding;
using expr::partiql::Node;
using expr::partiql::NodeIndex;
using expr::partiql::NodeKind;

constexpr std::size_t kMaxReads = 50;

Error key_type_mismatch(const KeyAttribute& attribute) {
  return validation_error(
      fmt::format("Key attribute's data type should match its data type in table's schema: Key {}", attribute.name));
}

const KeyAttribute* find_key(const KeySchema& keys, std::string_view name) {
  const KeyAttribute* found = nullptr;
  keys.for_each([&](const KeyAttribute& attribute) {
    if (attribute.name == name) found = &attribute;
  });
  return found;
}

bool is_partition(const KeySchema& keys, std::string_view name) {
  return std::ranges::find(keys.partition, name, &KeyAttribute::name) != keys.partition.end();
}

// The comparisons of a WHERE that say something about keys.
class KeyReader {
 public:
  KeyReader(const Binding& binding, const KeySchema& keys) : binding_(binding), keys_(keys) {}

  // Key attributes hold no documents.
  Result<void> check_paths() const {
    for (const Node& node : binding_.statement().nodes) {
      if (node.kind != NodeKind::Path || !node.path.is_nested() || !keys_.contains(node.path.attribute)) continue;
      return validation_error(fmt::format(
          "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key {}",
          node.path.attribute));
    }
    return {};
  }

  // The key terms in a comparison. There may be several alternatives, one of which is true. Empty if the comparison
  // gives no term that a read can use.
  Result<std::vector<KeyTerm>> terms(NodeIndex index) const {
    const Node& node = binding_.node(index);
    std::vector<KeyTerm> terms;
    const auto term = [&](const KeyAttribute& attribute, KeyTerm::Op op, NodeIndex low) -> Result<void> {
      auto value = TRY(binding_.constant(low));
      terms.push_back({attribute.name, op, std::move(value), {}});
      return {};
    };
    if (const auto op = comparison(node.kind)) {
      const auto* left = key_at(node.operands[0]);
      const auto* right = key_at(node.operands[1]);
      if (left != nullptr && binding_.is_constant(node.operands[1])) {
        TRY(term(*left, *op, node.operands[1]));
      } else if (right != nullptr && binding_.is_constant(node.operands[0])) {
        TRY(term(*right, turned(*op), node.operands[0]));
      }
    } else if (node.kind == NodeKind::Between) {
      const auto* key = key_at(node.operands[0]);
      if (key != nullptr && binding_.is_constant(node.operands[1]) && binding_.is_constant(node.operands[2])) {
        TRY(term(*key, KeyTerm::Op::Between, node.operands[1]));
        terms.back().high = TRY(binding_.constant(node.operands[2]));
      }
    } else if (node.kind == NodeKind::Call && node.text == "begins_with" && node.operands.size() == 2) {
      const auto* key = key_at(node.operands[0]);
      if (key != nullptr && binding_.is_constant(node.operands[1]))
        TRY(term(*key, KeyTerm::Op::BeginsWith, node.operands[1]));
    } else if (node.kind == NodeKind::In) {
      const auto* key = key_at(node.operands[0]);
      const Node& list = binding_.node(node.operands[1]);
      const bool is_list = list.kind == NodeKind::List || list.kind == NodeKind::Set;
      const auto members = is_list ? list.operands : std::vector<NodeIndex>{node.operands[1]};
      if (key != nullptr && std::ranges::all_of(members, [&](NodeIndex i) { return binding_.is_constant(i); })) {
        for (const NodeIndex member : members) TRY(term(*key, KeyTerm::Op::Equal, member));
      }
    }
    // A range of partitions is nothing that could be looked up.
    const bool useless = !terms.empty() && terms[0].op != KeyTerm::Op::Equal && is_partition(keys_, terms[0].attribute);
    if (useless) terms.clear();
    return terms;
  }

  // Whether the attribute equals one of finitely many values wherever the condition holds.
  Result<bool> determines(NodeIndex index, std::string_view attribute) const {
    const Node& node = binding_.node(index);
    if (node.kind == NodeKind::And || node.kind == NodeKind::Or) {
      const bool wanted = node.kind == NodeKind::And;  // one is enough for an AND, all are needed for an OR
      for (const NodeIndex operand : node.operands) {
        if (TRY(determines(operand, attribute)) == wanted) return wanted;
      }
      return !wanted;
    }
    const auto said = TRY(terms(index));
    return !said.empty() && said[0].attribute == attribute && said[0].op == KeyTerm::Op::Equal;
  }

  // The condition as an OR of ANDs, as far as it is about keys.  Errors: Validation, when there are too many of them.
  using Branch = std::vector<KeyTerm>;
  Result<std::vector<Branch>> branches(NodeIndex index) const {
    const Node& node = binding_.node(index);
    const auto too_many = validation_error("Too many decomposed read operations for a given query.");
    if (node.kind == NodeKind::Or) {
      std::vector<Branch> all;
      for (const NodeIndex operand : node.operands) {
        for (auto& branch : TRY(branches(operand))) {
          if (branch.empty() && std::ranges::find(all, true, &Branch::empty) != all.end()) continue;
          all.push_back(std::move(branch));
        }
        if (all.size() > kMaxReads) return too_many;
      }
      return all;
    }
    if (node.kind == NodeKind::And) {
      std::vector<Branch> all = {{}};
      for (const NodeIndex operand : node.operands) {
        const auto more = TRY(branches(operand));
        if (all.size() * more.size() > kMaxReads) return too_many;
        std::vector<Branch> product;
        for (const auto& left : all) {
          for (const auto& right : more) {
            product.push_back(left);
            product.back().insert(product.back().end(), right.begin(), right.end());
          }
        }
        all = std::move(product);
      }
      return all;
    }
    std::vector<Branch> all;
    for (auto& term : TRY(terms(index))) {
      const auto& attribute = *find_key(keys_, term.attribute);
      if (term.low.type() != attribute.type ||
          (term.op == KeyTerm::Op::Between && term.high.type() != attribute.type)) {
        return key_type_mismatch(attribute);
      }
      all.push_back({std::move(term)});
    }
    if (all.size() > kMaxReads) return too_many;
    if (all.empty()) all.emplace_back();
    return all;
  }

  // The conjuncts of a condition.
  void conjuncts(NodeIndex index, std::vector<NodeIndex>& out) const {
    const Node& node = binding_.node(index);
    if (node.kind != NodeKind::And) return out.push_back(index);
    for (const NodeIndex operand : node.operands) conjuncts(operand, out);
  }

 private:
  const KeyAttribute* key_at(NodeIndex index) const {
    const Node& node = binding_.node(index);
    return node.kind == NodeKind::Path && !node.path.is_nested() ? find_key(keys_, node.path.attribute) : nullptr;
  }

  static std::optional<KeyTerm::Op> comparison(NodeKind kind) {
    switch (kind) {
      case NodeKind::Equal: return KeyTerm::Op::Equal;
      case NodeKind::Less: return KeyTerm::Op::Less;
      case NodeKind::LessEqual: return KeyTerm::Op::LessEqual;
      case NodeKind::Greater: return KeyTerm::Op::Greater;
      case NodeKind::GreaterEqual: return KeyTerm::Op::GreaterEqual;
      default: return std::nullopt;
    }
  }

  const Binding& binding_;
  const KeySchema& keys_;
};

// The key that the conjuncts of a WHERE spell out.
struct KeyLookup {
  value::Item key;
  bool is_complete = false;  // it has all key attributes
  bool is_all = true;        // and there is nothing beside them
  const KeyAttribute* wrong_type = nullptr;
  const KeyAttribute* conflicting = nullptr;  // has been given two values, of which the key has the first
};

// `with_in` also takes an IN with one value for an equality.
Result<KeyLookup> look_up_key(const Binding& binding, const KeySchema& keys, std::optional<NodeIndex> where,
                              bool with_in) {
  KeyLookup found;
  const KeyReader reader(binding, keys);
  std::vector<NodeIndex> conjuncts;
  if (where) reader.conjuncts(*where, conjuncts);
  for (const NodeIndex conjunct : conjuncts) {
    auto terms = TRY(reader.terms(conjunct));
    const bool is_equality = terms.size() == 1 && terms[0].op == KeyTerm::Op::Equal &&
                             (with_in || binding.node(conjunct).kind == NodeKind::Equal);
    if (!is_equality) {
      found.is_all = false;
      continue;
    }
    const auto* attribute = find_key(keys, terms[0].attribute);
    if (const auto* earlier = found.key.find(attribute->name)) {
      if (*earlier != terms[0].low) found.conflicting = attribute;
      continue;
    }
    if (terms[0].low.type() != attribute->type && found.wrong_type == nullptr) found.wrong_type = attribute;
    found.key.set(attribute->name, std::move(terms[0].low));
  }
  found.is_complete = true;
  keys.for_each([&](const KeyAttribute& attribute) {
    if (found.key.find(attribute.name) == nullptr) found.is_complete = false;
  });
  return found;
}

// Why that is not the key of one item.
std::optional<Error> key_error(const engine::Table& table, const KeyLookup& lookup) {
  if (lookup.conflicting != nullptr) {
    return validation_error(
        fmt::format("Multiple conditions on same key {}. Only single item Update/Insert/Delete are supported",
                    lookup.conflicting->name));
  }
  if (!lookup.is_complete) {
    return validation_error("Where clause does not contain a mandatory equality on all key attributes");
  }
  if (lookup.wrong_type != nullptr) return key_type_mismatch(*lookup.wrong_type);
  if (auto checked = engine::check_key(table, lookup.key); !checked) return checked.error();
  return std::nullopt;
}

// ---- SELECT ----

struct Lookup {
  storage::KeyRange range;
  engine::KeyBytes partition;  // in the order of the partition key's values
};

storage::KeyRange common(const storage::KeyRange& a, const storage::KeyRange& b) {
  storage::KeyRange both;
  both.begin = std::max(a.begin, b.begin);
  both.end = a.end.empty() ? b.end : b.end.empty() ? a.end : std::min(a.end, b.end);
  return both;
}

bool is_empty(const storage::KeyRange& range) { return !range.end.empty() && range.begin >= range.end; }

// The range of keys that a branch leaves, or nullopt when it contradicts itself.
Result<std::optional<Lookup>> look_up(const engine::ReadTarget& target, const KeyReader::Branch& branch) {
  const auto terms_on = [&](const KeyAttribute& attribute) {
    std::vector<const KeyTerm*> terms;
    for (const auto& term : branch) {
      if (term.attribute == attribute.name) terms.push_back(&term);
    }
    return terms;
  };
  const auto equality = [](const std::vector<const KeyTerm*>& terms) -> const KeyTerm* {
    const auto found = std::ranges::find(terms, KeyTerm::Op::Equal, &KeyTerm::op);
    return found != terms.end() ? *found : nullptr;
  };
  const auto contradicts = [](const std::vector<const KeyTerm*>& terms, const KeyTerm& equal) {
    return std::ranges::any_of(
        terms, [&](const KeyTerm* term) { return term->op == KeyTerm::Op::Equal && term->low != equal.low; });
  };
  Lookup lookup;
  expr::KeyCondition condition;
  for (const auto& attribute : target.keys().partition) {
    const auto terms = terms_on(attribute);
    const auto* equal = equality(terms);
    if (contradicts(terms, *equal)) return std::optional<Lookup>();
    engine::append_field(lookup.partition, equal->low);
    condition.terms.push_back(*equal);
  }
  // Sort attributes from the left: equalities, then whatever narrows the next one.
  std::vector<const KeyTerm*> narrowing;
  for (const auto& attribute : target.keys().sort) {
    const auto terms = terms_on(attribute);
    const auto* equal = equality(terms);
    if (equal == nullptr) {
      narrowing = terms;
      break;
    }
    if (contradicts(terms, *equal)) return std::optional<Lookup>();
    condition.terms.push_back(*equal);
  }
  lookup.range = TRY(engine::query_range(target, condition));
  for (const auto* term : narrowing) {
    auto narrower = condition;
    narrower.terms.push_back(*term);
    lookup.range = common(lookup.range, TRY(engine::query_range(target, narrower)));
  }
  if (is_empty(lookup.range)) return std::optional<Lookup>();
  return std::optional<Lookup>(std::move(lookup));
}

Result<void> check_apart(const std::vector<Lookup>& lookups) {
  std::vector<const storage::KeyRange*> ranges;
  for (const auto& lookup : lookups) ranges.push_back(&lookup.range);
  std::ranges::sort(ranges, {}, &storage::KeyRange::begin);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i - 1]->end.empty() || ranges[i]->begin < ranges[i - 1]->end) {
      return validation_error("Overlapping conditions with range keys are not supported in where clause");
    }
  }
  return {};
}

// Puts the reads of a SELECT in order.
Result<void> order_reads(const std::vector<expr::partiql::Order>& order, const KeySchema& keys,
                         std::vector<Lookup>& lookups, storage::Direction& direction) {
  bool by_partition = false, partition_descends = false;
  for (const auto& [attribute, descending] : order) {
    if (is_partition(keys, attribute)) {
      by_partition = true;
      partition_descends = descending;
    } else if (descending) {
      direction = storage::Direction::Backward;
    }
  }
  std::ranges::sort(lookups, [&](const Lookup& a, const Lookup& b) {
    if (by_partition && a.partition != b.partition) return (a.partition < b.partition) != partition_descends;
    return direction == storage::Direction::Forward ? a.range.begin < b.range.begin : b.range.begin < a.range.begin;
  });
  const bool several = !lookups.empty() && std::ranges::any_of(lookups, [&](const Lookup& lookup) {
    return lookup.partition != lookups[0].partition;
  });
  if (!order.empty() && several && !by_partition) {
    return validation_error(
        "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.");
  }
  return {};
}

Result<void> check_order(const expr::partiql::Select& select, const KeySchema& keys, bool is_keyed) {
  if (select.order.empty()) return {};
  if (!select.where) return validation_error("Must have WHERE clause in the statement when using ORDER BY clause.");
  for (const auto& [attribute, descending] : select.order) {
    if (keys.contains(attribute)) continue;
    return validation_error(
        fmt::format("Variable reference {} in ORDER BY clause must be part of the primary key", attribute));
  }
  if (is_keyed) return {};
  return validation_error(
      "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.");
}

// The service lists these names as Java's HashSet does: by the low bits of their hash, and as they came among equals.
void sort_as_hash_set(std::vector<std::string_view>& names) {
  std::size_t buckets = 16;
  while (names.size() * 4 > buckets * 3) buckets *= 2;
  const auto bucket = [&](std::string_view name) {
    std::uint32_t hash = 0;
    for (const char c : name) hash = hash * 31 + static_cast<unsigned char>(c);
    return (hash ^ (hash >> 16)) & (buckets - 1);
  };
  std::ranges::stable_sort(names, {}, bucket);
}

Result<void> check_filter_projected(const engine::ReadTarget& target, const std::vector<std::string_view>& attributes) {
  if (target.index == nullptr) return {};
  std::vector<std::string_view> missing;
  for (const auto attribute : attributes) {
    if (!engine::is_projected(*target.table, *target.index, attribute)) missing.push_back(attribute);
  }
  if (missing.empty()) return {};
  sort_as_hash_set(missing);
  return validation_error(
      fmt::format("One or more parameter values were invalid: Secondary index {} does not project one or more filter "
                  "attributes: [{}]",
                  target.index->name, fmt::join(missing, ", ")));
}

// The attributes in the conditions that every read shares, which say nothing about the keys.
std::vector<std::string_view> shared_filter_attributes(const Binding& binding, const KeySchema& keys, NodeIndex where) {
  std::vector<NodeIndex> conjuncts;
  KeyReader(binding, keys).conjuncts(where, conjuncts);
  std::vector<std::string_view> attributes;
  for (const NodeIndex conjunct : conjuncts) {
    std::vector<std::string_view> found;
    std::vector<NodeIndex> open = {conjunct};
    bool has_key = false;
    while (!open.empty()) {
      const Node& node = binding.node(open.back());
      open.pop_back();
      open.insert(open.end(), node.operands.rbegin(), node.operands.rend());
      if (node.kind != NodeKind::Path) continue;
      has_key = has_key || keys.contains(node.path.attribute);
      found.push_back(node.path.attribute);
    }
    if (has_key) continue;
    for (const auto name : found) {
      if (std::ranges::find(attributes, name) == attributes.end()) attributes.push_back(name);
    }
  }
  return attributes;
}

// The table, or its index that the statement names.
Result<engine::ReadTarget> find_target(engine::TablePtr table, std::string_view index, bool consistent) {
  engine::ReadTarget target{.table = std::move(table)};
  if (index.empty()) return target;
  target.index = target.table->find_index(index);
  if (target.index == nullptr) return validation_error("The table does not have the specified index");
  if (target.index->building) {
    return validation_error(fmt::format("Cannot read from backfilling global secondary index: {}", target.index->name));
  }
  if (consistent && target.index->kind == engine::IndexKind::Global) {
    return validation_error("Strongly consistent read is not supported on Global Secondary Indexes");
  }
  return target;
}

}  // namespace

Result<SelectPlan> plan_select(const BoundStatement& statement, engine::TablePtr table, bool consistent) {
  const auto& binding = statement.binding();
  const auto& select = std::get<expr::partiql::Select>(statement.statement().body);
  SelectPlan plan;
  plan.target = TRY(find_target(std::move(table), select.from.index, consistent));
  plan.consistent = consistent;
  plan.columns = select.columns;
  if (select.where) plan.filter = TRY(binding.where(*select.where));
  std::vector<std::string_view> attributes;
  for (const auto& column : plan.columns) attributes.push_back(column.path.attribute);
  plan.fetch_from_table = TRY(needs_table(plan.target, attributes));

  const auto& keys = plan.target.keys();
  const KeyReader reader(binding, keys);
  if (select.where) TRY(reader.check_paths());
  bool is_keyed = select.where.has_value();
  for (const auto& attribute : keys.partition)
    is_keyed = is_keyed && TRY(reader.determines(*select.where, attribute.name));
  TRY(check_order(select, keys, is_keyed));
  if (!is_keyed) {
    plan.reads.push_back({.range = engine::scan_range(plan.target), .start_after = {}, .limit = {}});
    return plan;
  }
  if (plan.target.index == nullptr) {
    auto lookup = TRY(look_up_key(binding, keys, select.where, true));
    if (lookup.is_complete && lookup.is_all && lookup.conflicting == nullptr) {
      plan.key_error = key_error(*plan.target.table, lookup);
      plan.key = std::move(lookup.key);
      return plan;
    }
  }
  const auto branches = TRY(reader.branches(*select.where));
  std::vector<Lookup> lookups;
  for (const auto& branch : branches) {
    if (auto lookup = TRY(look_up(plan.target, branch))) lookups.push_back(std::move(*lookup));
  }
  TRY(check_apart(lookups));
  if (branches.size() == 1) {
    TRY(check_filter_projected(plan.target, plan.filter->attributes()));
  } else if (lookups.size() == branches.size()) {
    TRY(check_filter_projected(plan.target, shared_filter_attributes(binding, keys, *select.where)));
  }
  auto direction = storage::Direction::Forward;
  TRY(order_reads(select.order, keys, lookups, direction));
  for (auto& lookup : lookups) {
    plan.reads.push_back({.range = std::move(lookup.range), .direction = direction, .start_after = {}, .limit = {}});
  }
  return plan;
}

// ---- writes ----

namespace {

Result<void> plan_key(const Binding& binding, std::optional<NodeIndex> where, StatementWrite& plan) {
  const auto& table = *plan.action.table;
  TRY(KeyReader(binding, table.keys).check_paths());
  auto lookup = TRY(look_up_key(binding, table.keys, where, false));
  plan.key_error = key_error(table, lookup);
  plan.action.item = std::move(lookup.key);
  return {};
}

std::optional<Error> inserted_key_error(const engine::Table& table, const value::Item& item) {
  std::optional<Error> error;
  table.keys.for_each([&](const KeyAttribute& attribute) {
    if (error) return;
    const auto* field = item.find(attribute.name);
    if (field == nullptr) {
      error = validation_error(fmt::format("Key attribute should be present in the item: Key {}", attribute.name));
    } else if (field->type() != attribute.type) {
      error = key_type_mismatch(attribute);
    }
  });
  if (error) return error;
  if (auto checked = engine::check_item(table, item); !checked) return checked.error();
  return std::nullopt;
}

Result<void> plan_insert(const Binding& binding, const expr::partiql::Insert& insert, StatementWrite& plan) {
  auto& action = plan.action;
  action.kind = WriteAction::Kind::Put;
  action.item = TRY(binding.item(insert));
  TRY(value::check_nesting(action.item));
  TRY(check_put_size(action.item));
  plan.key_error = inserted_key_error(*action.table, action.item);
  action.condition = Binding::absent(action.table->keys.partition[0].name);
  return {};
}

Result<void> plan_update(const Binding& binding, const expr::partiql::Update& update, StatementWrite& plan) {
  auto& action = plan.action;
  action.kind = WriteAction::Kind::Update;
  action.update = TRY(binding.update(update));
  if (update.where) {
    action.condition =
        TRY(binding.where(*update.where, Binding::Existence::Required, action.table->keys.partition[0].name));
  }
  TRY(plan_key(binding, update.where, plan));
  if (!plan.key_error) TRY(check_keys_untouched(*action.table, *action.update));
  return {};
}

Result<void> plan_delete(const Binding& binding, const expr::partiql::Delete& statement, StatementWrite& plan) {
  auto& action = plan.action;
  action.kind = WriteAction::Kind::Delete;
  if (statement.where) {
    action.condition =
        TRY(binding.where(*statement.where, Binding::Existence::Optional, action.table->keys.partition[0].name));
  }
  return plan_key(binding, statement.where, plan);
}

// EXISTS(SELECT ...): the item that the key names must satisfy the rest.
Result<void> plan_check(const Binding& binding, const expr::partiql::Select& select, StatementWrite& plan) {
  auto& action = plan.action;
  action.kind = WriteAction::Kind::Check;
  if (!select.from.index.empty()) return validation_error("Operations on indices are not supported in transactions");
  if (select.where) action.condition = TRY(binding.where(*select.where));
  auto lookup = TRY(look_up_key(binding, action.table->keys, select.where, false));
  if (!lookup.is_complete || (lookup.is_all && lookup.conflicting == nullptr)) {
    return validation_error("EXISTS() must contain a single item read with additional condition");
  }
  lookup.conflicting = nullptr;  // the second of two values is part of the condition, which then cannot hold
  plan.key_error = key_error(*action.table, lookup);
  action.item = std::move(lookup.key);
  return {};
}

}  // namespace

Result<StatementWrite> plan_write(const BoundStatement& statement, engine::TablePtr table) {
  const auto& body = statement.statement().body;
  const auto& binding = statement.binding();
  StatementWrite plan;
  plan.action.table = std::move(table);
  plan.returning = statement.statement().returning();
  if (const auto* insert = std::get_if<expr::partiql::Insert>(&body)) {
    plan.is_insert = true;
    TRY(plan_insert(binding, *insert, plan));
  } else if (const auto* update = std::get_if<expr::partiql::Update>(&body)) {
    TRY(plan_update(binding, *update, plan));
  } else if (const auto* remove = std::get_if<expr::partiql::Delete>(&body)) {
    TRY(plan_delete(binding, *remove, plan));
  } else {
    TRY(plan_check(binding, std::get<expr::partiql::Select>(body), plan));
  }
  return plan;
}

}  // namespace stator::api
