#include "stator/model/generate/type_declarations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/answer_shape.h"
#include "stator/model/body_shape.h"
#include "stator/value/json.h"

namespace stator::model::generate {
namespace {

// "WATCHLIST_ITEM" and "books_by_status" become "WatchlistItem" and "BooksByStatus"; "StoryIndex" stays.
std::string pascal_case(std::string_view name) {
  const bool shouting = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  std::string out;
  bool start = true;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter) {
      start = true;
      continue;
    }
    if (start && c >= 'a' && c <= 'z') {
      out += static_cast<char>(c - 'a' + 'A');
    } else if (!start && shouting && c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
    start = false;
  }
  if (out.empty() || (out.front() >= '0' && out.front() <= '9')) out.insert(0, "T");
  return out;
}

// A comment of one line, whatever the text.
std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  for (std::size_t end = out.find("*/"); end != std::string::npos; end = out.find("*/", end))
    out.replace(end, 2, "* /");
  return out;
}

// One member of a generated type.
struct Member {
  const Attribute* attribute = nullptr;
  bool optional = false;
  bool nullable = false;  // a patch can clear it
  bool fixed = false;     // served, and set by no request
};

using Members = std::vector<Member>;

Members served(const Model& model, const Entity& entity) {
  Members members;
  for (const auto& attribute : entity.attributes) {
    if (!is_served(attribute)) continue;
    members.push_back({.attribute = &attribute,
                       .optional = !is_always_served(model, entity, attribute),
                       .nullable = false,
                       .fixed = attribute.computed() || entity.owner == attribute.name});
  }
  return members;
}

Members taken(const Model& model, const Entity& entity, BodyOf of) {
  Members members;
  for (const auto& member : body_members(model, entity, of)) {
    members.push_back(
        {.attribute = member.attribute, .optional = !member.required, .nullable = member.nullable, .fixed = false});
  }
  return members;
}

Members given(const std::vector<Attribute>& attributes) {
  Members members;
  for (const auto& attribute : attributes) {
    const bool optional = !attribute.required || attribute.default_value;
    members.push_back({.attribute = &attribute, .optional = optional, .nullable = false, .fixed = false});
  }
  return members;
}

// The names of the types in one file: each is given once.
class TypeNames {
 public:
  // `taken` are names that the file itself has.
  explicit TypeNames(std::initializer_list<std::string_view> taken) : taken_(taken.begin(), taken.end()) {}

  // `wanted`, or that with the first number behind it that makes it another name.
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; !taken_.insert(name).second; ++number) name = wanted + std::to_string(number);
    return name;
  }

 private:
  std::set<std::string, std::less<>> taken_;
};

struct Declared {
  std::string name;
  std::string_view purpose;
  Members members;
  const Entity* served = nullptr;  // the entity in answers, if any; its type and version are members, too
};

// The names of entities' types, by entity.
using EntityNames = std::map<const Entity*, std::string>;

// Whether answers have that member beside the entity's own.
bool is_added(const Entity* served, const std::string& name) {
  return served != nullptr && served->find_attribute(name) == nullptr;
}

// Every type of a model that is a list of members, in the order in which they are declared.  Entities choose their
// names first.
EntityNames each_type(const Model& model, TypeNames& names, const std::function<void(const Declared&)>& declare_as) {
  EntityNames entity_names;
  for (const auto& entity : model.entities) entity_names[&entity] = names.take(pascal_case(entity.name));
  const auto declare = [&](const std::string& wanted, std::string_view purpose, Members members) {
    declare_as({.name = names.take(wanted), .purpose = purpose, .members = std::move(members), .served = nullptr});
  };
  for (const auto& entity : model.entities) {
    const auto& name = entity_names.at(&entity);
    declare_as({.name = name, .purpose = entity.description, .members = served(model, entity), .served = &entity});
    if (entity.has_operation("create"))
      declare(name + "Create", "The input of a create.", taken(model, entity, BodyOf::Create));
    if (entity.has_operation("put")) {
      declare(name + "Put", "The input of a put: absent keeps, null clears; a new one needs all required attributes.",
              taken(model, entity, BodyOf::Put));
    }
    if (entity.has_operation("update"))
      declare(name + "Patch", "The input of a patch: absent keeps, null clears.", taken(model, entity, BodyOf::Update));
  }
  for (const auto& pattern : model.patterns) {
    if (!pattern.parameters.empty())
      declare(pascal_case(pattern.name) + "Parameters", pattern.description, given(pattern.parameters));
  }
  for (const auto& action : model.actions) {
    if (!action.inputs.empty()) declare(pascal_case(action.name) + "Input", action.description, given(action.inputs));
  }
  return entity_names;
}

// The types of these shapes, as `spell` writes them.
template <typename Spell>
std::vector<std::string> spelled(const std::vector<AnswerShape>& shapes, const Spell& spell) {
  std::vector<std::string> out;
  for (const auto& shape : shapes) out.push_back(spell(shape));
  return out;
}

// ---------------------------------------------------------------------------------------------------------- TypeScript

bool is_identifier(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
  });
}

std::string json_string(std::string_view text) {
  std::string out;
  value::append_json_string(out, text);
  return out;
}

std::string typescript_type(const Type& type) {
  switch (type.kind) {
    case Kind::Number:
    case Kind::Integer: return "number";
    case Kind::Boolean: return "boolean";
    case Kind::Any: return "unknown";
    case Kind::Enum: {
      std::vector<std::string> values;
      for (const auto& value : type.values) values.push_back(json_string(value));
      return fmt::format("{}", fmt::join(values, " | "));
    }
    case Kind::List:
    case Kind::Set: return fmt::format("Array<{}>", type.element ? typescript_type(*type.element) : "unknown");
    case Kind::Map: {
      if (type.shape.empty()) return "Record<string, unknown>";
      std::vector<std::string> members;
      for (const auto& member : type.shape) {
        members.push_back(fmt::format("{}{}: {}", is_identifier(member.name) ? member.name : json_string(member.name),
                                      member.required ? "" : "?", typescript_type(member.type)));
      }
      return fmt::format("{{ {} }}", fmt::join(members, "; "));
    }
    default: return "string";
  }
}

std::string typescript_name(const std::string& name) { return is_identifier(name) ? name : json_string(name); }

// `Collection & { items: Array<Book | Video>; continued?: true }`
std::string typescript_shape(const Model& model, const EntityNames& names, const AnswerShape& shape) {
  const auto& name = names.at(shape.entity);
  auto type = shape.whole ? name : fmt::format("Partial<{}>", name);
  std::vector<std::string> more;
  for (const auto& joined : shape.joined) {
    auto other = names.at(joined.entity);
    if (!joined.attributes->empty()) {
      std::vector<std::string> picked;
      for (const auto& attribute : *joined.attributes) {
        if (!joined.entity->find_attribute(attribute)->hidden) picked.push_back(json_string(attribute));
      }
      if (is_added(joined.entity, model.table.type_attribute))
        picked.push_back(json_string(model.table.type_attribute));
      if (is_added(joined.entity, model.table.version_attribute) && joined.entity->versioned)
        picked.push_back(json_string(model.table.version_attribute));
      other = fmt::format("Pick<{}, {}>", other, fmt::join(picked, " | "));
    }
    more.push_back(fmt::format("{}?: {}", typescript_name(std::string(joined.as)), other));
  }
  if (!shape.nested_as.empty()) {
    const auto nested = spelled(shape.nested, [&](const auto& one) { return typescript_shape(model, names, one); });
    more.push_back(fmt::format("{}: Array<{}>; continued?: true", typescript_name(std::string(shape.nested_as)),
                               fmt::join(nested, " | ")));
  }
  return more.empty() ? type : fmt::format("({} & {{ {} }})", type, fmt::join(more, "; "));
}

// ----------------------------------------------------------------------------------------------------------------- C++

// The reserved words of C++20.
constexpr auto kCppWords = std::to_array<std::string_view>(
    {"alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
     "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
     "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
     "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
     "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
     "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
     "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
     "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
     "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
     "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
     "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
     "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
     "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
     "xor_eq"});

std::string cpp_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += fine ? c : '_';
  }
  if (out.empty() || (out.front() >= '0' && out.front() <= '9')) out.insert(0, "_");
  if (std::find(kCppWords.begin(), kCppWords.end(), out) != kCppWords.end()) out += '_';
  return out;
}

// The one type, or a variant of several.
std::string cpp_one_of(const std::vector<std::string>& types) {
  return types.size() == 1 ? types.front() : fmt::format("std::variant<{}>", fmt::join(types, ", "));
}

// A member cannot have the name of its struct, nor a name that its types use.
std::string cpp_member(std::string_view structure, std::string_view name) {
  auto out = cpp_name(name);
  if (out == structure || out == "Patch" || out == "std") out += '_';
  return out;
}

// The struct of an answered object, declared into `out` when it is more than its entity's.
std::string cpp_shape(const Model& model, const EntityNames& entities, const std::string& owner,
                      const AnswerShape& shape, TypeNames& names, std::string& out) {
  const auto& entity = entities.at(shape.entity);
  if (shape.joined.empty() && shape.nested_as.empty()) return entity;
  std::string body;
  for (const auto& joined : shape.joined) {
    // Of chosen attributes the others are empty.
    body += fmt::format("  std::optional<{}> {};\n", entities.at(joined.entity), cpp_member(entity, joined.as));
  }
  if (!shape.nested_as.empty()) {
    const auto nested =
        spelled(shape.nested, [&](const auto& one) { return cpp_shape(model, entities, owner, one, names, out); });
    body += fmt::format("  std::vector<{}> {};\n  bool continued = false;  // it began on an earlier page\n",
                        cpp_one_of(nested), cpp_member(entity, shape.nested_as));
  }
  auto name = names.take(owner + entity);
  out += fmt::format("\nstruct {} : {} {{\n{}}};\n", name, entity, body);
  return name;
}

// Maps with a shape become structs of their own, declared before the one that holds them.
std::string cpp_type(const Type& type, const std::string& name, TypeNames& names, std::string& before) {
  switch (type.kind) {
    case Kind::Integer: return "std::int64_t";
    case Kind::Number: return "std::string /* a decimal number, exact */";
    case Kind::Boolean: return "bool";
    case Kind::Any: return "std::string /* JSON */";
    case Kind::List:
    case Kind::Set:
      return type.element ? fmt::format("std::vector<{}>", cpp_type(*type.element, name, names, before))
                          : "std::string /* JSON */";
    case Kind::Map: {
      if (type.shape.empty()) return "std::string /* JSON */";
      const auto own = names.take(name);
      std::string body;
      for (const auto& member : type.shape) {
        const auto inner = cpp_type(member.type, own + pascal_case(member.name), names, before);
        body += member.required ? fmt::format("  {} {}{{}};\n", inner, cpp_member(own, member.name))
                                : fmt::format("  std::optional<{}> {};\n", inner, cpp_member(own, member.name));
      }
      before += fmt::format("struct {} {{\n{}}};\n\n", own, body);
      return own;
    }
    default: return "std::string";
  }
}

}  // namespace

std::string typescript_types(const Model& model) {
  std::string out =
      fmt::format("// Types of the model {}.  Made by `stator model types --language typescript`.\n", model.name);
  TypeNames names{"Page"};
  const auto& member_name = typescript_name;
  const auto entities = each_type(model, names, [&](const Declared& type) {
    const auto& [name, purpose, members, entity] = type;
    out += "\n";
    if (!purpose.empty()) out += fmt::format("/** {} */\n", one_line(purpose));
    out += fmt::format("export interface {} {{\n", name);
    for (const auto& member : members) {
      const auto& attribute = *member.attribute;
      if (!attribute.description.empty()) out += fmt::format("  /** {} */\n", one_line(attribute.description));
      out += fmt::format("  {}{}{}: {}{};\n", member.fixed ? "readonly " : "", member_name(attribute.name),
                         member.optional ? "?" : "", typescript_type(attribute.type), member.nullable ? " | null" : "");
    }
    if (is_added(entity, model.table.type_attribute)) {
      out += fmt::format("  readonly {}: {};\n", member_name(model.table.type_attribute), json_string(entity->name));
    }
    if (is_added(entity, model.table.version_attribute) && entity->versioned) {
      out += fmt::format("  readonly {}: number;\n", member_name(model.table.version_attribute));
    }
    out += "}\n";
  });
  out += "\n/** One page of a list. */\nexport interface Page<T> {\n  items: T[];\n  nextToken?: string;\n}\n";
  for (const auto& pattern : model.patterns) {
    if (pattern.path.empty()) continue;
    const auto shapes =
        spelled(answer_shapes(pattern), [&](const auto& shape) { return typescript_shape(model, entities, shape); });
    const auto one = fmt::format("{}", fmt::join(shapes, " | "));
    out += fmt::format("\n/** The answer of `{}`. */\nexport type {} = {};\n", pattern.name,
                       names.take(pascal_case(pattern.name) + "Answer"),
                       pattern.single ? one : fmt::format("Page<{}>", one));
  }
  return out;
}

std::string cpp_types(const Model& model) {
  std::string out = fmt::format(
      "// Types of the model {}.  Made by `stator model types --language cpp`.\n#pragma once\n\n#include <cstdint>\n"
      "#include <optional>\n#include <string>\n#include <variant>\n#include <vector>\n\nnamespace {} {{\n\n"
      "// The effect of a patch on an attribute: absent keeps it, an empty Patch clears it.\n"
      "template <typename T>\nusing Patch = std::optional<std::optional<T>>;\n\n"
      "// One page of a list.\n"
      "template <typename T>\nstruct Page {{\n  std::vector<T> items;\n  std::optional<std::string> nextToken;\n}};\n",
      model.name, cpp_name(model.name));
  TypeNames names{"Patch", "Page"};
  const auto entities = each_type(model, names, [&](const Declared& type) {
    const auto& [name, purpose, members, entity] = type;
    std::string before;
    std::string body;
    for (const auto& member : members) {
      const auto& attribute = *member.attribute;
      const auto spelled = cpp_type(attribute.type, name + pascal_case(attribute.name), names, before);
      const auto own = cpp_member(name, attribute.name);
      if (!attribute.description.empty()) body += fmt::format("  // {}\n", one_line(attribute.description));
      if (member.nullable) {
        body += fmt::format("  Patch<{}> {};\n", spelled, own);
      } else if (member.optional) {
        body += fmt::format("  std::optional<{}> {};\n", spelled, own);
      } else {
        body += fmt::format("  {} {}{{}};\n", spelled, own);
      }
    }
    if (is_added(entity, model.table.type_attribute)) {
      body += fmt::format("  std::string {}{{{}}};\n", cpp_member(name, model.table.type_attribute),
                          json_string(entity->name));
    }
    if (is_added(entity, model.table.version_attribute) && entity->versioned) {
      body += fmt::format("  std::int64_t {}{{}};\n", cpp_member(name, model.table.version_attribute));
    }
    out += "\n" + before;
    if (!purpose.empty()) out += fmt::format("// {}\n", one_line(purpose));
    out += fmt::format("struct {} {{\n{}}};\n", name, body);
  });
  for (const auto& pattern : model.patterns) {
    if (pattern.path.empty()) continue;
    const auto name = pascal_case(pattern.name);
    std::string before;
    const auto shapes = spelled(answer_shapes(pattern), [&](const auto& shape) {
      return cpp_shape(model, entities, name, shape, names, before);
    });
    const auto one = cpp_one_of(shapes);
    out += before + fmt::format("\n// The answer of `{}`.\nusing {} = {};\n", pattern.name, names.take(name + "Answer"),
                                pattern.single ? one : fmt::format("Page<{}>", one));
  }
  out += fmt::format("\n}}  // namespace {}\n", cpp_name(model.name));
  return out;
}

}  // namespace stator::model::generate
