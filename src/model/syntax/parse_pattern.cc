#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

constexpr std::int64_t kMaxPage = 1000;

// --------------------------------------------------------------------------------------------------------------- query

// The key that a pattern queries.
struct QueriedKey : KeyPair {
  std::string what;  // "the table", or the index
};

class QueryParser {
 public:
  QueryParser(PatternSyntax& syntax, const TableDesign& table, Report& report)
      : pattern_(syntax.pattern), uses_(syntax.uses), table_(table), report_(report) {}

  void parse(const YamlNode& node) {
    const auto members = read_members(node, "`query`", report_);
    if (!node.is_map()) return;
    const IndexDesign* index = nullptr;
    for (const auto& item : members) {
      if (item.key.text != "index") continue;
      const auto name = read_text(item, "the index of a query", report_);
      if (!name) return;
      index = table_.find_index(name->text);
      if (index == nullptr) {
        report_.unknown(name->position, "unknown-index", fmt::format("the table has no index {}", name->text),
                        name->text, names_of(table_.indexes));
        return;
      }
      pattern_.index = index;
    }
    const QueriedKey key{table_.key_of(index), index != nullptr ? index->name : "the table"};
    check_names(members, key);
    for (const auto& attribute : key.partition) parse_partition(node, attribute, key);
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

  void check_names(std::span<const YamlNode> members, const QueriedKey& key) {
    auto known = names_of(key.partition);
    for (const auto& attribute : key.sort) known.push_back(attribute.name);
    for (const auto& item : members) {
      if (item.key.text == "index" || std::find(known.begin(), known.end(), item.key.text) != known.end()) continue;
      report_.unknown(
          item.key.position, "unknown-key",
          fmt::format("{} is not in the key of {}, which is {}", item.key.text, key.what, spelled_out(known)),
          item.key.text, known);
    }
  }

  std::optional<Template> operand(const YamlNode& node, ParameterUse::Where where) {
    auto parsed = read_template(node, report_);
    if (!parsed) return std::nullopt;
    for (const auto& name : parsed->value.attributes()) {
      const auto position = place_in_template(parsed->source, name);
      if (name.find('.') != std::string::npos) {
        report_.error(position, "bad-template", fmt::format("a parameter has no parts: {} cannot be one", name));
      } else if (name != "me" && name != "now") {
        uses_.push_back({.name = name, .position = position, .where = where});
      }
    }
    return std::move(parsed->value);
  }

  void parse_partition(const YamlNode& node, const KeyDesign& attribute, const QueriedKey& key) {
    const YamlNode* value = find(node, attribute.name);
    if (value == nullptr) {
      report_.error(node.position, "missing-key",
                    fmt::format("a query of {} needs {}, which is in its partition key", key.what, attribute.name),
                    fmt::format("{}: \"...\"", attribute.name));
      return;
    }
    if (is_condition(*value)) {
      report_.error(
          value->position, "partition-range",
          fmt::format("{} is in the partition key, which is one value: a template and no range", attribute.name));
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

  // Attributes of a sort key are given from the front, and only the last of them may be a range.
  void parse_sort(const YamlNode& node, const QueriedKey& key) {
    const KeyDesign* gap = nullptr;
    for (const auto& attribute : key.sort) {
      const YamlNode* value = find(node, attribute.name);
      if (value == nullptr) {
        gap = gap == nullptr ? &attribute : gap;
        continue;
      }
      if (gap != nullptr)
        report_.error(value->key.position, "missing-key",
                      fmt::format("{} comes after {} in the sort key, which is not given", attribute.name, gap->name));
      else if (!pattern_.sort.empty() && pattern_.sort.back().comparison != Comparison::Equal)
        report_.error(value->key.position, "missing-key",
                      fmt::format("{} comes after {}, which is a range; only the last can be one", attribute.name,
                                  pattern_.sort.back().attribute));
      parse_condition(*value, attribute.name);
    }
  }

  void parse_condition(const YamlNode& node, const std::string& attribute) {
    KeyCondition condition{.attribute = attribute,
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

  void parse_comparison(const YamlNode& node, KeyCondition& condition) {
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
        report_.error(node.position, "missing-word", "from and before belong together",
                      from == nullptr ? "less: \"...\"" : "at_least: \"...\"");
      } else {
        add(*from);
        add(*before);
      }
    }
    words.done();
    if (given > 1)
      report_.error(node.position, "contradiction", "a sort key has one condition; between says two at once");
    const std::size_t expected = condition.comparison == Comparison::Between ? 2 : 1;
    if (given != 1 || condition.operands.size() != expected) condition.operands.clear();
  }

  Pattern& pattern_;
  std::vector<ParameterUse>& uses_;
  const TableDesign& table_;
  Report& report_;
};

// ------------------------------------------------------------------------------------------------------------- returns

NamePairs parse_returns(const YamlNode& node, Report& report) {
  NamePairs returns;
  for (const auto& text : read_texts(node, "what a pattern returns", report)) {
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
    if (as && check_name(*as, "the member that holds what is joined", report)) join.as = as->text;
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

void parse_page(const YamlNode& node, Pattern& pattern, Report& report) {
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
  if (pattern.default_limit > pattern.max_limit)
    report.error(usual->position, "contradiction",
                 fmt::format("a page of {} is larger than the largest, {}", pattern.default_limit, pattern.max_limit));
}

void parse_filter(const YamlNode& node, PatternSyntax& pattern, Report& report) {
  auto expression = read_expression(node, report);
  if (!expression) return;
  visit_names(*expression, [&](const Expression::Node& read, Position position) {
    if (read.op == Expression::Node::Op::Input && read.name != "me" && read.name != "now")
      pattern.uses.push_back({.name = read.name, .position = position, .where = ParameterUse::Where::Elsewhere});
  });
  visit_generators(*expression, [&](Function generator, Position position) {
    const bool is_time = generator == Function::Now;
    report.error(position, "wrong-function",
                 fmt::format("{}() is for the steps of actions{}", name_of(generator),
                             is_time ? "; in a filter, :now is the time" : ""),
                 is_time ? ":now" : "");
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
      if (auto parameter = parse_plain_attribute(item, "a parameter", report))
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
  if (const YamlNode* page = words.find("page")) parse_page(*page, pattern, report);
  words.done();
  syntax.patterns.push_back(std::move(written));
}

}  // namespace stator::model
