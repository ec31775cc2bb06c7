#include "stator/api/json/violations.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stator/api/json/base64_text.h"
#include "stator/api/json/request_check.h"
#include "stator/api/json/shape_constraints.h"

namespace stator::api {
namespace {

using value::JsonArray;
using value::JsonElement;
using value::JsonObject;
using value::JsonType;

constexpr std::size_t kMaxViolations = 10;  // the service lists no more
// Ours, so that the answer to a huge request stays small.
constexpr std::size_t kMaxPrintedBytes = std::size_t{64} << 10;  // of a value in a message
constexpr std::size_t kMaxPathBytes = std::size_t{4} << 10;      // of a path in a message
constexpr std::string_view kTableNamePattern = "[a-zA-Z0-9_.-]+";

constexpr std::string_view kEmptyAttributeValue =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";

// The name that the service gives a member in its own code, and so in its messages.
std::string inner_name(std::string_view member) {
  std::string name(member);
  if (!name.empty() && name.front() >= 'A' && name.front() <= 'Z')
    name.front() = static_cast<char>(name.front() - 'A' + 'a');
  return name;
}

std::string at_least_length(std::int64_t min) {
  return fmt::format("Member must have length greater than or equal to {}", min);
}
std::string at_most_length(std::int64_t max) {
  return fmt::format("Member must have length less than or equal to {}", max);
}
std::string at_least_value(std::int64_t min) {
  return fmt::format("Member must have value greater than or equal to {}", min);
}
std::string at_most_value(std::int64_t max) {
  return fmt::format("Member must have value less than or equal to {}", max);
}
std::string match_pattern(std::string_view pattern) {
  return fmt::format("Member must satisfy regular expression pattern: {}", pattern);
}
std::string be_of_enum(const Shape& shape) {
  return fmt::format("Member must satisfy enum value set: {}", shape.enum_text);
}

// All constraints of a shape, as they are listed for the members of a list or map.
std::string all_constraints(const Shape& shape) {
  std::string out = "[";
  const auto add = [&out](const std::string& constraint) {
    if (out.size() > 1) out += ", ";
    out += constraint;
  };
  if (shape.max != Shape::kNoMax) add(at_most_length(shape.max));
  if (shape.min != Shape::kNoMin) add(at_least_length(shape.min));
  if (shape.pattern != TextPattern::None) add(match_pattern(shape.pattern_text));
  if (!shape.enum_values.empty()) add(be_of_enum(shape));
  return out + "]";
}

std::string table_name_constraints() {
  return fmt::format("[{}, {}, {}]", at_most_length(kMaxTableName), at_least_length(kMinTableName),
                     match_pattern(kTableNamePattern));
}

// At most `bytes` of it, and no half character.
std::string_view shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while ((static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// Prints a value as the service's objects print themselves.
class Printer {
 public:
  std::string print(const Shape& shape, JsonElement json) {
    value(shape, json);
    return std::move(out_);
  }

 private:
  bool full() const { return out_.size() > kMaxPrintedBytes; }

  void value(const Shape& shape, JsonElement json) {
    if (json.is_null()) {
      out_ += "null";
      return;
    }
    switch (shape.type) {
      case ShapeType::String: out_ += json.string(); break;
      case ShapeType::Blob: {
        const auto digits = without_padding(json.string());
        out_ += fmt::format("java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]", digits.size() * 3 / 4);
        break;
      }
      case ShapeType::Boolean: out_ += json.boolean() ? "true" : "false"; break;
      case ShapeType::Integer:
      case ShapeType::Long: out_ += std::to_string(integer_of(json)); break;
      case ShapeType::Double:
      case ShapeType::Timestamp: out_ += fmt::format("{}", json.real()); break;
      case ShapeType::List: list(shape, json.array()); break;
      case ShapeType::Map: map(shape, json.object()); break;
      case ShapeType::Structure:
      case ShapeType::AttributeValue: structure(shape, json.object()); break;
    }
  }

  void list(const Shape& shape, JsonArray array) {
    std::string_view separator = "[";
    for (const auto element : array) {
      if (full()) return;
      out_ += separator;
      separator = ", ";
      value(*shape.element, element);
    }
    out_ += separator == "[" ? "[]" : "]";
  }

  void map(const Shape& shape, JsonObject object) {
    std::string_view separator = "{";
    for (const auto [key, element] : object) {
      if (full()) return;
      out_ += separator;
      separator = ", ";
      out_ += key;
      out_ += '=';
      value(*shape.element, element);
    }
    out_ += separator == "{" ? "{}" : "}";
  }

  void structure(const Shape& shape, JsonObject object) {
    out_ += shape.name;
    std::string_view separator = "(";
    for (const auto index : shape.print_order) {
      if (full()) return;
      const auto& member = shape.members[index];
      out_ += separator;
      separator = ", ";
      out_ += inner_name(member.name);
      out_ += '=';
      JsonElement found;
      if (object[member.name].get(found)) {
        value(*member.shape, found);
      } else {
        out_ += "null";
      }
      if (shape.type == ShapeType::AttributeValue) unpublished_types(member.name);
    }
    if (!shape.printed_extra.empty()) {
      out_ += separator;
      out_ += shape.printed_extra;
    }
    out_ += ')';
  }

  void unpublished_types(std::string_view after) {
    if (after == "B") out_ += ", iNT=null, dECIMAL=null, dOUBLE=null";
    if (after == "BS") out_ += ", iNTSET=null, dECIMALSET=null, dOUBLESET=null";
  }

  std::string out_;
};

std::string null_violation(std::string_view path) {
  return fmt::format("Value null at '{}' failed to satisfy constraint: Member must not be null",
                     shortened(path, kMaxPathBytes));
}

std::string violation(std::string_view value, std::string_view path, std::string_view constraint) {
  return fmt::format("Value '{}' at '{}' failed to satisfy constraint: {}", shortened(value, kMaxPrintedBytes),
                     shortened(path, kMaxPathBytes), constraint);
}

std::string unquoted_violation(std::string_view path, std::string_view constraint) {
  return fmt::format("Value at '{}' failed to satisfy constraint: {}", shortened(path, kMaxPathBytes), constraint);
}

Error report(const std::vector<std::string>& violations) {
  return validation_error(fmt::format("{} validation error{} detected: {}", violations.size(),
                                      violations.size() == 1 ? "" : "s", fmt::join(violations, "; ")));
}

// The violations of one member that is no JSON.
class MemberViolations {
 public:
  MemberViolations(std::string_view path, std::string_view value, bool quoted)
      : path_(path), value_(value), quoted_(quoted) {}

  void add_if(bool broken, const std::string& constraint) {
    if (broken)
      found_.push_back(quoted_ ? violation(value_, path_, constraint) : unquoted_violation(path_, constraint));
  }
  Result<void> result() const { return found_.empty() ? Result<void>() : report(found_); }

 private:
  std::string_view path_, value_;
  bool quoted_;
  std::vector<std::string> found_;
};

void add_table_name(std::vector<std::string>& violations, std::string_view path, std::string_view name) {
  if (is_table_name_or_arn(name)) return;
  const auto add = [&](const std::string& constraint) { violations.push_back(violation(name, path, constraint)); };
  if (is_arn(name)) return add(at_most_length(kMaxTableArn));
  const auto length = length_of(name);
  if (length < kMinTableName) add(at_least_length(kMinTableName));
  if (length > kMaxTableName) add(at_most_length(kMaxTableName));
  if (!matches(TextPattern::Name, name)) add(match_pattern(kTableNamePattern));
}

class Explanation {
 public:
  Error explain(const Shape& input, JsonObject body, bool has_null_attribute_value);

 private:
  void early(const Shape& input, JsonObject body);
  void structure(const Shape& shape, JsonObject object);
  void value(const Shape& shape, JsonElement json);
  void contents(const Shape& shape, JsonElement json);
  void list(const Shape& shape, JsonElement json);
  void map(const Shape& shape, JsonElement json);
  void own_constraints(const Shape& shape, JsonElement json);
  void lengths(const Shape& shape, JsonElement json, std::int64_t length);

  void add_null() {
    if (violations_.size() < kMaxViolations) violations_.push_back(null_violation(path_));
  }
  void add(const Shape& shape, JsonElement json, std::string_view constraint) {
    if (violations_.size() < kMaxViolations) {
      violations_.push_back(violation(Printer().print(shape, json), path_, constraint));
    }
  }

  // Of a constraint of the value's own shape.
  void add_own(const Shape& shape, JsonElement json, std::string_view constraint) {
    if (shape.quoted) return add(shape, json, constraint);
    if (violations_.size() < kMaxViolations) violations_.push_back(unquoted_violation(path_, constraint));
  }

  // Runs `step` with the path extended.
  template <typename Step>
  void under(std::string_view segment, Step step) {
    const auto size = path_.size();
    if (size != 0) path_ += '.';
    path_ += segment;
    step();
    path_.resize(size);
  }

  std::string path_;
  std::vector<std::string> violations_;
  std::vector<std::string> late_names_;
  std::optional<Error> first_;   // reported alone, before the violations
  std::string_view empty_text_;  // reported alone, after them
};

// The member as the service sees it: the last one, should the body repeat its name.
std::optional<JsonElement> find_member(JsonObject object, std::string_view name) {
  std::optional<JsonElement> found;
  for (const auto [key, json] : object) {
    if (key == name) found = json;
  }
  return found && found->is_null() ? std::nullopt : found;
}

Error Explanation::explain(const Shape& input, JsonObject body, bool has_null_attribute_value) {
  early(input, body);
  if (first_) return *std::move(first_);
  structure(input, body);
  if (!violations_.empty()) return report(violations_);
  if (!late_names_.empty()) return report(late_names_);
  if (!empty_text_.empty()) return validation_error(std::string(empty_text_));
  if (has_null_attribute_value) return validation_error(std::string(kEmptyAttributeValue));
  // Only a repeated member can break a constraint in one place and keep it in the other.
  return {ErrorCode::Serialization, ""};
}

void Explanation::early(const Shape& input, JsonObject body) {
  for (const auto index : input.check_order) {
    const auto& member = input.members[index];
    if (first_) return;
    if (member.absent_text.empty() && member.name_check != NameCheck::Early && member.name_check != NameCheck::Legacy)
      continue;
    const auto found = find_member(body, member.name);
    if (!found) {
      if (!member.absent_text.empty()) first_ = validation_error(std::string(member.absent_text));
      continue;
    }
    const auto name = found->string();
    if (member.name_check == NameCheck::Early) {
      std::vector<std::string> violations;
      add_table_name(violations, inner_name(member.name), name);
      if (!violations.empty()) first_ = report(violations);
    } else if (member.name_check == NameCheck::Legacy && !within(*member.shape, length_of(name))) {
      first_ = validation_error(fmt::format("{} must be at least {} characters long and at most {} characters long",
                                            member.name == "IndexName" ? "IndexName" : "TableName", kMinTableName,
                                            kMaxTableName));
    }
  }
}

void Explanation::structure(const Shape& shape, JsonObject object) {
  for (const auto index : shape.check_order) {
    if (violations_.size() >= kMaxViolations) return;
    const auto& member = shape.members[index];
    under(inner_name(member.name), [&] {
      const auto found = find_member(object, member.name);
      if (!found) {
        if ((shape.required >> index & 1) != 0) add_null();
        return;
      }
      value(*member.shape, *found);
      if (member.name_check == NameCheck::Late && late_names_.size() < kMaxViolations) {
        add_table_name(late_names_, path_, found->string());
      }
      if (!member.empty_text.empty() && is_empty(*found)) empty_text_ = member.empty_text;
    });
  }
}

void Explanation::value(const Shape& shape, JsonElement json) {
  own_constraints(shape, json);
  contents(shape, json);
}

void Explanation::contents(const Shape& shape, JsonElement json) {
  switch (shape.type) {
    case ShapeType::List: return list(shape, json);
    case ShapeType::Map: return map(shape, json);
    case ShapeType::Structure:
    case ShapeType::AttributeValue: return structure(shape, json.object());
    default: return;
  }
}

void Explanation::list(const Shape& shape, JsonElement json) {
  const auto& element_shape = *shape.element;
  const auto array = json.array();
  if (element_shape.constrained()) {
    for (const auto element : array) {
      if (element.is_null() || holds(element_shape, element)) continue;
      add(shape, json, fmt::format("Member must satisfy constraint: {}", all_constraints(element_shape)));
      break;
    }
  }
  std::size_t position = 0;
  for (const auto element : array) {
    if (violations_.size() >= kMaxViolations) return;
    under(fmt::format("{}.member", ++position), [&] {
      if (!element.is_null()) return contents(element_shape, element);
      if (element_shape.type != ShapeType::AttributeValue) add_null();
    });
  }
}

void Explanation::map(const Shape& shape, JsonElement json) {
  const auto& element_shape = *shape.element;
  const auto object = json.object();
  const bool table_names = takes_table_names(shape);
  bool bad_key = false;
  bool bad_value = false;
  for (const auto [key, element] : object) {
    bad_key |= table_names ? !is_table_name_or_arn(key) : !holds(*shape.key, key);
    bad_value |= !element.is_null() && !holds(element_shape, element);
  }
  if (bad_key) {
    add(shape, json,
        fmt::format("Map keys must satisfy constraint: {}",
                    table_names ? table_name_constraints() : all_constraints(*shape.key)));
  }
  if (bad_value) add(shape, json, fmt::format("Map value must satisfy constraint: {}", all_constraints(element_shape)));
  for (const auto [key, element] : object) {
    if (violations_.size() >= kMaxViolations) return;
    under(fmt::format("{}.member", key), [&] {
      if (!element.is_null()) return contents(element_shape, element);
      if (element_shape.type != ShapeType::AttributeValue) add_null();
    });
  }
}

void Explanation::lengths(const Shape& shape, JsonElement json, std::int64_t length) {
  if (length < shape.min) add_own(shape, json, at_least_length(shape.min));
  if (length > shape.max) add_own(shape, json, at_most_length(shape.max));
}

void Explanation::own_constraints(const Shape& shape, JsonElement json) {
  if (!shape.constrained()) return;
  switch (shape.type) {
    case ShapeType::String: {
      const auto text = json.string();
      const auto pattern = [&] {
        if (!matches(shape.pattern, text)) add_own(shape, json, match_pattern(shape.pattern_text));
      };
      if (!shape.length_first) pattern();
      lengths(shape, json, length_of(text));
      if (shape.length_first) pattern();
      if (!in_enum(shape, text)) add_own(shape, json, be_of_enum(shape));
      return;
    }
    case ShapeType::Integer:
    case ShapeType::Long: {
      const auto number = integer_of(json);
      if (number < shape.min) add_own(shape, json, at_least_value(shape.min));
      if (number > shape.max) add_own(shape, json, at_most_value(shape.max));
      return;
    }
    case ShapeType::List: return lengths(shape, json, static_cast<std::int64_t>(json.array().size()));
    case ShapeType::Map: return lengths(shape, json, static_cast<std::int64_t>(json.object().size()));
    default: return;
  }
}

}  // namespace

Error explain_violations(const Shape& input, JsonObject body, bool has_null_attribute_value) {
  return Explanation().explain(input, body, has_null_attribute_value);
}

Result<void> check_text(const Shape& shape, std::string_view path, std::string_view text) {
  if (holds(shape, text)) return {};
  MemberViolations violations(path, text, shape.quoted);
  const auto add_pattern = [&] { violations.add_if(!matches(shape.pattern, text), match_pattern(shape.pattern_text)); };
  const auto length = length_of(text);
  if (!shape.length_first) add_pattern();
  violations.add_if(length < shape.min, at_least_length(shape.min));
  violations.add_if(length > shape.max, at_most_length(shape.max));
  if (shape.length_first) add_pattern();
  violations.add_if(!in_enum(shape, text), be_of_enum(shape));
  return violations.result();
}

Result<void> check_number(const Shape& shape, std::string_view path, std::int64_t number) {
  if (within(shape, number)) return {};
  const auto text = std::to_string(number);
  MemberViolations violations(path, text, shape.quoted);
  violations.add_if(number < shape.min, at_least_value(shape.min));
  violations.add_if(number > shape.max, at_most_value(shape.max));
  return violations.result();
}

Result<void> check_list(const Shape& shape, std::string_view path, std::size_t members) {
  const auto length = static_cast<std::int64_t>(members);
  if (within(shape, length)) return {};
  MemberViolations violations(path, {}, false);
  violations.add_if(length < shape.min, at_least_length(shape.min));
  violations.add_if(length > shape.max, at_most_length(shape.max));
  return violations.result();
}

}  // namespace stator::api
