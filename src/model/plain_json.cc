#include <algorithm>
#include <utility>

#include "stator/model/json_reader.h"
#include "stator/model/problem_list.h"
#include "stator/model/types/type_rules.h"
#include "stator/model/validate.h"
#include "stator/value/json.h"
#include "stator/value/well_formed.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;
using Problems = std::vector<ValueProblem>;

// ------------------------------------------------------------------------------------------------------------- fitting

// Values that JSON has no type for: sets, binary, absent members.
class Fitting {
 public:
  explicit Fitting(Problems& problems) : problems_(problems) {}

  // Turns `value` into one of the type's kind; nullopt when it is absent or does not fit, which is then reported.
  std::optional<AttributeValue> fit(const Type& type, const JsonPlace& place, AttributeValue value) {
    if (type.kind == Kind::Any) return value;
    if (type.kind == Kind::Set && value.as_list() != nullptr) return set(type, place, std::move(*value.as_list()));
    if (type.kind == Kind::Binary) value = binary(std::move(value));
    if (!is_stored_as(type, value)) {
      add_problem(problems_, place.text(), misfit(type));
      return std::nullopt;
    }
    if (type.kind == Kind::List && type.element != nullptr) {
      return AttributeValue(elements(*type.element, place, std::move(*value.as_list())));
    }
    if (type.kind == Kind::Map && !type.shape.empty())
      return AttributeValue(map(type, place, std::move(*value.as_map())));
    return value;
  }

 private:
  static AttributeValue binary(AttributeValue value) {
    std::string bytes;
    if (value.as_string() == nullptr || !value::decode_base64(*value.as_string(), bytes)) return value;
    return AttributeValue::binary(bytes);
  }

  // A set cannot be empty: without members it is absent.
  std::optional<AttributeValue> set(const Type& type, const JsonPlace& place, value::List list) {
    const value::List members = elements(element_of(type), place, std::move(list));
    if (members.empty()) return std::nullopt;
    return set_of(type, members);
  }

  value::List elements(const Type& type, const JsonPlace& place, value::List list) {
    value::List fitted;
    fitted.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto element = fit(type, {.parent = &place, .index = i}, std::move(list[i]));
      if (element) fitted.push_back(std::move(*element));
    }
    return fitted;
  }

  Item map(const Type& type, const JsonPlace& place, Item members) {
    for (const auto& attribute : type.shape) {
      AttributeValue* member = members.find(attribute.name);
      if (member == nullptr) continue;
      std::optional<AttributeValue> fitted;
      if (member->type() != value::Type::Null) {
        fitted = fit(attribute.type, {.parent = &place, .name = attribute.name}, std::move(*member));
      }
      if (fitted) {
        *member = std::move(*fitted);
      } else {
        members.erase(attribute.name);
      }
    }
    return members;
  }

  Problems& problems_;
};

// Whether something is wrong with an attribute or inside it.
bool has_problem(const Problems& problems, std::string_view name) {
  return std::any_of(problems.begin(), problems.end(), [&](const ValueProblem& problem) {
    const std::string_view path = problem.attribute;
    return path.starts_with(name) &&
           (path.size() == name.size() || path[name.size()] == '.' || path[name.size()] == '[');
  });
}

// A member of a body: its value is built if somebody knows its name.
struct Member {
  std::string name;
  const Attribute* attribute = nullptr;
  AttributeValue value = {};
  bool given_twice = false;
};

Result<std::vector<Member>> read_members(JsonReader& reader, const std::vector<Attribute>& attributes,
                                         Problems& problems) {
  if (!reader.open('{')) return reader.error("it is not a JSON object");
  std::vector<Member> members;
  std::size_t unknown = 0;
  std::string name;
  while (TRY(reader.next_member(name))) {
    const auto attribute =
        std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
    if (attribute == attributes.end()) {
      TRY(reader.skip(2));
      if (unknown++ < kMostProblems) members.push_back({.name = shown_name(name)});
      continue;
    }
    const auto before = std::find_if(members.begin(), members.end(),
                                     [&](const Member& member) { return member.attribute == &*attribute; });
    if (before != members.end()) {
      TRY(reader.skip(2));
      if (!std::exchange(before->given_twice, true)) add_problem(problems, name, "is given twice");
      continue;
    }
    auto content = TRY(reader.value({.name = name}, 2));
    members.push_back({.name = std::move(name), .attribute = &*attribute, .value = std::move(content)});
  }
  TRY(reader.end());
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  if (unknown > kMostProblems) count_more_problems(problems, unknown - kMostProblems);
  return members;
}

// ------------------------------------------------------------------------------------------------------------- writing

void append_members(std::string& out, const value::List& members) {
  out += '[';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i != 0) out += ',';
    append_plain_json(out, members[i]);
  }
  out += ']';
}

}  // namespace

std::optional<AttributeValue> fit_json(const Type& type, const JsonPlace& place, AttributeValue value,
                                       Problems& problems) {
  return Fitting(problems).fit(type, place, std::move(value));
}

Result<PlainObject> read_plain_json(std::string_view text, const std::vector<Attribute>& attributes,
                                    Problems& problems) {
  const bool is_utf8 = value::is_utf8(text);
  if (!is_utf8) return validation_error("it is not UTF-8");
  JsonReader reader(text, problems);
  auto members = TRY(read_members(reader, attributes, problems));
  PlainObject object;
  for (auto& member : members) {
    if (member.attribute == nullptr) {
      add_problem(problems, member.name, unknown_attribute(attributes, member.name));
      continue;
    }
    std::optional<AttributeValue> fitted;
    if (member.value.type() != value::Type::Null) {
      fitted = Fitting(problems).fit(member.attribute->type, {.name = member.name}, std::move(member.value));
    }
    if (has_problem(problems, member.name)) continue;
    if (fitted) {
      object.values.set(member.name, std::move(*fitted));
    } else {
      object.nulls.push_back(member.name);
    }
  }
  return object;
}

void append_plain_json(std::string& out, const AttributeValue& value) {
  switch (value.type()) {
    case value::Type::S: return value::append_json_string(out, *value.as_string());
    case value::Type::N: return value.as_number()->append_to(out);
    case value::Type::B:
      out += '"';
      value::append_base64(out, value.as_binary()->bytes);
      out += '"';
      return;
    case value::Type::Bool: out += *value.as_bool() ? "true" : "false"; return;
    case value::Type::Null: out += "null"; return;
    case value::Type::L: return append_members(out, *value.as_list());
    case value::Type::M: {
      out += '{';
      bool first = true;
      for (const auto& entry : *value.as_map()) {
        if (!first) out += ',';
        first = false;
        value::append_json_string(out, entry.name);
        out += ':';
        append_plain_json(out, entry.value);
      }
      out += '}';
      return;
    }
    default: return append_members(out, members_of(value));
  }
}

}  // namespace stator::model
