#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

constexpr std::int64_t kMaxPage = 1000;

// --------------------------------------------------------------------------------------------------------------- query

class QueryParser {
 public:
  QueryParser(PatternSyntax& syntax, const TableDesign& table, Report& report)
      : written_(syntax), pattern_(syntax.pattern), table_(table), report_(report) {}

  void parse(const YamlNode& node) {
    const auto members = read_members(node, "`query`", report_);
    if (!node.is_map()) return;
    const IndexDesign* index = nullptr;
    for (const auto& item : members) {
      if (item.key.text != "index") continue;
      written_.index = read_text(item, "the index of a query", report_);
      if (!written_.index) return;
      index = table_.find_index(written_.index->text);
      if (index == nullptr) return;  // resolve() reports it
    }
    written_.query = node.position;
    for (const auto& item : members) {
      if (item.key.text != "index") written_.key_attributes.push_back(item.key);
    }
    const auto key = table_.key_of(index);
    for (const auto& attribute : key.partition) parse_partition(node, attribute);
    parse_sort(node, key);
  }

 private:
  static const YamlNode* find(const YamlNode& node, std::string_view word) {
    const auto found =
        std::find_if(node.items.begin(), node.items.end(), [&](const YamlNode& item) { return item.key.text == word; });
    return found == node.items.end() ? nullptr : &*found;
  }

  // A map is a condition; one with nothing in it but a name is a template whose quotes were forgotten.
  static bool is_condition(const YamlNode& node) {
    return node.is_map() && !node.items.empty() && node.items.front().kind != YamlNode::Kind::Nothing;
  }

  std::optional<Template> operand(const YamlNode& node, ParameterUse::Where where) {
    auto parsed = read_template(node, report_);
    if (!parsed) return std::nullopt;
    for (const auto& name : parsed->value.attributes()) {
      const auto position = place_in_template(parsed->source, name);
      if (name.find('.') != std::string::npos) {
        report_.error(position, "bad-template", fmt::format("a parameter has no parts: {} cannot be one", name));
      } else if (name != "me" && name != "now") {
        written_.uses.push_back({.name = name, .position = position, .where = where});
      }
    }
    return std::move(parsed->value);
  }

  void parse_partition(const YamlNode& node, const KeyDesign& attribute) {
    const YamlNode* value = find(node, attribute.name);
    if (value == nullptr) return;
    written_.partition.push_back(value->key);
    if (is_condition(*value)) {
      written_.ranges.push_back({.text = attribute.name, .position = value->position, .lead = 0});
      return;
    }
    if (auto text = operand(*value, ParameterUse::Where::Partition))
      pattern_.partition.push_back({.attribute = attribute.name,
                                    .comparison = Comparison::Equal,
                                    .operands = {std::move(*text)},
                                    .half_open = false,
                                    .ending = {},
                                    .position = value->position});
  }

  void parse_sort(const YamlNode& node, const KeyPair& key) {
    for (const auto& attribute : key.sort) {
      const YamlNode* value = find(node, attribute.name);
      if (value == nullptr) continue;
      written_.sort.push_back(value->key);
      parse_condition(*value, attribute.name);
    }
  }

  void parse_condition(const YamlNode& node, const std::string& attribute) {
    PatternCondition condition{.attribute = attribute,
                               .comparison = Comparison::Equal,
                               .operands = {},
                               .half_open = false,
                               .ending = {},
                               .position = node.position};
    if (!is_condition(node)) {
      if (auto text = operand(node, ParameterUse::Where::Elsewhere)) condition.operands.push_back(std::move(*text));
    } else {
      parse_comparison(node, condition);
    }
    if (!condition.operands.empty()) pattern_.sort.push_back(std::move(condition));
  }

  void parse_comparison(const YamlNode& node, PatternCondition& condition) {
    Words words(node, "a key condition", report_);
    const auto add = [&](const YamlNode& value) {
      if (auto text = operand(value, ParameterUse::Where::Elsewhere)) condition.operands.push_back(std::move(*text));
    };
    std::size_t given = 0;
    for (const auto& [word, comparison] : {
             std::pair("begins_with", Comparison::BeginsWith),
             std::pair("less", Comparison::Less),
             std::pair("at_most", Comparison::LessOrEqual),
             std::pair("greater", Comparison::Greater),
             std::pair("at_least", Comparison::GreaterOrEqual),
         }) {
      if (const YamlNode* value = words.find(word)) {
        ++given;
        condition.comparison = comparison;
        add(*value);
      }
    }
    if (const YamlNode* between = words.find("between")) {
      ++given;
      condition.comparison = Comparison::Between;
      if (!between->is_list() || between->items.size() != 2) {
        report_.error(between->position, "wrong-type", "between is a list of two templates, both included");
      } else {
        for (const auto& bound : between->items) add(bound);
      }
    }
    const YamlNode* from = words.find("from");
    const YamlNode* before = words.find("before");
    if (from != nullptr || before != nullptr) {
      ++given;
      condition.comparison = Comparison::Between;
      condition.half_open = true;
      if (from == nullptr || before == nullptr) {
        written_.lone_bounds.push_back({.condition = node.position, .given = from == nullptr ? "before" : "from"});
      } else {
        add(*from);
        add(*before);
      }
    }
    words.done();
    if (given > 1) written_.overloaded.push_back(node.position);
    const std::size_t expected = condition.comparison == Comparison::Between ? 2 : 1;
    if (given != 1 || condition.operands.size() != expected) condition.operands.clear();
  }

  PatternSyntax& written_;
  Pattern& pattern_;
  const TableDesign& table_;
  Report& report_;
};

// ------------------------------------------------------------------------------------------------------------- returns

NamePairs parse_returns(const YamlNode& node, Report& report) {
  NamePairs returns;
  for (const auto& text : read_texts(node, "a pattern's `returns`", report)) {
    if (text.text.find('.') == std::string::npos) {
      returns.emplace_back(text, Text());
    } else if (auto halves = split_at_dot(text, "ENTITY.record", report)) {
      returns.push_back(std::move(*halves));
    }
  }
  return returns;
}

void parse_nest(const YamlNode& node, PatternSyntax& pattern, Report& report) {
  Words words(node, "nest", report);
  NestSyntax names;
  Nest nest;
  const auto take = [&](std::string_view word, std::optional<Text>& name) {
    if (const YamlNode* value = words.need(word)) name = read_text(*value, word, report);
    return name ? name->text : std::string();
  };
  take("parent", names.parent);
  if (const YamlNode* children = words.need("children")) names.children = read_texts(*children, "children", report);
  nest.relation = take("relation", names.relation);
  nest.as = take("as", names.as);
  words.done();
  if (names.as) check_name(*names.as, "the member that holds the children", report);
  pattern.nest = std::move(names);
  pattern.pattern.nest = std::move(nest);
}

void parse_join(const YamlNode& node, PatternSyntax& pattern, Report& report) {
  Words words(node, "a join", report);
  JoinSyntax names;
  Join join;
  if (const YamlNode* value = words.need("relation")) names.relation = read_text(*value, "a relation", report);
  if (names.relation) join.relation = join.as = names.relation->text;
  if (const YamlNode* value = words.find("as")) {
    const auto as = read_text(*value, "as", report);
    if (as && check_name(*as, "the member that holds the joined row", report)) join.as = as->text;
  }
  if (const YamlNode* list = words.find("attributes")) names.attributes = read_texts(*list, "an attribute", report);
  for (const auto& attribute : names.attributes) join.attributes.push_back(attribute.text);
  words.done();
  pattern.joins.push_back(std::move(names));
  pattern.pattern.joins.push_back(std::move(join));
}

void parse_order(const YamlNode& node, Pattern& pattern, Report& report) {
  constexpr std::array kOrders{Choice<Order>("ascending", Order::Ascending),
                               Choice<Order>("descending", Order::Descending)};
  if (!node.is_map()) {
    if (const auto order = read_choice(node, "order, unless it is { asked: ... },", kOrders, report))
      pattern.order = *order;
    return;
  }
  Words words(node, "order", report);
  pattern.order = Order::Asked;
  if (const YamlNode* asked = words.need("asked"))
    pattern.default_order = read_choice(*asked, "asked", kOrders, report).value_or(Order::Ascending);
  words.done();
}

void parse_page(const YamlNode& node, PatternSyntax& written, Report& report) {
  Pattern& pattern = written.pattern;
  Words words(node, "page", report);
  const YamlNode* usual = words.find("default");
  const auto take = [&](const YamlNode* value, std::string_view what, unsigned& member) {
    if (value == nullptr) return;
    if (const auto size = read_integer(*value, what, {.min = 1, .max = kMaxPage}, report))
      member = static_cast<unsigned>(*size);
  };
  take(words.find("max"), "the largest page", pattern.max_limit);
  if (usual == nullptr) pattern.default_limit = std::min(pattern.default_limit, pattern.max_limit);
  take(usual, "the page's default", pattern.default_limit);
  words.done();
  if (usual != nullptr) written.page = usual->position;
}

void parse_filter(const YamlNode& node, PatternSyntax& pattern, Report& report) {
  auto expression = read_expression(node, report);
  if (!expression) return;
  visit_names(*expression, [&](const Expression::Node& read, Position position) {
    if (read.op == Expression::Node::Op::Input && read.name != "me" && read.name != "now")
      pattern.uses.push_back({.name = read.name, .position = position, .where = ParameterUse::Where::Elsewhere});
  });
  pattern.pattern.filter = expression->value;
  pattern.row_conditions.push_back(std::move(*expression));
}

}  // namespace

void parse_pattern(const YamlNode& node, Syntax& syntax, Report& report) {
  if (!check_name(node.key, "the name of a pattern", report, Dashes::Yes)) return;
  PatternSyntax written;
  Pattern& pattern = written.pattern;
  pattern.name = node.key.text;
  pattern.position = node.key.position;
  Words words(node, "a pattern", report);
  pattern.description = parse_description(words, report);
  if (const YamlNode* get = words.find("get")) {
    if (const auto route = parse_route(*get, QueryString::Allowed, report)) {
      pattern.path = route->text.text;
      for (const auto& parameter : route->parameters)
        written.uses.push_back({.name = parameter,
                                .position = place_in_template(route->text, parameter),
                                .where = ParameterUse::Where::Route});
    }
  }
  if (const YamlNode* query = words.need("query")) QueryParser(written, syntax.table.design, report).parse(*query);
  if (const YamlNode* returns = words.need("returns")) written.returns = parse_returns(*returns, report);
  if (const YamlNode* order = words.find("order")) parse_order(*order, pattern, report);
  if (const YamlNode* sorted_by = words.find("sorted_by")) {
    written.sorted_by = read_texts(*sorted_by, "an attribute", report);
    for (const auto& attribute : written.sorted_by) pattern.sorted_by.push_back(attribute.text);
  }
  if (const YamlNode* filter = words.find("filter")) parse_filter(*filter, written, report);
  if (const YamlNode* parameters = words.find("parameters")) {
    for (const auto& item : read_members(*parameters, "`parameters`", report)) {
      if (auto parameter = parse_plain_attribute(item, "a parameter", syntax, report))
        pattern.parameters.push_back(std::move(*parameter));
    }
  }
  if (const YamlNode* nest = words.find("nest")) parse_nest(*nest, written, report);
  if (const YamlNode* joins = words.find("join")) {
    for (const auto& join : read_list(*joins)) parse_join(join, written, report);
  }
  if (const YamlNode* entity = words.find("within")) written.within = read_text(*entity, "within", report);
  if (const YamlNode* access = words.find("access")) {
    auto list = parse_access(*access, report);
    written.has_access = true;
    pattern.access = std::move(list.access);
    written.grants = std::move(list.grants);
    if (list.anyone_when) written.row_conditions.push_back(std::move(*list.anyone_when));
  }
  if (const YamlNode* single = words.find("single"))
    pattern.single = read_boolean(*single, "single", report).value_or(false);
  if (const YamlNode* consistent = words.find("consistent")) {
    pattern.consistent = read_boolean(*consistent, "consistent", report).value_or(false);
    written.consistent = consistent->key.position;
  }
  if (const YamlNode* page = words.find("page")) parse_page(*page, written, report);
  words.done();
  syntax.patterns.push_back(std::move(written));
}

}  // namespace stator::model
