#include "stator/model/generate/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stator/base/assert.h"
#include "stator/model/validate.h"

namespace stator::model::generate {
namespace {

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::String: return "string";
    case Kind::Number: return "number";
    case Kind::Integer: return "integer";
    case Kind::Boolean: return "boolean";
    case Kind::Binary: return "binary";
    case Kind::Uuid: return "uuid";
    case Kind::Ulid: return "ulid";
    case Kind::Date: return "date";
    case Kind::Timestamp: return "timestamp";
    case Kind::Email: return "email";
    case Kind::Url: return "url";
    case Kind::Domain: return "domain";
    case Kind::Isbn: return "isbn";
    case Kind::Enum: return "enum";
    case Kind::List: return "list";
    case Kind::Set: return "set";
    case Kind::Map: return "map";
    case Kind::Any: return "any";
  }
  STATOR_ASSERT(false, "every kind has a word");
  return "";
}

std::string_view unit(Kind kind) {
  switch (kind) {
    case Kind::Number:
    case Kind::Integer: return "";
    case Kind::List:
    case Kind::Set: return " members";
    case Kind::Binary: return " bytes";
    default: return " characters";
  }
}

void add_bounds(std::vector<std::string>& words, const Type& type) {
  if (type.min && type.max) {
    words.push_back(fmt::format("{} to {}{}", type.min->to_string(), type.max->to_string(), unit(type.kind)));
  } else if (type.min) {
    words.push_back(fmt::format("at least {}{}", type.min->to_string(), unit(type.kind)));
  } else if (type.max) {
    words.push_back(fmt::format("at most {}{}", type.max->to_string(), unit(type.kind)));
  }
  if (type.step) words.push_back("in steps of " + type.step->to_string());
  if (type.pattern) words.push_back("matches " + *type.pattern);
  if (type.lower) words.emplace_back("kept in lower case");
  if (type.many_lines) words.emplace_back("many lines");
  if (type.date)
    words.push_back(fmt::format("a date is the {} of its day", *type.date == DayEnd::End ? "end" : "start"));
}

void add_default(std::vector<std::string>& words, const Attribute& attribute) {
  if (!attribute.default_value) return;
  std::string text;
  append_plain_json(text, *attribute.default_value);
  words.push_back("default " + text);
}

// A type with what its values are held to, where there is no column for that.
std::string inner_words(const Type& type) {
  std::vector<std::string> rules;
  add_bounds(rules, type);
  return rules.empty() ? type_words(type) : fmt::format("{} ({})", type_words(type), fmt::join(rules, "; "));
}

std::string member_words(const Attribute& member) {
  std::vector<std::string> rules;
  if (member.required) rules.emplace_back("required");
  add_bounds(rules, member.type);
  add_default(rules, member);
  if (!member.description.empty()) rules.push_back(member.description);
  const auto words = member.name + ": " + type_words(member.type);
  return rules.empty() ? words : fmt::format("{} ({})", words, fmt::join(rules, "; "));
}

void add_origin(std::vector<std::string>& words, const Attribute& attribute) {
  switch (attribute.generated) {
    case Generated::No: break;
    case Generated::Uuid: words.emplace_back("generated (uuid)"); break;
    case Generated::Ulid: words.emplace_back("generated (ulid)"); break;
    case Generated::Now: words.emplace_back("time of creation"); break;
  }
  if (attribute.updated) words.emplace_back("time of the last change");
  if (attribute.derived)
    words.push_back((attribute.when_read ? "derived when it is read: " : "derived: ") + attribute.derived->text());
  if (attribute.count) words.push_back("counts " + children_words(attribute.count->of));
  if (attribute.sum) words.push_back("sum of " + attribute.sum->attribute + " of " + children_words(attribute.sum->of));
  if (attribute.copy_of) words.push_back("copy of " + attribute.copy_of->relation + "." + attribute.copy_of->attribute);
  if (attribute.is_numbered())
    words.push_back(fmt::format("{}.{} plus {}, never given twice", attribute.next->relation, attribute.next->counter,
                                attribute.next->step));
  else if (attribute.next)
    words.push_back(fmt::format("when absent, the last in {} plus {}", attribute.next->pattern, attribute.next->step));
  if (attribute.last) words.emplace_back("the last number that was given");
}

void add_unique(std::vector<std::string>& words, const Entity& entity, const Attribute& attribute) {
  for (const auto& unique : entity.uniques) {
    if (std::find(unique.attributes.begin(), unique.attributes.end(), attribute.name) == unique.attributes.end())
      continue;
    std::string text = "unique";
    if (unique.attributes.size() > 1) text += fmt::format(" as ({})", fmt::join(unique.attributes, ", "));
    if (!unique.within.empty()) text += fmt::format(" within {}", fmt::join(unique.within, ", "));
    if (folds(unique.compared)) text += " without regard to case";
    words.push_back(std::move(text));
  }
}

std::string comparison_words(const PatternCondition& condition) {
  const auto& operands = condition.operands;
  const auto& first = operands.front().text();
  switch (condition.comparison) {
    case Comparison::Equal: return fmt::format("{} = {}", condition.attribute, first);
    case Comparison::BeginsWith: return fmt::format("{} begins with {}", condition.attribute, first);
    case Comparison::Between:
      return condition.half_open
                 ? fmt::format("{} from {} up to but not {}", condition.attribute, first, operands[1].text())
                 : fmt::format("{} between {} and {}", condition.attribute, first, operands[1].text());
    case Comparison::Less: return fmt::format("{} < {}", condition.attribute, first);
    case Comparison::LessOrEqual: return fmt::format("{} <= {}", condition.attribute, first);
    case Comparison::Greater: return fmt::format("{} > {}", condition.attribute, first);
    case Comparison::GreaterOrEqual: return fmt::format("{} >= {}", condition.attribute, first);
  }
  STATOR_ASSERT(false, "every comparison has words");
  return "";
}

std::string assignment_words(const std::vector<Assignment>& assignments) {
  std::vector<std::string> words;
  for (const auto& each : assignments) words.push_back(fmt::format("`{}` = `{}`", each.attribute, each.value.text()));
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

std::string create_words(const Step& step) {
  const auto& entity = *step.entities.front();
  const auto name = step.as.empty() ? std::string() : fmt::format(" as `{}`", step.as);
  return fmt::format("{} {}{} with {}", entity.append_only ? "append" : "create", entity.name, name,
                     assignment_words(step.set));
}

std::string entity_words(const Step& step) {
  std::vector<std::string_view> names;
  for (const auto* entity : step.entities) names.push_back(entity->name);
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

std::string children_words(const std::vector<Children>& children) {
  std::vector<std::string> words;
  for (const auto& child : children) words.push_back(child.entity + "." + child.relation);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string type_words(const Type& type) {
  switch (type.kind) {
    case Kind::Enum: return fmt::format("one of {}", fmt::join(type.values, ", "));
    case Kind::List:
    case Kind::Set:
      return type.element ? fmt::format("{} of {}", kind_word(type.kind), inner_words(*type.element))
                          : std::string(kind_word(type.kind));
    case Kind::Map: {
      if (type.shape.empty()) return "map";
      std::vector<std::string> members;
      for (const auto& member : type.shape) members.push_back(member_words(member));
      return fmt::format("map ({})", fmt::join(members, ", "));
    }
    default: return std::string(kind_word(type.kind));
  }
}

std::string rule_words(const Entity& entity, const Attribute& attribute) {
  std::vector<std::string> words;
  if (attribute.required) words.emplace_back("required");
  add_bounds(words, attribute.type);
  add_origin(words, attribute);
  add_unique(words, entity, attribute);
  add_default(words, attribute);
  if (entity.owner == attribute.name) words.emplace_back("the owner");
  if (attribute.immutable) words.emplace_back("immutable");
  if (attribute.internal) words.emplace_back("set by actions only");
  if (attribute.hidden) words.emplace_back("hidden");
  if (attribute.transient) words.emplace_back("not stored");
  if (attribute.drifts) words.emplace_back("drifts: actions change it without a new version");
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string input_words(const Attribute& input) {
  std::vector<std::string> words;
  if (input.required) words.emplace_back("required");
  add_bounds(words, input.type);
  add_default(words, input);
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string duration_words(std::chrono::seconds duration) {
  constexpr std::array kUnits{std::pair(86400, "day"), std::pair(3600, "hour"), std::pair(60, "minute")};
  const auto seconds = duration.count();
  for (const auto& [length, unit] : kUnits) {
    if (seconds % length == 0) return fmt::format("{} {}{}", seconds / length, unit, seconds == length ? "" : "s");
  }
  return fmt::format("{} second{}", seconds, seconds == 1 ? "" : "s");
}

std::string access_words(const Access& access) {
  std::vector<std::string> words;
  if (access.anyone) words.emplace_back("public");
  if (access.signed_in) words.emplace_back("signed-in");
  if (access.owner) words.emplace_back("owner");
  if (access.anyone_when) words.push_back("public while " + access.anyone_when->text());
  for (const auto& role : access.roles) words.push_back("role:" + role);
  for (const auto* grant : access.grants) words.push_back(grant->name);
  return words.empty() ? "nobody" : fmt::format("{}", fmt::join(words, ", "));
}

std::string condition_words(const Pattern& pattern) {
  std::vector<std::string> words;
  for (const auto& condition : pattern.partition) words.push_back(comparison_words(condition));
  for (const auto& condition : pattern.sort) words.push_back(comparison_words(condition));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string key_words(const Entity& entity, const Record& record, const std::string& attribute) {
  const KeyRule* rule = record.find_key(attribute);
  if (rule == nullptr) return entity.find_attribute(attribute) != nullptr ? "{" + attribute + "|raw}" : "";
  std::vector<std::string> words;
  for (const auto& alternative : rule->alternatives) {
    words.push_back(alternative.when ? fmt::format("{} (when {})", alternative.text.text(), alternative.when->text())
                                     : alternative.text.text());
  }
  return fmt::format("{}", fmt::join(words, " or "));
}

std::string record_words(const Entity& entity, const Record& record) {
  return entity.records.size() == 1 ? entity.name : fmt::format("{} ({})", entity.name, record.name);
}

std::string step_words(const Step& step) {
  std::string words;
  switch (step.kind) {
    case Step::Kind::Read:
      words = fmt::format("read {} as `{}` by {}{}", entity_words(step), step.as, assignment_words(step.key),
                          step.optional ? ", if there" : "");
      break;
    case Step::Kind::Check:
      words = fmt::format("check `{}`, or answer {} {}: {}", step.that->text(), step.failure.status, step.failure.code,
                          step.failure.message);
      break;
    case Step::Kind::Create: words = create_words(step); break;
    case Step::Kind::Update: words = fmt::format("update `{}`: {}", step.as, assignment_words(step.set)); break;
    case Step::Kind::Delete: words = fmt::format("delete `{}`", step.as); break;
  }
  if (step.when) words += fmt::format(", when `{}`", step.when->text());
  return words;
}

}  // namespace stator::model::generate
