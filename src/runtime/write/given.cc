#include "stator/runtime/write/given.h"

#include <algorithm>

#include "stator/base/article.h"
#include "stator/model/body_shape.h"
#include "stator/runtime/rules/effects.h"
#include "stator/value/same.h"

namespace stator::runtime {
namespace {

using model::Attribute;
using model::Entity;

bool may_set(const Entity& entity, const Attribute& attribute, ValueSource source) {
  if (entity.soft_delete &&
      (attribute.name == entity.soft_delete->attribute || attribute.name == entity.soft_delete->at))
    return false;
  if (source == ValueSource::Request) return !attribute.computed();
  return !attribute.derived && !attribute.count && !attribute.sum && !attribute.copy_of && !attribute.last &&
         !attribute.is_numbered();
}

// The attribute of that name if it may be set; otherwise a problem.
const Attribute* settable(const Entity& entity, const std::string& name, ValueSource source,
                          std::vector<model::ValueProblem>& problems) {
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr) {
    problems.push_back({name, "is not an attribute of " + entity.name});
    return nullptr;
  }
  if (!may_set(entity, *attribute, source)) {
    problems.push_back({name, "cannot be set"});
    return nullptr;
  }
  return attribute;
}

// Values in their one spelling.  A loop over a copy of the names, since setting moves entries.
template <typename Find>
void check_values(value::Item& values, std::vector<model::ValueProblem>& problems, const Find& find) {
  std::vector<std::string> names;
  for (const auto& entry : values) names.push_back(entry.name);
  for (const auto& name : names) {
    if (const Attribute* attribute = find(name)) {
      model::check_value(attribute->type, name, *values.find(name), problems);
    }
  }
}

// The attributes from which this one is derived and which the request can have given: their values differ from those
// before, or from their defaults.
void collect_given(const Entity& entity, const Attribute& derived, const value::Item* before, const value::Item& after,
                   std::vector<std::string>& names) {
  for (const auto& name : derived.derived->paths()) {
    const auto* input = entity.find_attribute(name);
    if (input == nullptr || std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto* usual = before != nullptr      ? before->find(name)
                        : input->default_value ? &*input->default_value
                                               : nullptr;
    if (input->derived)
      collect_given(entity, *input, before, after, names);
    else if (!input->computed() && !value::same(usual, after.find(name)))
      names.push_back(name);
  }
}

// Reports a derived value of a wrong type under its sources, since no request gave the value itself.
void check_derived(const Entity& entity, const Attribute& attribute, const value::Item* before,
                   const value::Item& after, std::vector<model::ValueProblem>& problems) {
  auto content = *after.find(attribute.name);
  std::vector<model::ValueProblem> wrong;
  model::check_value(attribute.type, attribute.name, content, wrong);
  if (wrong.empty()) return;
  std::vector<std::string> names;
  collect_given(entity, attribute, before, after, names);
  if (names.empty()) problems.insert(problems.end(), wrong.begin(), wrong.end());
  for (const auto& name : names) {
    const auto told = [&](const model::ValueProblem& problem) { return problem.attribute == name; };
    if (std::any_of(problems.begin(), problems.end(), told)) continue;
    problems.push_back({name, "leads to " + with_article(attribute.name) + " that " + wrong.front().problem});
  }
}

bool reads_transient(const Entity& entity, const model::EntityCheck& check) {
  const auto names = check.that.paths();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    return attribute != nullptr && attribute->transient;
  });
}

// Refuses attributes for which a check does not hold.
Result<void, model::ValueProblem> apply(const model::EntityCheck& check, const value::Item& attributes) {
  const auto holds = check.that.holds(model::scope_of(attributes));
  if (!holds) return model::ValueProblem{check.attribute, "cannot be checked: " + holds.error().message};
  if (*holds) return {};
  return model::ValueProblem{check.attribute, check.problem};
}

// Whether a check that does not hold would, if these counters went on as they go.
bool is_on_its_way(const model::EntityCheck& check, const std::vector<std::string>& counters, const value::Item& before,
                   const value::Item& after) {
  const auto far_away = value::Number::from_int(1'000'000'000'000);
  auto ahead = after;
  for (const auto& name : counters) {
    const auto was = counter_value(before, name), is = counter_value(after, name);
    const auto there = was < is ? is.add(far_away) : is.subtract(far_away);
    if (there) ahead.set(name, value::AttributeValue(*there));
  }
  return apply(check, ahead).ok();
}

}  // namespace

std::vector<model::ValueProblem> check_new(const Entity& entity, value::Item& attributes, ValueSource source) {
  std::vector<model::ValueProblem> problems;
  check_values(attributes, problems, [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    const bool compared =
        source == ValueSource::Request && attribute != nullptr && is_only_compared(entity, *attribute);
    return compared ? attribute : settable(entity, name, source, problems);
  });
  return problems;
}

bool is_only_compared(const Entity& entity, const Attribute& attribute) {
  return (attribute.copy_of || attribute.derived) && model::has_parameter(entity.collection_path(), attribute.name);
}

std::vector<model::ValueProblem> check_changes(const Entity& entity, model::PlainObject& changes, ValueSource source) {
  std::vector<model::ValueProblem> problems;
  const auto changeable = [&](const std::string& name) -> const Attribute* {
    const auto* attribute = settable(entity, name, source, problems);
    if (attribute == nullptr) return nullptr;
    if (!entity.is_named_by(name) && !attribute->immutable && entity.owner != name) return attribute;
    problems.push_back({name, "cannot be changed"});
    return nullptr;
  };
  check_values(changes.values, problems, changeable);
  for (const auto& name : changes.nulls) {
    if (changes.values.find(name) == nullptr) changeable(name);
  }
  return problems;
}

void check_complete(const Entity& entity, const value::Item& attributes, std::vector<model::ValueProblem>& problems) {
  for (const auto& attribute : entity.attributes) {
    if (!attribute.required || attribute.default_value || attribute.next || attribute.computed()) continue;
    if (attributes.find(attribute.name) != nullptr) continue;
    problems.push_back({attribute.name, "is required"});
  }
}

std::vector<model::ValueProblem> explain_underivable(const Entity& entity, const value::Item* before,
                                                     const value::Item& after) {
  std::vector<model::ValueProblem> problems;
  for (const auto& attribute : entity.attributes) {
    if (!attribute.derived || attribute.when_read) continue;
    const auto derived = attribute.derived->evaluate(model::scope_of(after));
    if (derived) continue;
    std::vector<std::string> names;
    collect_given(entity, attribute, before, after, names);
    for (const auto& name : names) {
      problems.push_back(
          {name, "leads to " + with_article(attribute.name) + " that cannot be computed: " + derived.error().message});
    }
  }
  return problems;
}

void check_whole(const Entity& entity, const value::Item* before, const value::Item& after, ValueSource source,
                 std::vector<model::ValueProblem>& problems) {
  const auto differs = [&](const std::string& name) { return !value::same(before->find(name), after.find(name)); };
  for (const auto& attribute : entity.attributes) {
    const auto* content = attribute.derived && !attribute.when_read ? after.find(attribute.name) : nullptr;
    if (content == nullptr || (before != nullptr && !differs(attribute.name))) continue;
    check_derived(entity, attribute, before, after, problems);
  }
  for (const auto& check : entity.checks) {
    if (source == ValueSource::Model && !reads_transient(entity, check)) continue;  // at the end of the action
    const auto names = check.that.paths();
    if (before != nullptr && std::none_of(names.begin(), names.end(), differs)) continue;
    if (auto applied = apply(check, after); !applied) problems.push_back(std::move(applied).error());
  }
}

Objections check_end(const Entity& entity, const value::Item* before, const value::Item& after) {
  Objections objections;
  const auto zero = value::AttributeValue::number(0);
  const auto is_counter = [&](const std::string& name) {
    const auto* attribute = entity.find_attribute(name);
    return attribute != nullptr && (attribute->count || attribute->sum);
  };
  const auto differs = [&](const std::string& name) {
    const auto* old = before == nullptr ? nullptr : before->find(name);
    const auto* now = after.find(name);
    if (is_counter(name)) return (old == nullptr ? zero : *old) != (now == nullptr ? zero : *now);
    return !value::same(old, now);
  };
  for (const auto& check : entity.checks) {
    if (reads_transient(entity, check)) continue;  // it was asked while that was there
    std::vector<std::string> counted;
    bool own = false;
    for (const auto& name : check.that.paths()) {
      if (!differs(name)) continue;
      if (is_counter(name))
        counted.push_back(name);
      else
        own = true;
    }
    if (counted.empty() && !own) continue;
    auto applied = apply(check, after);
    if (applied) continue;
    const bool was_wrong = before != nullptr && !apply(check, *before);
    if (!own && was_wrong && is_on_its_way(check, counted, *before, after)) continue;
    objections.counted = objections.counted || !counted.empty();
    objections.problems.push_back(std::move(applied).error());
  }
  return objections;
}

std::vector<model::ValueProblem> check_inputs(const std::vector<Attribute>& declared, value::Item& inputs) {
  std::vector<model::ValueProblem> problems;
  const auto find = [&](const std::string& name) -> const Attribute* {
    const auto found = std::find_if(declared.begin(), declared.end(),
                                    [&](const Attribute& attribute) { return attribute.name == name; });
    if (found != declared.end()) return &*found;
    problems.push_back({name, "is not known here"});
    return nullptr;
  };
  check_values(inputs, problems, find);
  for (const auto& attribute : declared) {
    if (inputs.find(attribute.name) != nullptr) continue;
    if (attribute.default_value)
      inputs.set(attribute.name, *attribute.default_value);
    else if (attribute.required)
      problems.push_back({attribute.name, "is required"});
  }
  return problems;
}

}  // namespace stator::runtime
