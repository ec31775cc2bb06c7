#include "stator/runtime/read/pattern_requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/expr/build.h"
#include "stator/model/expression/expression_condition.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

using model::Comparison;
using model::KeyDesign;
using model::PatternCondition;
using value::AttributeValue;
using value::Item;

value::Type type_of(const std::vector<KeyDesign>& keys, const std::string& name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const KeyDesign& key) { return key.name == name; });
  return found == keys.end() ? value::Type::S : found->type;
}

Result<AttributeValue, Problem> key_value(std::string text, value::Type type) {
  if (type == value::Type::N) return AttributeValue(TRY(checked(value::Number::parse(text))));
  if (type == value::Type::B) return AttributeValue::binary(text);
  return AttributeValue(std::move(text));
}

// Of one type.
bool is_greater(const AttributeValue& a, const AttributeValue& b) {
  if (a.as_number() != nullptr) return *a.as_number() > *b.as_number();
  if (a.as_string() != nullptr) return *a.as_string() > *b.as_string();
  return *a.as_binary() > *b.as_binary();
}

// A range whose bounds are in the wrong order.  DynamoDB refuses it as well, in words that no caller has used.
Problem wrong_way_round(const PatternCondition& range, const model::Pattern& pattern) {
  const auto low = range.operands[0].attributes(), high = range.operands[1].attributes();
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<model::ValueProblem> details;
  for (const auto& parameter : pattern.parameters) {
    const auto& name = parameter.name;
    if (is_in(low, name) == is_in(high, name)) continue;  // of neither bound, or of both
    details.push_back(
        {name, is_in(low, name) ? "is behind the end of the range" : "is before the beginning of the range"});
  }
  return invalid("the range ends before it begins", std::move(details));
}

// Writes the key condition of one request.
class ConditionWriter {
 public:
  ConditionWriter(const model::Pattern& pattern, const Item& values, unsigned shard)
      : pattern_(pattern),
        lookup_([&values](std::string_view name) { return model::find_path(values, name); }),
        shard_(shard) {}

  Result<void, Problem> add(const PatternCondition& condition, value::Type type) {
    type_ = type;
    const auto& operands = condition.operands;
    if (condition.comparison == Comparison::Between) {
      const auto low = TRY(value_of(operands[0]));
      const auto high = TRY(value_of(operands[1], condition.ending));
      if (low && high) {
        if (is_greater(*low, *high)) return wrong_way_round(condition, pattern_);
        term(condition, Op::Between, *low, *high);
        if (condition.half_open) excluded_ = *high;
      } else if (low) {
        term(condition, Op::GreaterEqual, *low);
      } else if (high) {
        term(condition, condition.half_open ? Op::Less : Op::LessEqual, *high);
      }
      return {};
    }
    if (condition.comparison == Comparison::BeginsWith) {
      const auto prefix = TRY(checked(operands[0].render_prefix(lookup_, shard_)));
      if (!prefix.text.empty()) {
        term(condition, Op::BeginsWith, TRY(key_value(prefix.text, type)));
      }
      return {};
    }
    const auto operand = TRY(value_of(operands[0], condition.ending));
    if (operand) term(condition, op_of(condition.comparison), *operand);
    return {};
  }

  // Whether the last condition is there; a bound without a value is not.
  std::size_t terms() const { return condition_.terms.size(); }
  const std::optional<AttributeValue>& excluded() const { return excluded_; }
  expr::KeyCondition take() { return std::move(condition_); }

 private:
  using Op = expr::KeyTerm::Op;

  static Op op_of(Comparison comparison) {
    switch (comparison) {
      case Comparison::Less: return Op::Less;
      case Comparison::LessOrEqual: return Op::LessEqual;
      case Comparison::Greater: return Op::Greater;
      case Comparison::GreaterOrEqual: return Op::GreaterEqual;
      default: return Op::Equal;
    }
  }

  Result<std::optional<AttributeValue>, Problem> value_of(const model::Template& text, std::string_view ending = {}) {
    auto rendered = TRY(checked(text.render(lookup_, shard_)));
    if (!rendered) return std::optional<AttributeValue>();
    return std::optional(TRY(key_value(rendered->append(ending), type_)));
  }
  void term(const PatternCondition& condition, Op op, AttributeValue low, AttributeValue high = {}) {
    condition_.terms.push_back(
        {.attribute = condition.attribute, .op = op, .low = std::move(low), .high = std::move(high)});
  }

  const model::Pattern& pattern_;
  model::Template::Lookup lookup_;
  unsigned shard_;
  value::Type type_ = value::Type::S;
  expr::KeyCondition condition_;
  std::optional<AttributeValue> excluded_;
};

// DynamoDB filters by what is no key.
bool can_filter(const model::Expression& filter, const model::KeyPair& keys) {
  const auto paths = filter.paths();
  const auto is_key = [&](const std::string& path) {
    const auto named = [&](const KeyDesign& key) { return key.name == path; };
    return std::any_of(keys.partition.begin(), keys.partition.end(), named) ||
           std::any_of(keys.sort.begin(), keys.sort.end(), named);
  };
  return filter.is_dynamodb() && std::none_of(paths.begin(), paths.end(), is_key);
}

// The filter with the inputs filled in; none when it is always true.
Result<std::optional<expr::Condition>, Problem> bind_filter(const model::Expression& filter, const Item& values) {
  const model::Expression::Scope scope{
      .attribute = {}, .input = [&](std::string_view name) { return values.find(name); }, .generate = {}};
  auto bound = TRY(checked(model::bind_condition(filter, scope)));
  if (auto* condition = std::get_if<expr::Condition>(&bound)) return std::optional(std::move(*condition));
  if (std::get<bool>(bound)) return std::optional<expr::Condition>();
  return std::optional(expr::to_condition(expr::all_of({expr::exists("never"), expr::absent("never")})));
}

}  // namespace

Result<PatternRequests, Problem> query_of(const model::Model& model, const model::Pattern& pattern, const Item& values,
                                          bool ascending) {
  const auto& table = model.table;
  const auto keys = table.key_of(pattern.index);
  PatternRequests query;
  std::optional<expr::Condition> filter;
  if (pattern.filter && can_filter(*pattern.filter, keys)) {
    filter = TRY(bind_filter(*pattern.filter, values));
    query.filtered = true;
  }
  for (unsigned shard = 0; shard < pattern.shards(); ++shard) {
    ConditionWriter writer(pattern, values, shard);
    for (const auto& condition : pattern.partition) {
      const auto before = writer.terms();
      TRY(writer.add(condition, type_of(keys.partition, condition.attribute)));
      if (writer.terms() == before) return invalid("a value that this list needs is missing");
    }
    for (const auto& condition : pattern.sort) {
      TRY(writer.add(condition, type_of(keys.sort, condition.attribute)));
    }
    query.excluded = writer.excluded();
    QueryRequest request;
    request.page.table = table.name;
    if (pattern.index != nullptr) request.page.index = pattern.index->name;
    request.page.filter = filter;
    request.page.consistent = pattern.consistent;
    request.condition = writer.take();
    request.ascending = ascending;
    query.requests.push_back(std::move(request));
  }
  return query;
}

}  // namespace stator::runtime
