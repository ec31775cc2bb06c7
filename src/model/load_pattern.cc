#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "stator/model/loading.h"

namespace stator::model {
namespace {

constexpr std::int64_t kMaxPage = 1000;
// What every list takes beside its own parameters.
constexpr std::array<std::string_view, 2> kPageParameters{"limit", "nextToken"};

// A name in a route, key or filter, and where it stands.
struct Use {
  enum class Where : std::uint8_t { Route, Partition, Elsewhere };

  std::string name;
  Position position;
  Where where = Where::Elsewhere;
};

// ------------------------------------------------------------------------------------------------------------------- query

// The key that a pattern queries.
struct QueriedKey {
  std::string what;  // "the table", or the index
  std::vector<KeyDesign> partition;
  std::vector<KeyDesign> sort;
};

QueriedKey key_of(const TableDesign& table, const IndexDesign* index) {
  if (index != nullptr) return {.what = index->name, .partition = index->partition, .sort = index->sort};
  QueriedKey key{.what = "the table", .partition = {table.partition}, .sort = {}};
  if (table.sort) key.sort.push_back(*table.sort);
  return key;
}

class QueryLoader {
 public:
  QueryLoader(Pattern& pattern, std::vector<Use>& uses, Loading& loading)
      : pattern_(pattern), uses_(uses), loading_(loading), report_(loading.report) {}

  void load(const YamlNode& node) {
    const auto members = read_members(node, "`query`", report_);
    if (!node.is_map()) return;
    const IndexDesign* index = nullptr;
    for (const auto& item : members) {
      if (item.key.text != "index") continue;
      const auto name = read_text(item, "the index of a query", report_);
      if (!name) return;
      index = loading_.model.table.find_index(name->text);
      if (index == nullptr) {
        report_.unknown(name->position, "unknown-index", fmt::format("the table has no index {}", name->text),
                        name->text, names_of(loading_.model.table.indexes));
        return;
      }
      pattern_.index = name->text;
    }
    const auto key = key_of(loading_.model.table, index);
    check_names(members, key);
    for (const auto& attribute : key.partition) load_partition(node, attribute, key);
    load_sort(node, key);
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

  std::optional<Template> operand(const YamlNode& node, Use::Where where) {
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

  void load_partition(const YamlNode& node, const KeyDesign& attribute, const QueriedKey& key) {
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
    if (auto text = operand(*value, Use::Where::Partition))
      pattern_.partition.push_back({.attribute = attribute.name,
                                    .comparison = Comparison::Equal,
                                    .operands = {std::move(*text)},
                                    .half_open = false,
                                    .ending = {},
                                    .position = value->position});
  }

  // Attributes of a sort key are given from the front, and only the last of them may be a range.
  void load_sort(const YamlNode& node, const QueriedKey& key) {
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
      load_condition(*value, attribute.name);
    }
  }

  void load_condition(const YamlNode& node, const std::string& attribute) {
    KeyCondition condition{.attribute = attribute,
                           .comparison = Comparison::Equal,
                           .operands = {},
                           .half_open = false,
                           .ending = {},
                           .position = node.position};
    if (!is_condition(node)) {
      if (auto text = operand(node, Use::Where::Elsewhere)) condition.operands.push_back(std::move(*text));
    } else {
      load_comparison(node, condition);
    }
    if (!condition.operands.empty()) pattern_.sort.push_back(std::move(condition));
  }

  void load_comparison(const YamlNode& node, KeyCondition& condition) {
    Words words(node, "a key condition", report_);
    const auto add = [&](const YamlNode& value) {
      if (auto text = operand(value, Use::Where::Elsewhere)) condition.operands.push_back(std::move(*text));
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
  std::vector<Use>& uses_;
  Loading& loading_;
  Report& report_;
};

// ----------------------------------------------------------------------------------------------------------------- returns

void resolve_returns(const std::string& pattern_name, const std::vector<std::pair<Text, Text>>& returns,
                     Loading& loading) {
  Pattern& pattern = loading.pattern(pattern_name);
  for (const auto& [entity_name, record_name] : returns) {
    const Entity* entity = loading.need_entity(entity_name);
    if (entity == nullptr) continue;
    const Record* record = record_name.text.empty() ? &entity->main() : entity->find_record(record_name.text);
    if (record == nullptr) {
      loading.report.unknown(record_name.position, "unknown-record",
                             fmt::format("{} has no record {}", entity->name, record_name.text), record_name.text,
                             names_of(entity->records));
      continue;
    }
    const bool is_repeated = std::any_of(pattern.returns.begin(), pattern.returns.end(), [&](const Returned& earlier) {
      return earlier.entity == entity->name && earlier.record == record->name;
    });
    if (is_repeated)
      loading.report.error(entity_name.position, "repeated-word", fmt::format("{} is returned twice", entity->name));
    pattern.returns.push_back({.entity = entity->name, .record = record->name, .position = entity_name.position});
  }
}

void load_returns(const YamlNode& node, const std::string& pattern, Loading& loading) {
  std::vector<std::pair<Text, Text>> returns;
  for (const auto& text : read_texts(node, "what a pattern returns", loading.report)) {
    if (text.text.find('.') == std::string::npos) {
      returns.emplace_back(text, Text());
    } else if (auto halves = split_at_dot(text, "ENTITY.record", loading.report)) {
      returns.push_back(std::move(*halves));
    }
  }
  loading.later([pattern, returns, &loading] { resolve_returns(pattern, returns, loading); });
}

// The returned entities that the model knows, each once.
std::vector<const Entity*> returned_entities(const Pattern& pattern, const Model& model) {
  std::vector<const Entity*> entities;
  for (const auto& returned : pattern.returns) {
    const Entity* entity = model.find_entity(returned.entity);
    if (std::find(entities.begin(), entities.end(), entity) == entities.end()) entities.push_back(entity);
  }
  return entities;
}

// Whether one of the rows that a pattern returns has the attribute in it.
bool returns_attribute(const Pattern& pattern, const std::string& name, const Model& model) {
  return std::any_of(pattern.returns.begin(), pattern.returns.end(), [&](const Returned& returned) {
    const Entity& entity = *model.find_entity(returned.entity);
    const auto& held = entity.find_record(returned.record)->attributes;
    const Attribute* attribute = entity.find_attribute(name);
    return attribute != nullptr && is_stored(*attribute) &&
           (held.empty() || std::find(held.begin(), held.end(), name) != held.end());
  });
}

// An expression over returned rows reads attributes that one of the entities has, and one of the rows.
void check_row_names(const std::string& name, const Written<Expression>& expression, Loading& loading) {
  const auto entities = returned_entities(loading.pattern(name), loading.model);
  if (entities.empty()) return;
  visit_names(expression, [&](const Expression::Node& node, Position position) {
    if (node.op != Expression::Node::Op::Path || node.name == loading.model.table.type_attribute) return;
    const auto has = [&](const Entity* entity) { return entity->find_attribute(node.name) != nullptr; };
    const auto found = std::find_if(entities.begin(), entities.end(), has);
    if (found != entities.end()) {
      loading.need_path(**found, node.name, node.steps, position);
      if (!returns_attribute(loading.pattern(name), node.name, loading.model))
        loading.report.error(
            position, "not-stored",
            fmt::format("no row that {} returns holds {}, so none can be chosen by it", name, node.name));
      return;
    }
    std::vector<std::string_view> known;
    for (const Entity* entity : entities) {
      for (const auto& attribute : entity->attributes) known.push_back(attribute.name);
    }
    loading.report.unknown(position, "unknown-attribute",
                           fmt::format("no entity that {} returns has an attribute {}", name, node.name), node.name,
                           known);
  });
}

// -------------------------------------------------------------------------------------------------------- nesting and joins

struct NestNames {
  std::optional<Text> parent, relation, as;
  std::vector<Text> children;
};

void resolve_nest(const std::string& pattern_name, const NestNames& names, Loading& loading) {
  Report& report = loading.report;
  const Pattern& pattern = loading.pattern(pattern_name);
  const auto need_returned = [&](const Text& name) -> const Entity* {
    const Entity* entity = loading.need_entity(name);
    const bool is_returned = std::any_of(pattern.returns.begin(), pattern.returns.end(),
                                         [&](const Returned& returned) { return returned.entity == name.text; });
    if (entity != nullptr && !is_returned)
      report.error(name.position, "not-returned",
                   fmt::format("{} does not return {}, so it cannot nest it", pattern_name, name.text));
    return entity;
  };
  const Entity* parent = names.parent ? need_returned(*names.parent) : nullptr;
  if (parent != nullptr && names.as && parent->find_attribute(names.as->text) != nullptr)
    report.error(names.as->position, "contradiction",
                 fmt::format("{} has an attribute {} already", parent->name, names.as->text));
  for (const auto& child_name : names.children) {
    const Entity* child = need_returned(child_name);
    if (child == nullptr || parent == nullptr || !names.relation) continue;
    const Parent* relation = child->find_parent(names.relation->text);
    if (relation == nullptr) {
      report.unknown(names.relation->position, "unknown-relation",
                     fmt::format("{} has no parent called {}", child->name, names.relation->text), names.relation->text,
                     names_of(child->parents));
    } else if (relation->entity != parent->name) {
      report.error(
          names.relation->position, "wrong-relation",
          fmt::format("{}.{} leads to {}, not to {}", child->name, relation->name, relation->entity, parent->name));
    }
  }
}

void load_nest(const YamlNode& node, Pattern& pattern, Loading& loading) {
  Report& report = loading.report;
  Words words(node, "nest", report);
  NestNames names;
  Nest nest;
  const auto take = [&](std::string_view word, std::optional<Text>& name, std::string& member) {
    if (const YamlNode* value = words.need(word)) name = read_text(*value, word, report);
    if (name) member = name->text;
  };
  take("parent", names.parent, nest.parent);
  if (const YamlNode* children = words.need("children")) names.children = read_texts(*children, "children", report);
  for (const auto& child : names.children) nest.children.push_back(child.text);
  take("relation", names.relation, nest.relation);
  take("as", names.as, nest.as);
  words.done();
  if (names.as) check_name(*names.as, "the member that holds the children", report);
  loading.later([pattern = pattern.name, names, &loading] { resolve_nest(pattern, names, loading); });
  pattern.nest = std::move(nest);
}

void resolve_join(const std::string& pattern_name, const Text& relation, const std::vector<Text>& attributes,
                  Loading& loading) {
  const auto entities = returned_entities(loading.pattern(pattern_name), loading.model);
  std::vector<std::string_view> known;
  bool is_found = false;
  for (const Entity* entity : entities) {
    for (const auto& parent : entity->parents) known.push_back(parent.name);
    const Parent* parent = entity->find_parent(relation.text);
    if (parent == nullptr) continue;
    is_found = true;
    const Entity* joined = loading.model.find_entity(parent->entity);
    if (joined == nullptr) continue;
    for (const auto& attribute : attributes) loading.need_attribute(*joined, attribute);
  }
  if (!is_found && !entities.empty())
    loading.report.unknown(relation.position, "unknown-relation",
                           fmt::format("no entity that {} returns has a parent called {}", pattern_name, relation.text),
                           relation.text, known);
}

void load_join(const YamlNode& node, Pattern& pattern, Loading& loading) {
  Report& report = loading.report;
  Words words(node, "a join", report);
  std::optional<Text> relation;
  if (const YamlNode* value = words.need("relation")) relation = read_text(*value, "a relation", report);
  Join join;
  if (relation) join.relation = join.as = relation->text;
  if (const YamlNode* value = words.find("as")) {
    const auto as = read_text(*value, "as", report);
    if (as && check_name(*as, "the member that holds what is joined", report)) join.as = as->text;
  }
  std::vector<Text> attributes;
  if (const YamlNode* list = words.find("attributes")) attributes = read_texts(*list, "an attribute", report);
  for (const auto& attribute : attributes) join.attributes.push_back(attribute.text);
  words.done();
  if (relation)
    loading.later([pattern = pattern.name, relation = *relation, attributes, &loading] {
      resolve_join(pattern, relation, attributes, loading);
    });
  pattern.joins.push_back(std::move(join));
}

// -------------------------------------------------------------------------------------------------------------- parameters

// Whether a name is known from the entity that a pattern works within, once that has been found by the rest of its key.
bool is_given_by(const Entity& within, const std::string& name, const TableDesign& table) {
  const auto identity = within.identity(table);
  const Attribute* attribute = within.find_attribute(name);
  const bool finds_it = name != within.owner && std::find(identity.begin(), identity.end(), name) != identity.end();
  // What a part of the key is derived from finds it as well.
  return attribute != nullptr && (!finds_it || attribute->derived);
}

// Completes the parameters with those that are attributes of what is returned, and reports names that nothing explains.
void infer_parameters(const std::string& pattern_name, const std::vector<Use>& uses, Loading& loading) {
  Report& report = loading.report;
  Pattern& pattern = loading.pattern(pattern_name);
  auto entities = returned_entities(pattern, loading.model);
  const Entity* within = pattern.within ? loading.model.find_entity(*pattern.within) : nullptr;
  if (within != nullptr) entities.push_back(within);
  const auto find = [&](std::string_view name) {
    return std::find_if(pattern.parameters.begin(), pattern.parameters.end(),
                        [&](const Attribute& parameter) { return parameter.name == name; });
  };
  for (const auto& parameter : pattern.parameters) {
    const bool is_used =
        std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.name == parameter.name; });
    if (!is_used)
      report.error(parameter.position, "unused-parameter",
                   fmt::format("{} is in no route, key or filter of {}", parameter.name, pattern_name));
  }
  for (const auto& use : uses) {
    const auto known = find(use.name);
    if (known != pattern.parameters.end()) {
      const bool is_needed = use.where != Use::Where::Elsewhere;
      known->required = known->required || (is_needed && !known->default_value);
      continue;
    }
    if (within != nullptr && use.where != Use::Where::Route && is_given_by(*within, use.name, loading.model.table))
      continue;
    const Attribute* attribute = nullptr;
    std::vector<std::string_view> names;
    for (const Entity* entity : entities) {
      if (attribute == nullptr) attribute = entity->find_attribute(use.name);
      for (const auto& candidate : entity->attributes) names.push_back(candidate.name);
    }
    if (attribute == nullptr) {
      report.unknown(use.position, "unknown-parameter",
                     fmt::format("nothing says what {} is: no entity that {} returns has such an attribute, and "
                                 "`parameters` does not list it",
                                 use.name, pattern_name),
                     use.name, names);
      continue;
    }
    Attribute parameter;
    parameter.name = attribute->name;
    parameter.description = attribute->description;
    parameter.type = attribute->type;
    parameter.required = true;
    parameter.position = use.position;
    pattern.parameters.push_back(std::move(parameter));
  }
  for (const auto& parameter : pattern.parameters) {
    const bool is_taken =
        std::find(kPageParameters.begin(), kPageParameters.end(), parameter.name) != kPageParameters.end() ||
        (pattern.order == Order::Asked && parameter.name == "order");
    if (is_taken)
      report.error(parameter.position, "reserved-name",
                   fmt::format("{} means something else in the query string of every list", parameter.name));
  }
}

// Without a word of its own, a pattern is for those who may read everything it returns.
void infer_access(const std::string& pattern_name, Loading& loading) {
  Pattern& pattern = loading.pattern(pattern_name);
  const auto entities = returned_entities(pattern, loading.model);
  for (std::size_t i = 0; i < entities.size(); ++i)
    pattern.access = i == 0 ? entities[i]->read : intersection(pattern.access, entities[i]->read);
}

void load_order(const YamlNode& node, Pattern& pattern, Report& report) {
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

void load_page(const YamlNode& node, Pattern& pattern, Report& report) {
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

}  // namespace

void check_within(const Text& entity_name, const std::vector<Attribute>& parameters, Loading& loading) {
  const Entity* entity = loading.need_entity(entity_name);
  if (entity == nullptr) return;
  for (const auto& name : entity->identity(loading.model.table)) {
    if (!gives(names_of(parameters), *entity, name))
      loading.report.error(entity_name.position, "within-unnamed",
                           fmt::format("the key of {} is made from {}, which nothing here gives", entity->name, name),
                           fmt::format("{{{}}}, in the route", name));
  }
}

void load_pattern(const YamlNode& node, Loading& loading) {
  Report& report = loading.report;
  if (!check_name(node.key, "the name of a pattern", report, Dashes::Yes)) return;
  Pattern pattern;
  pattern.name = node.key.text;
  pattern.position = node.key.position;
  const std::string& name = pattern.name;
  Words words(node, "a pattern", report);
  pattern.description = load_description(words, report);
  std::vector<Use> uses;
  if (const YamlNode* get = words.find("get")) {
    if (const auto route = load_route(*get, QueryString::Allowed, loading)) {
      pattern.path = route->text.text;
      for (const auto& parameter : route->parameters)
        uses.push_back(
            {.name = parameter, .position = place_in_template(route->text, parameter), .where = Use::Where::Route});
    }
  }
  if (const YamlNode* query = words.need("query")) QueryLoader(pattern, uses, loading).load(*query);
  if (const YamlNode* returns = words.need("returns")) load_returns(*returns, name, loading);
  if (const YamlNode* order = words.find("order")) load_order(*order, pattern, report);
  if (const YamlNode* sorted_by = words.find("sorted_by")) {
    const auto attributes = read_texts(*sorted_by, "an attribute", report);
    for (const auto& attribute : attributes) pattern.sorted_by.push_back(attribute.text);
    loading.later([name, attributes, &loading] {
      for (const Entity* entity : returned_entities(loading.pattern(name), loading.model)) {
        for (const auto& attribute : attributes) loading.need_attribute(*entity, attribute);
      }
    });
  }
  if (const YamlNode* filter = words.find("filter")) {
    if (const auto expression = read_expression(*filter, report)) {
      pattern.filter = expression->value;
      visit_names(*expression, [&](const Expression::Node& read, Position position) {
        if (read.op == Expression::Node::Op::Input && read.name != "me" && read.name != "now")
          uses.push_back({.name = read.name, .position = position, .where = Use::Where::Elsewhere});
      });
      visit_generators(*expression, [&](Function generator, Position position) {
        const bool is_time = generator == Function::Now;
        report.error(position, "wrong-function",
                     fmt::format("{}() is for the steps of actions{}", name_of(generator),
                                 is_time ? "; in a filter, :now is the time" : ""),
                     is_time ? ":now" : "");
      });
      loading.later([name, expression = *expression, &loading] { check_row_names(name, expression, loading); });
    }
  }
  if (const YamlNode* parameters = words.find("parameters")) {
    for (const auto& item : read_members(*parameters, "`parameters`", report)) {
      if (auto parameter = load_plain_attribute(item, "a parameter", loading))
        pattern.parameters.push_back(std::move(*parameter));
    }
  }
  if (const YamlNode* nest = words.find("nest")) load_nest(*nest, pattern, loading);
  if (const YamlNode* joins = words.find("join")) {
    for (const auto& join : read_list(*joins)) load_join(join, pattern, loading);
  }
  std::optional<Text> within;
  if (const YamlNode* entity = words.find("within")) within = read_text(*entity, "within", report);
  if (within) pattern.within = within->text;
  loading.later([name, uses, within, &loading] {
    infer_parameters(name, uses, loading);
    if (within) check_within(*within, loading.pattern(name).parameters, loading);
  });
  if (const YamlNode* access = words.find("access")) {
    auto list = load_access(*access, loading);
    pattern.access = std::move(list.access);
    if (list.anyone_when)
      loading.later([name, condition = *list.anyone_when, &loading] { check_row_names(name, condition, loading); });
  } else {
    loading.later([name, &loading] { infer_access(name, loading); });
  }
  const auto flag = [&](std::string_view word, bool& member) -> const YamlNode* {
    const YamlNode* value = words.find(word);
    if (value != nullptr) member = read_boolean(*value, word, report).value_or(false);
    return value;
  };
  flag("single", pattern.single);
  const YamlNode* consistent = flag("consistent", pattern.consistent);
  const IndexDesign* index = pattern.index ? loading.model.table.find_index(*pattern.index) : nullptr;
  if (pattern.consistent && index != nullptr && !index->local)
    report.error(consistent->key.position, "contradiction", "a global index cannot be read consistently");
  if (const YamlNode* page = words.find("page")) load_page(*page, pattern, report);
  words.done();
  loading.model.patterns.push_back(std::move(pattern));
}

}  // namespace stator::model
