#include "stator/engine/range_read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/engine/item_rules.h"

namespace stator::engine {
namespace {

using expr::KeyTerm;

Error missed_element(const KeyAttribute& attribute) {
  return validation_error(fmt::format("Query condition missed key schema element: {}", attribute.name));
}

const KeyTerm* term_on(const expr::KeyCondition& condition, std::string_view attribute) {
  for (const auto& term : condition.terms) {
    if (term.attribute == attribute) return &term;
  }
  return nullptr;
}

Result<void> check_term(const KeyTerm& term, const KeyAttribute& attribute) {
  const bool wrong_type =
      term.low.type() != attribute.type || (term.op == KeyTerm::Op::Between && term.high.type() != attribute.type);
  if (wrong_type) {
    return validation_error(
        "One or more parameter values were invalid: Condition parameter type does not match schema type");
  }
  return {};
}

Result<void> check_not_empty(const value::AttributeValue& value, const KeyAttribute& attribute) {
  const bool empty = (value.as_string() != nullptr && value.as_string()->empty()) ||
                     (value.as_binary() != nullptr && value.as_binary()->bytes.empty());
  if (!empty) return {};
  return validation_error(fmt::format(
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
      "empty {} value. Key: {}",
      value.as_binary() != nullptr ? "binary" : "string", attribute.name));
}

// `prefix` with the field behind it.
KeyBytes with_field(const KeyBytes& prefix, const value::AttributeValue& field) {
  KeyBytes key = prefix;
  append_field(key, field);
  return key;
}

// A field without its end mark is what every longer text begins with.
KeyBytes with_open_field(const KeyBytes& prefix, const value::AttributeValue& field) {
  static constexpr std::size_t kEndMarkBytes = 2;
  KeyBytes key = with_field(prefix, field);
  key.resize(key.size() - kEndMarkBytes);
  return key;
}

storage::KeyRange sort_range(const KeyBytes& prefix, const KeyTerm& term) {
  switch (term.op) {
    case KeyTerm::Op::Equal: return storage::KeyRange::prefix(with_field(prefix, term.low));
    case KeyTerm::Op::Less: return {prefix, with_field(prefix, term.low)};
    case KeyTerm::Op::LessEqual: return {prefix, prefix_end(with_field(prefix, term.low))};
    case KeyTerm::Op::Greater: return {prefix_end(with_field(prefix, term.low)), prefix_end(prefix)};
    case KeyTerm::Op::GreaterEqual: return {with_field(prefix, term.low), prefix_end(prefix)};
    case KeyTerm::Op::Between: return {with_field(prefix, term.low), prefix_end(with_field(prefix, term.high))};
    case KeyTerm::Op::BeginsWith: return storage::KeyRange::prefix(with_open_field(prefix, term.low));
  }
  return {};
}

// Keys of several attributes have rules, and texts, of their own: the whole partition, and sort attributes from the
// left.
Result<void> check_several_attributes(const KeySchema& keys, const expr::KeyCondition& condition) {
  const auto lacks_equality = [&](const KeyAttribute& attribute) {
    const auto* term = term_on(condition, attribute.name);
    return term == nullptr || term->op != KeyTerm::Op::Equal;
  };
  std::vector<std::string_view> missing;
  for (const auto& attribute : keys.partition) {
    if (lacks_equality(attribute)) missing.push_back(attribute.name);
  }
  if (!missing.empty()) {
    return validation_error(
        fmt::format("One or more parameter values were invalid: HASH key attributes {} must have equality conditions "
                    "specified in the "
                    "query",
                    fmt::join(missing, ", ")));
  }
  for (const auto& attribute : keys.sort) {
    if (term_on(condition, attribute.name) != nullptr && !missing.empty()) {
      return validation_error(
          fmt::format("One or more parameter values were invalid: RANGE key attributes {} must have equality "
                      "conditions specified in the "
                      "query because a condition is present on key attribute {}",
                      fmt::join(missing, ", "), attribute.name));
    }
    if (lacks_equality(attribute)) missing.push_back(attribute.name);
  }
  return {};
}

}  // namespace

Result<storage::KeyRange> query_range(const ReadTarget& target, const expr::KeyCondition& condition) {
  const auto& keys = target.keys();
  if (condition.terms.size() > std::max<std::size_t>(2, keys.partition.size() + keys.sort.size())) {
    return validation_error("Conditions can be of length 1 or 2 only");
  }
  if (keys.partition.size() > 1 || keys.sort.size() > 1) TRY(check_several_attributes(keys, condition));
  std::size_t matched = 0;
  std::vector<const value::AttributeValue*> partition;
  for (const auto& attribute : keys.partition) {
    const auto* term = term_on(condition, attribute.name);
    if (term == nullptr) return missed_element(attribute);
    TRY(check_term(*term, attribute));
    if (term->op != KeyTerm::Op::Equal) return validation_error("Query key condition not supported");
    TRY(check_not_empty(term->low, attribute));
    TRY(check_key_sizes({.partition = {attribute}, .sort = {}}, {{attribute.name, term->low}}));
    partition.push_back(&term->low);
    ++matched;
  }
  KeyBytes prefix = partition_prefix(target.table->id, target.id(), partition);

  // Sort attributes from the left: equalities, then at most one range.
  const KeyTerm* last = nullptr;
  for (const auto& attribute : keys.sort) {
    const auto* term = term_on(condition, attribute.name);
    if (term == nullptr) break;
    TRY(check_term(*term, attribute));
    if (last != nullptr) {
      if (last->op != KeyTerm::Op::Equal) return validation_error("Query key condition not supported");
      prefix = with_field(prefix, last->low);
    }
    last = term;
    ++matched;
  }
  if (matched < condition.terms.size()) {
    // Something is left that is no key attribute, or a sort attribute whose left neighbour is missing.
    for (const auto& attribute : keys.sort) {
      if (term_on(condition, attribute.name) == nullptr) return missed_element(attribute);
    }
    return validation_error("Query key condition not supported");
  }
  if (last == nullptr) return storage::KeyRange::prefix(prefix);
  return sort_range(prefix, *last);
}

storage::KeyRange scan_range(const ReadTarget& target, std::uint32_t segment, std::uint32_t total_segments) {
  return segment_range(target.table->id, target.id(), segment, total_segments);
}

Result<KeyBytes> start_key(const ReadTarget& target, const value::Item& key) {
  static constexpr std::string_view kInvalid = "The provided starting key is invalid";
  std::size_t expected = 0;
  bool fits = true;
  const auto check = [&](const KeyAttribute& attribute) {
    const auto* field = key.find(attribute.name);
    fits = fits && field != nullptr && field->type() == attribute.type;
    ++expected;
  };
  target.table->keys.for_each(check);
  if (target.index != nullptr) {
    target.index->keys.for_each([&](const KeyAttribute& attribute) {
      if (!target.table->keys.contains(attribute.name)) check(attribute);
    });
  }
  if (!fits || key.size() != expected) {
    return validation_error(fmt::format("{}: The provided key element does not match the schema", kInvalid));
  }
  for (const auto& [name, field] : key) {
    if (auto not_empty = check_not_empty(field, {name, field.type()}); !not_empty) {
      return validation_error(fmt::format("{}: {}", kInvalid, not_empty.error().message));
    }
  }
  for (const auto* keys : {&target.table->keys, &target.keys()}) {
    if (auto sized = check_key_sizes(*keys, key); !sized) {
      return validation_error(fmt::format("{}: {}", kInvalid, sized.error().message));
    }
  }
  if (target.index == nullptr) return item_key(*target.table, key);
  auto encoded = index_key(*target.table, *target.index, key);
  if (!encoded) return validation_error(std::string(kInvalid));
  return std::move(*encoded);
}

value::Item last_evaluated_key(const ReadTarget& target, const value::Item& item) {
  value::Item key;
  const auto take = [&](const KeyAttribute& attribute) {
    if (const auto* field = item.find(attribute.name)) key.set(attribute.name, *field);
  };
  target.table->keys.for_each(take);
  if (target.index != nullptr) target.index->keys.for_each(take);
  return key;
}

storage::KeyRange rest_of(const RangeRead& read) {
  storage::KeyRange range = read.range;
  if (read.start_after) {
    if (read.direction == storage::Direction::Forward) {
      range.begin = *read.start_after + '\0';  // the next possible key
    } else {
      range.end = *read.start_after;
    }
  }
  return range;
}

Result<RangePage> read_page(const storage::Snapshot& snapshot, const RangeRead& read, const ItemVisitor& visit) {
  const auto range = rest_of(read);
  RangePage page;
  std::size_t fetched_bytes = 0;
  if (!range.end.empty() && range.begin >= range.end) return page;
  const auto cursor = snapshot.cursor(range, read.direction);
  for (; cursor->valid(); cursor->next()) {
    const auto item = TRY(value::StoredItemView::from(cursor->value()));
    ++page.scanned;
    page.bytes += item.item_size_bytes;
    fetched_bytes += TRY(visit(item));
    const bool at_limit = read.limit && page.scanned >= *read.limit;
    if (at_limit || page.bytes + fetched_bytes >= kMaxPageBytes) {
      page.last_item = TRY(value::StoredItem::from_bytes(Bytes(cursor->value())));
      break;
    }
  }
  TRY(cursor->status());
  return page;
}

}  // namespace stator::engine
