#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "stator/model/loading.h"
#include "stator/model/validate.h"

namespace stator::model {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMethods{{
    {"get", "GET"},
    {"post", "POST"},
    {"put", "PUT"},
    {"patch", "PATCH"},
    {"delete", "DELETE"},
}};

// `append` is the create of something append_only.
constexpr std::string_view kAppend = "append";
constexpr std::array kStepKinds{
    Choice<Step::Kind>("read", Step::Kind::Read),     Choice<Step::Kind>("check", Step::Kind::Check),
    Choice<Step::Kind>("create", Step::Kind::Create), Choice<Step::Kind>(kAppend, Step::Kind::Create),
    Choice<Step::Kind>("update", Step::Kind::Update), Choice<Step::Kind>("delete", Step::Kind::Delete),
};

struct WrittenAssignment {
  Text attribute;
  Written<Expression> value;
};

// A step with the places of its names, which are looked up when all entities are known.
struct WrittenStep {
  Step step;
  std::vector<Text> entities;  // Read, Create
  std::optional<Text> as;      // Read, Create: what it is called; Update, Delete: what it changes
  std::vector<WrittenAssignment> key;
  std::vector<WrittenAssignment> set;
  std::vector<Written<Expression>> conditions;  // `that` and `when`
  bool appends = false;                         // Create, written as `append`
};

// ----------------------------------------------------------------------------------------------------------------- reading

std::vector<WrittenAssignment> load_assignments(const YamlNode& node, std::string_view what, Report& report) {
  std::vector<WrittenAssignment> assignments;
  for (const auto& item : read_members(node, what, report)) {
    if (auto value = read_expression(item, report))
      assignments.push_back({.attribute = item.key, .value = std::move(*value)});
  }
  return assignments;
}

std::vector<Assignment> plain(const std::vector<WrittenAssignment>& written) {
  std::vector<Assignment> assignments;
  for (const auto& assignment : written)
    assignments.push_back({.attribute = assignment.attribute.text, .value = assignment.value.value});
  return assignments;
}

Failure load_failure(const YamlNode& node, Report& report) {
  Failure failure;
  Words words(node, "else", report);
  if (const YamlNode* status = words.find("status"))
    failure.status =
        static_cast<int>(read_integer(*status, "the status of a failed check", {.min = 400, .max = 499}, report)
                             .value_or(failure.status));
  if (const YamlNode* code = words.find("code")) {
    if (const auto text = read_text(*code, "the code of a failed check", report)) failure.code = text->text;
  }
  if (const YamlNode* message = words.need("message")) {
    if (const auto text = read_text(*message, "the message of a failed check", report)) failure.message = text->text;
  }
  words.done();
  return failure;
}

// The kind of a step is the one word among these that it has.
std::optional<std::pair<Step::Kind, const YamlNode*>> load_step_kind(const YamlNode& node, Words& words,
                                                                     Report& report) {
  std::optional<std::pair<Step::Kind, const YamlNode*>> found;
  for (const auto& [word, kind] : kStepKinds) {
    const YamlNode* value = words.find(word);
    if (value == nullptr) continue;
    if (found) {
      report.error(value->key.position, "contradiction",
                   fmt::format("a step does one thing: {} is a step of its own", word));
      continue;
    }
    found.emplace(kind, value);
  }
  if (!found && node.is_map())
    report.error(node.position, "missing-word", "a step is a read, check, create, append, update or delete");
  return found;
}

std::optional<WrittenStep> load_step(const YamlNode& node, Report& report) {
  Words words(node, "a step", report);
  const auto kind = load_step_kind(node, words, report);
  if (!kind) return std::nullopt;
  const auto& [what, value] = *kind;
  WrittenStep written;
  Step& step = written.step;
  step.kind = what;
  step.position = node.position;
  const auto take_name = [&](std::string_view word) {
    if (const YamlNode* as = words.find(word)) written.as = read_text(*as, word, report);
    if (written.as && !check_name(*written.as, "the name of a step", report)) written.as.reset();
  };
  const auto take_set = [&](const YamlNode* set) {
    if (set != nullptr) written.set = load_assignments(*set, "set", report);
  };
  switch (what) {
    case Step::Kind::Read:
      written.entities = read_texts(*value, "what is read", report);
      take_name("as");
      if (const YamlNode* key = words.find("key")) written.key = load_assignments(*key, "key", report);
      if (const YamlNode* flag = words.find("optional"))
        step.optional = read_boolean(*flag, "optional", report).value_or(false);
      break;
    case Step::Kind::Check:
      if (auto that = read_expression(*value, report)) {
        step.that = that->value;
        written.conditions.push_back(std::move(*that));
      }
      if (const YamlNode* failure = words.need("else")) step.failure = load_failure(*failure, report);
      break;
    case Step::Kind::Create:
      if (auto entity = read_text(*value, "what is created", report)) written.entities.push_back(std::move(*entity));
      written.appends = value->key.text == kAppend;
      take_name("as");
      take_set(words.need("set"));
      break;
    case Step::Kind::Update:
      written.as = read_text(*value, "what is updated", report);
      take_set(words.need("set"));
      break;
    case Step::Kind::Delete: written.as = read_text(*value, "what is deleted", report); break;
  }
  if (const YamlNode* when = words.find("when")) {
    if (auto expression = read_expression(*when, report)) {
      step.when = expression->value;
      written.conditions.push_back(std::move(*expression));
    }
  }
  words.done();
  for (const auto& entity : written.entities) step.entities.push_back(entity.text);
  if (written.as) step.as = written.as->text;
  step.key = plain(written.key);
  step.set = plain(written.set);
  return written;
}

// --------------------------------------------------------------------------------------------------------------- resolving

// Follows an action from step to step, so that each sees the names of those before it.
class ActionResolver {
 public:
  ActionResolver(const std::string& action, std::vector<WrittenStep> steps, Loading& loading)
      : action_(loading.action(action)), steps_(std::move(steps)), loading_(loading), report_(loading.report) {}

  void resolve(const std::optional<Route>& route, const std::optional<Text>& result) {
    for (const auto& step : steps_) resolve_step(step);
    if (route) {
      for (const auto& name : route->parameters) need_input(name, place_in_template(route->text, name), true);
    }
    for (const auto& input : action_.inputs) {
      if (used_.count(input.name) == 0)
        report_.error(input.position, "unused-input",
                      fmt::format("{} is in no route and no expression of {}", input.name, action_.name));
    }
    if (result) need_name(*result);
  }

  // Without a word of its own, an action is for those who may do each of its writes; without writes, its reads.
  void infer_access() {
    std::optional<Access> access;
    const auto add = [&](const Access& next) { access = access ? intersection(*access, next) : next; };
    for (const auto& step : steps_) {
      if (step.step.kind == Step::Kind::Create) each(step.entities, [&](const Entity& e) { add(e.create); });
      if (step.step.kind == Step::Kind::Update) each(named(step.step.as), [&](const Entity& e) { add(e.update); });
      if (step.step.kind == Step::Kind::Delete) each(named(step.step.as), [&](const Entity& e) { add(e.remove); });
    }
    if (!access) {
      for (const auto& step : steps_) each(step.entities, [&](const Entity& e) { add(e.read); });
    }
    if (access) action_.access = *access;
  }

 private:
  template <typename Visit>
  void each(const std::vector<Text>& entities, const Visit& visit) const {
    for (const auto& name : entities) {
      if (const Entity* entity = loading_.model.find_entity(name.text)) visit(*entity);
    }
  }

  // The entities that a name of an earlier step can stand for.
  std::vector<Text> named(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? std::vector<Text>() : found->second->entities;
  }

  const WrittenStep* need_name(const Text& name) {
    const auto found = names_.find(name.text);
    if (found != names_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const auto& [as, step] : names_) known.push_back(as);
    report_.unknown(name.position, "unknown-step",
                    fmt::format("no step before has read or created anything as {}", name.text), name.text, known);
    return nullptr;
  }

  void resolve_step(const WrittenStep& written) {
    const Step& step = written.step;
    for (const auto& entity : written.entities) loading_.need_entity(entity);
    const bool changes = step.kind == Step::Kind::Update || step.kind == Step::Kind::Delete;
    if (changes && written.as) need_name(*written.as);
    // What an update sets may speak of the attributes of what it updates by their names alone.
    const std::vector<Text> own = step.kind == Step::Kind::Update ? named(step.as) : std::vector<Text>();
    for (const auto& condition : written.conditions) check_expression(condition, {});
    for (const auto& assignment : written.key) check_expression(assignment.value, {});
    for (const auto& assignment : written.set) check_expression(assignment.value, own);
    if (step.kind == Step::Kind::Read) each(written.entities, [&](const Entity& e) { check_key(written, e); });
    if (step.kind == Step::Kind::Create) {
      each(written.entities, [&](const Entity& e) {
        if (written.appends && !e.append_only) refuse_append(written, e);
        check_set(written, e);
        check_complete(written, e);
      });
    }
    if (step.kind == Step::Kind::Update) {
      each(own, [&](const Entity& e) {
        if (e.append_only) refuse_append_only(written, e);
        check_set(written, e);
      });
    }
    if (step.kind == Step::Kind::Delete) {
      each(named(step.as), [&](const Entity& e) {
        if (e.append_only) refuse_append_only(written, e);
      });
    }
    if (!changes && written.as && !names_.emplace(step.as, &written).second)
      report_.error(written.as->position, "repeated-word", fmt::format("a step before is called {} already", step.as));
  }

  void refuse_append(const WrittenStep& written, const Entity& entity) {
    report_.error(written.entities.front().position, "append-only",
                  fmt::format("{} is not append_only, so nothing is appended: write create", entity.name));
  }

  void refuse_append_only(const WrittenStep& written, const Entity& entity) {
    report_.error(written.as->position, "append-only",
                  fmt::format("{} is append_only: its rows are created and never changed", entity.name));
  }

  void check_expression(const Written<Expression>& expression, const std::vector<Text>& own) {
    visit_names(expression, [&](const Expression::Node& node, Position position) {
      if (node.op == Expression::Node::Op::Path) return check_path(node, position, own);
      if (node.name != "me" && node.name != "now") need_input(node.name, position, false);
    });
  }

  // The first name of a path is a step's, or an attribute of what is updated.
  void check_path(const Expression::Node& path, Position position, const std::vector<Text>& own) {
    if (names_.count(path.name) == 0) {
      if (!own.empty()) return check_attribute(path.name, path.steps, position, own);
      std::vector<std::string_view> known;
      for (const auto& [as, step] : names_) known.push_back(as);
      report_.unknown(position, "unknown-step",
                      fmt::format("no step before has read or created anything as {}; an input is written :{}",
                                  path.name, path.name),
                      path.name, known);
      return;
    }
    if (path.steps.empty()) return;
    const auto* attribute = std::get_if<std::string>(&path.steps.front());
    if (attribute == nullptr) {
      report_.error(position, "wrong-type", fmt::format("{} is an entity, not a list", path.name));
    } else {
      check_attribute(*attribute, {path.steps.begin() + 1, path.steps.end()}, position, named(path.name));
    }
  }

  // Of entities of which one was read, at least one has the attribute.
  void check_attribute(const std::string& name, const std::vector<PathStep>& steps, Position position,
                       const std::vector<Text>& entities) {
    if (name == loading_.model.table.version_attribute) return;
    const Entity* first = nullptr;
    const Entity* having = nullptr;
    each(entities, [&](const Entity& entity) {
      if (first == nullptr) first = &entity;
      if (having == nullptr && entity.find_attribute(name) != nullptr) having = &entity;
    });
    const Entity* entity = having != nullptr ? having : first;
    if (entity != nullptr) loading_.need_path(*entity, name, steps, position);
  }

  // An input that the file does not list is the attribute of that name of an entity in the steps.
  void need_input(const std::string& name, Position position, bool is_in_path) {
    used_.insert(name);
    const auto known = std::find_if(action_.inputs.begin(), action_.inputs.end(),
                                    [&](const Attribute& input) { return input.name == name; });
    if (known != action_.inputs.end()) {
      known->required = known->required || is_in_path;
      return;
    }
    const Attribute* attribute = nullptr;
    std::vector<std::string_view> names;
    for (const auto& step : steps_) {
      each(step.entities, [&](const Entity& entity) {
        if (attribute == nullptr) attribute = entity.find_attribute(name);
        for (const auto& candidate : entity.attributes) names.push_back(candidate.name);
      });
    }
    if (attribute == nullptr) {
      report_.unknown(position, "unknown-input",
                      fmt::format("nothing says what {} is: no entity in the steps has such an attribute, and `input` "
                                  "does not list it",
                                  name),
                      name, names);
      return;
    }
    Attribute input;
    input.name = name;
    input.description = attribute->description;
    input.type = attribute->type;
    input.required = is_in_path || attribute->required;
    input.position = position;
    action_.inputs.push_back(std::move(input));
  }

  void check_key(const WrittenStep& written, const Entity& entity) {
    const auto identity = entity.identity(loading_.model.table);
    for (const auto& assignment : written.key) {
      if (std::find(identity.begin(), identity.end(), assignment.attribute.text) != identity.end()) continue;
      const std::vector<std::string_view> known(identity.begin(), identity.end());
      report_.unknown(assignment.attribute.position, "unknown-key",
                      fmt::format("{} is not in the key of {}, which is made from {}", assignment.attribute.text,
                                  entity.name, spelled_out(known)),
                      assignment.attribute.text, known);
    }
    for (const auto& name : identity) {
      const bool is_given =
          name == entity.owner || std::any_of(written.key.begin(), written.key.end(),
                                              [&](const auto& given) { return given.attribute.text == name; });
      if (!is_given)
        report_.error(written.step.position, "missing-key",
                      fmt::format("the key of {} is made from {}, which `key` does not give", entity.name, name),
                      fmt::format("{}: \":{}\"", name, name));
    }
  }

  void check_set(const WrittenStep& written, const Entity& entity) {
    for (const auto& assignment : written.set) {
      const Attribute* attribute = loading_.need_attribute(entity, assignment.attribute);
      if (attribute == nullptr) continue;
      if (attribute->derived || attribute->count || attribute->sum || attribute->copy_of)
        report_.error(assignment.attribute.position, "computed-attribute",
                      fmt::format("{}.{} is {}; no step sets it", entity.name, attribute->name,
                                  attribute->derived   ? "derived"
                                  : attribute->copy_of ? "a copy"
                                                       : "counted"));
      else
        check_literals(entity, *attribute, assignment.value.value.root(), assignment.value.source);
    }
  }

  // A literal that is set, whatever decides that it is, has to be a value of the attribute.
  void check_literals(const Entity& entity, const Attribute& attribute, const Expression::Node& node,
                      const Text& source) {
    if (node.op == Expression::Node::Op::Literal && node.value) {
      auto content = *node.value;
      std::vector<ValueProblem> problems;
      check_value(attribute.type, attribute.name, content, problems);
      for (const auto& problem : problems)
        report_.error(source.at(node.column - 1), "bad-value",
                      fmt::format("{}.{} {}", entity.name, problem.attribute, problem.problem));
    }
    if (node.op != Expression::Node::Op::Call) return;
    const bool is_if = node.function == Function::If;
    if (!is_if && node.function != Function::IfNotExists && node.function != Function::Coalesce) return;
    for (std::size_t i = is_if ? 1 : 0; i < node.operands.size(); ++i)
      check_literals(entity, attribute, node.operands[i], source);
  }

  // A create that leaves out what is required fails every time.
  void check_complete(const WrittenStep& written, const Entity& entity) {
    for (const auto& attribute : entity.attributes) {
      const bool is_given = std::any_of(written.set.begin(), written.set.end(), [&](const auto& assignment) {
        return assignment.attribute.text == attribute.name;
      });
      const bool is_filled = attribute.default_value || attribute.generated != Generated::No || attribute.updated ||
                             attribute.derived || attribute.count || attribute.sum || attribute.copy_of ||
                             attribute.next || attribute.name == entity.owner;
      if (attribute.required && !is_given && !is_filled)
        report_.error(written.step.position, "missing-attribute",
                      fmt::format("{}.{} is required, and `set` does not give it", entity.name, attribute.name),
                      fmt::format("{}: \"...\"", attribute.name));
    }
  }

  Action& action_;
  const std::vector<WrittenStep> steps_;
  Loading& loading_;
  Report& report_;
  std::map<std::string, const WrittenStep*, std::less<>> names_;
  std::set<std::string, std::less<>> used_;
};

// --------------------------------------------------------------------------------------------------------------- native ones

// What C++ carries out has a route, inputs and access like any other action, so that requests are checked and documented alike.
void load_native(Words& words, Report& report) {
  for (const std::string_view word : {"steps", "result"}) {
    if (const YamlNode* value = words.find(word))
      report.error(value->key.position, "contradiction",
                   fmt::format("a native action is carried out by C++, so it has no {}", word));
  }
}

void load_accepts(Words& words, Action& action, Report& report) {
  const YamlNode* accepts = words.find("accepts");
  if (accepts == nullptr) return;
  if (!action.native)
    report.error(accepts->key.position, "contradiction", "only a native action takes another body than JSON");
  const auto types = read_texts(*accepts, "a media type", report);
  for (const auto& type : types) {
    const auto slash = type.text.find('/');
    const bool no_body = type.text == "none" && types.size() == 1;
    if (!no_body && (slash == 0 || slash == std::string::npos || slash + 1 == type.text.size()))
      report.error(type.position, "wrong-type", fmt::format("\"{}\" is no media type such as text/csv", type.text));
    action.accepts.push_back(type.text);
  }
}

// Names in the route that `input` does not list are attributes of `within`.
void resolve_native(Action& action, const std::optional<Route>& route, const std::optional<Text>& within,
                    bool infer_access, Loading& loading) {
  const Entity* entity = within ? loading.model.find_entity(within->text) : nullptr;
  for (const auto& name : route ? route->parameters : std::vector<std::string>()) {
    const auto known = std::find_if(action.inputs.begin(), action.inputs.end(),
                                    [&](const Attribute& input) { return input.name == name; });
    if (known != action.inputs.end()) {
      known->required = true;
      continue;
    }
    const auto place = place_in_template(route->text, name);
    const Attribute* attribute = entity == nullptr ? nullptr : entity->find_attribute(name);
    if (attribute == nullptr) {
      loading.report.error(place, "unknown-input",
                           fmt::format("nothing says what {} is: `input` does not list it, and it is no attribute of "
                                       "what the action is `within`",
                                       name));
      continue;
    }
    Attribute input;
    input.name = name;
    input.description = attribute->description;
    input.type = attribute->type;
    input.required = true;
    input.position = place;
    action.inputs.push_back(std::move(input));
  }
  if (!infer_access) return;
  if (entity == nullptr) {
    action.access.signed_in = true;
  } else {
    action.access = action.method == "GET" ? entity->read : entity->update;
  }
}

}  // namespace

void load_action(const YamlNode& node, Loading& loading) {
  Report& report = loading.report;
  if (!check_name(node.key, "the name of an action", report, Dashes::Yes)) return;
  Action action;
  action.name = node.key.text;
  action.position = node.key.position;
  Words words(node, "an action", report);
  action.description = load_description(words, report);
  std::optional<Route> route;
  for (const auto& [word, method] : kMethods) {
    const YamlNode* value = words.find(word);
    if (value == nullptr) continue;
    if (!action.path.empty()) {
      report.error(value->key.position, "contradiction",
                   fmt::format("an action has one route; {} gives it a second one", word));
      continue;
    }
    route = load_route(*value, QueryString::Refused, loading);
    action.method = method;
    if (route) action.path = route->text.text;
  }
  if (const YamlNode* inputs = words.find("input")) {
    for (const auto& item : read_members(*inputs, "`input`", report)) {
      if (auto input = load_plain_attribute(item, "an input", loading)) action.inputs.push_back(std::move(*input));
    }
  }
  if (const YamlNode* native = words.find("native"))
    action.native = read_boolean(*native, "native", report).value_or(false);
  if (action.native) load_native(words, report);
  load_accepts(words, action, report);
  if (action.method == "GET" && !action.native)
    report.error(action.position, "contradiction",
                 "only a native action is a GET: what reads and nothing else is a pattern");
  std::vector<WrittenStep> steps;
  const YamlNode* list = action.native ? nullptr : words.need("steps");
  if (list != nullptr) {
    for (const auto& item : read_list(*list)) {
      if (auto step = load_step(item, report)) steps.push_back(std::move(*step));
    }
  }
  for (const auto& step : steps) action.steps.push_back(step.step);
  const auto take = [&](std::string_view word, std::optional<std::string>& member) -> std::optional<Text> {
    const YamlNode* value = words.find(word);
    auto text = value == nullptr ? std::nullopt : read_text(*value, word, report);
    if (text) member = text->text;
    return text;
  };
  const auto result = take("result", action.result);
  const auto within = take("within", action.within);
  const YamlNode* access = words.find("access");
  if (access != nullptr) {
    auto who = load_access(*access, loading);
    action.access = std::move(who.access);
    if (who.anyone_when)
      report.error(who.anyone_when->source.position, "contradiction", "a condition is for reading; an action has none");
  }
  words.done();
  loading.later([name = action.name, steps, route, result, within, infer = access == nullptr, &loading] {
    if (loading.action(name).native) {
      resolve_native(loading.action(name), route, within, infer, loading);
      if (within) check_within(*within, loading.action(name).inputs, loading);
      return;
    }
    ActionResolver resolver(name, steps, loading);
    resolver.resolve(route, result);
    if (infer) resolver.infer_access();
    if (within) check_within(*within, loading.action(name).inputs, loading);
  });
  loading.model.actions.push_back(std::move(action));
}

}  // namespace stator::model
