#include "stator/api/request_check.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace stator::api {
namespace {

using value::JsonArray;
using value::JsonElement;
using value::JsonObject;
using JsonType = simdjson::dom::element_type;

constexpr std::size_t kMaxViolations = 10;  // the service lists no more
// Ours, so that the answer to a huge request stays small.
constexpr std::size_t kMaxPrintedBytes = std::size_t{64} << 10;  // of a value in a message
constexpr std::size_t kMaxPathBytes = std::size_t{4} << 10;      // of a path in a message
constexpr std::int64_t kMaxAttributeName = 65535;
constexpr std::int64_t kMinTableName = 3;
constexpr std::int64_t kMaxTableName = 255;
constexpr std::int64_t kMaxTableArn = 1024;
constexpr std::string_view kTableNamePattern = "[a-zA-Z0-9_.-]+";

constexpr std::string_view kEmptyAttributeValue =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";

// Where a value stands decides the words for a wrong type.
enum class Place { Field, Element };

// ---- Lengths, names and single constraints

// The number of UTF-16 units, which is what the service counts.
std::int64_t length_of(std::string_view text) {
  std::int64_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

bool is_arn(std::string_view text) { return text.starts_with("arn:"); }

bool is_table_name(std::string_view text) {
  return text.size() >= kMinTableName && text.size() <= kMaxTableName && matches(Pattern::Name, text);
}

bool is_table_name_or_arn(std::string_view text) {
  return is_arn(text) ? text.size() <= kMaxTableArn : is_table_name(text);
}

bool takes_table_names(const Shape& map) { return map.key->name == "TableArn"; }

bool within(const Shape& shape, std::int64_t measure) { return measure >= shape.min && measure <= shape.max; }

bool has_length(const Shape& shape, std::string_view text) {
  if (shape.min == Shape::kNoMin && shape.max == Shape::kNoMax) return true;
  // Each unit takes one to three bytes, so most texts need no counting.
  const auto bytes = static_cast<std::int64_t>(text.size());
  if (bytes <= shape.max && bytes / 3 >= shape.min) return true;
  return within(shape, length_of(text));
}

bool in_enum(const Shape& shape, std::string_view text) {
  if (shape.enum_values.empty()) return true;
  for (const auto value : shape.enum_values) {
    if (value == text) return true;
  }
  return false;
}

bool holds(const Shape& shape, std::string_view text) {
  return !shape.constrained() || (has_length(shape, text) && matches(shape.pattern, text) && in_enum(shape, text));
}

// Whether a value of the right type keeps the constraints of its own shape, not those of what it contains.
bool holds(const Shape& shape, JsonElement json) {
  switch (shape.type) {
    case ShapeType::String: return holds(shape, json.get_string().value_unsafe());
    case ShapeType::Integer:
    case ShapeType::Long: return within(shape, integer_of(json));
    case ShapeType::List: return within(shape, static_cast<std::int64_t>(json.get_array().value_unsafe().size()));
    case ShapeType::Map: return within(shape, static_cast<std::int64_t>(json.get_object().value_unsafe().size()));
    default: return true;
  }
}

bool is_empty(JsonElement json) {
  JsonObject object;
  return json.get(object) == simdjson::SUCCESS && object.begin() == object.end();
}

// ---- Base64

constexpr auto kBase64 = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

int base64_value(char c) { return kBase64[static_cast<unsigned char>(c)]; }

std::string_view without_padding(std::string_view text) {
  for (int pads = 0; pads < 2 && text.ends_with('='); ++pads) text.remove_suffix(1);
  return text;
}

// Bits of the last digit that belong to no byte.
int stray_bits(std::size_t digits) { return digits % 4 == 2 ? 0xF : digits % 4 == 3 ? 0x3 : 0; }

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const auto digits = without_padding(text);
  int all = 0;
  for (const char c : digits) all |= base64_value(c);  // a bad one is negative, and stays so
  return all >= 0 && (digits.empty() || (base64_value(digits.back()) & stray_bits(digits.size())) == 0);
}

std::string base64_error(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fmt::format("Base64 encoded length is expected a multiple of 4 bytes but found: {}", text.size());
  }
  const auto digits = without_padding(text);
  if (!digits.empty() && base64_value(digits.back()) >= 0 &&
      (base64_value(digits.back()) & stray_bits(digits.size())) != 0) {
    return "Invalid last non-pad Base64 character dectected";  // the service's spelling
  }
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (base64_value(digits[i]) >= 0) continue;
    std::size_t end = i + 1;
    while (end < digits.size() && (static_cast<unsigned char>(digits[end]) & 0xC0) == 0x80) ++end;
    return fmt::format("Invalid base 64 character: '{}'", digits.substr(i, end - i));
  }
  return "Invalid base 64 text";
}

// ---- Words for wrong types

constexpr std::string_view kUnexpectedObject = "Start of structure or map found where not expected";
constexpr std::string_view kUnexpectedField = "Unexpected field type";
constexpr std::string_view kUnexpectedValue = "Unexpected value type in payload";
// What the service's JSON reader says when a list or map of lists or maps holds a scalar.
constexpr std::string_view kUnexpectedElement =
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of "
    "loader "
    "'bootstrap')";
constexpr std::string_view kAttributeMapType =
    "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>";

std::string_view token_name(JsonType type) {
  switch (type) {
    case JsonType::STRING: return "STRING_VALUE";
    case JsonType::DOUBLE: return "DECIMAL_VALUE";
    default: return "NUMBER_VALUE";
  }
}

std::string_view scalar_name(ShapeType type) {
  switch (type) {
    case ShapeType::Boolean: return "Boolean";
    case ShapeType::Integer: return "Integer";
    case ShapeType::Long: return "Long";
    case ShapeType::Double: return "Double";
    case ShapeType::Timestamp: return "Date";
    default: return "String";
  }
}

std::string type_name(const Shape& shape) {
  switch (shape.type) {
    case ShapeType::Structure:
    case ShapeType::AttributeValue: return fmt::format("com.amazonaws.dynamodb.v20120810.{}", shape.name);
    case ShapeType::List: return fmt::format("java.util.List<{}>", type_name(*shape.element));
    case ShapeType::Map: return fmt::format("java.util.Map<java.lang.String, {}>", type_name(*shape.element));
    case ShapeType::Blob: return "java.nio.ByteBuffer";
    case ShapeType::Timestamp: return "java.util.Date";
    default: return fmt::format("java.lang.{}", scalar_name(shape.type));
  }
}

std::string scalar_error(ShapeType type, JsonElement json) {
  const auto found = json.type();
  if (found == JsonType::OBJECT) return std::string(kUnexpectedObject);
  if (found == JsonType::ARRAY) {
    return fmt::format("Unrecognized collection type class {}", type_name(Shape{.type = type}));
  }
  if (type == ShapeType::Blob) return "only base-64-encoded strings are convertible to bytes";
  if (type == ShapeType::Boolean && found == JsonType::STRING) return "Unexpected token received from parser";
  const auto token =
      found == JsonType::BOOL ? (json.get_bool().value_unsafe() ? "TRUE_VALUE" : "FALSE_VALUE") : token_name(found);
  return fmt::format("{} cannot be converted to {}", token, scalar_name(type));
}

std::string list_error(JsonElement json, Place place) {
  if (json.is_object()) return std::string(kUnexpectedObject);
  return std::string(place == Place::Field ? kUnexpectedField : kUnexpectedElement);
}

std::string map_error(std::string_view type, JsonElement json, Place place) {
  if (json.is_array()) return fmt::format("Unrecognized collection type {}", type);
  return std::string(place == Place::Field ? kUnexpectedField : kUnexpectedElement);
}

std::string structure_error(std::string_view name, JsonElement json, Place place) {
  if (json.is_array()) {
    return fmt::format("Unrecognized collection type class com.amazonaws.dynamodb.v20120810.{}", name);
  }
  return std::string(place == Place::Field ? kUnexpectedField : kUnexpectedValue);
}

// ---- The first walk: types, and whether there is anything to explain

// Walks the body once in its own order.  Stops at the first value of a wrong type; of broken constraints it only notes
// that there are some, so that a good request pays for no bookkeeping.
class TypeCheck {
 public:
  // Each returns false when it stopped at an error.
  bool structure(const Shape& shape, JsonObject object);

  bool violated() const { return violated_; }
  bool has_null_attribute_value() const { return null_attribute_value_; }
  std::string take_error() { return std::move(error_); }

 private:
  bool value(const Shape& shape, JsonElement json, Place place);
  bool list(const Shape& shape, JsonElement json, Place place);
  bool map(const Shape& shape, JsonElement json, Place place);
  bool attribute_value(JsonElement json, Place place);
  bool attribute_list(JsonElement json);
  bool attribute_map(JsonElement json, Place place, std::int64_t max_name);
  bool text(JsonElement json);
  bool blob(JsonElement json);
  bool boolean(JsonElement json);
  template <typename Check>
  bool set(JsonElement json, Check check);

  bool fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  bool violated_ = false;
  bool null_attribute_value_ = false;
  std::string error_;
};

bool TypeCheck::structure(const Shape& shape, JsonObject object) {
  std::uint64_t given = 0, seen = 0;
  for (const auto [name, json] : object) {
    const auto index = shape.find(name);
    if (index == shape.members.size()) continue;
    // Who reads the request reads one of the two, and must not find another than was checked.
    const auto bit = std::uint64_t{1} << index;
    if ((given & bit) != 0) return fail(fmt::format("Duplicate member: {}", name));
    given |= bit;
    if (json.is_null()) continue;
    seen |= bit;
    const auto& member = shape.members[index];
    if (!value(*member.shape, json, Place::Field)) return false;
    if (member.name_check != NameCheck::None && !is_table_name_or_arn(json.get_string().value_unsafe()))
      violated_ = true;
    if (!member.empty_text.empty() && is_empty(json)) violated_ = true;
  }
  if ((shape.required & ~seen) != 0) violated_ = true;
  return true;
}

bool TypeCheck::value(const Shape& shape, JsonElement json, Place place) {
  switch (shape.type) {
    case ShapeType::String: {
      std::string_view found;
      if (json.get(found) != simdjson::SUCCESS) return fail(scalar_error(shape.type, json));
      if (!holds(shape, found)) violated_ = true;
      return true;
    }
    case ShapeType::Blob: return blob(json);
    case ShapeType::Boolean: return boolean(json);
    case ShapeType::Integer:
    case ShapeType::Long:
    case ShapeType::Double:
    case ShapeType::Timestamp:
      if (!json.is_number()) return fail(scalar_error(shape.type, json));
      if (!holds(shape, json)) violated_ = true;
      return true;
    case ShapeType::List: return list(shape, json, place);
    case ShapeType::Map: return map(shape, json, place);
    case ShapeType::AttributeValue: return attribute_value(json, place);
    case ShapeType::Structure: {
      JsonObject object;
      if (json.get(object) != simdjson::SUCCESS) return fail(structure_error(shape.name, json, place));
      return structure(shape, object);
    }
  }
  return true;
}

bool TypeCheck::list(const Shape& shape, JsonElement json, Place place) {
  JsonArray array;
  if (json.get(array) != simdjson::SUCCESS) return fail(list_error(json, place));
  if (shape.constrained() && !holds(shape, json)) violated_ = true;
  for (const auto element : array) {
    if (element.is_null()) {
      violated_ = true;
      if (shape.element->type == ShapeType::AttributeValue) null_attribute_value_ = true;
    } else if (!value(*shape.element, element, Place::Element)) {
      return false;
    }
  }
  return true;
}

bool TypeCheck::map(const Shape& shape, JsonElement json, Place place) {
  if (shape.element->type == ShapeType::AttributeValue) return attribute_map(json, place, shape.key->max);
  JsonObject object;
  if (json.get(object) != simdjson::SUCCESS) return fail(map_error(type_name(shape), json, place));
  if (shape.constrained() && !holds(shape, json)) violated_ = true;
  const bool table_names = takes_table_names(shape);
  std::unordered_set<std::string_view> tables;
  for (const auto [key, element] : object) {
    if (table_names ? !is_table_name_or_arn(key) : !holds(*shape.key, key)) violated_ = true;
    if (table_names && !tables.insert(key).second) return fail(fmt::format("Duplicate member: {}", key));
    if (element.is_null()) {
      violated_ = true;
    } else if (!value(*shape.element, element, Place::Element)) {
      return false;
    }
  }
  return true;
}

bool TypeCheck::attribute_map(JsonElement json, Place place, std::int64_t max_name) {
  JsonObject object;
  if (json.get(object) != simdjson::SUCCESS) return fail(map_error(kAttributeMapType, json, place));
  for (const auto [name, element] : object) {
    if (static_cast<std::int64_t>(name.size()) > max_name && length_of(name) > max_name) violated_ = true;
    if (!attribute_value(element, Place::Element)) return false;
  }
  return true;
}

bool TypeCheck::attribute_list(JsonElement json) {
  JsonArray array;
  if (json.get(array) != simdjson::SUCCESS) return fail(list_error(json, Place::Field));
  for (const auto element : array) {
    if (!attribute_value(element, Place::Element)) return false;
  }
  return true;
}

bool TypeCheck::attribute_value(JsonElement json, Place place) {
  JsonObject object;
  if (json.get(object) != simdjson::SUCCESS) {
    if (!json.is_null()) return fail(structure_error("AttributeValue", json, place));
    violated_ = null_attribute_value_ = true;
    return true;
  }
  for (const auto [type, found] : object) {
    bool good = true;
    if (found.is_null()) continue;
    if (type.size() == 1) {
      switch (type.front()) {
        case 'S':
        case 'N': good = text(found); break;
        case 'B': good = blob(found); break;
        case 'M': good = attribute_map(found, Place::Field, kMaxAttributeName); break;
        case 'L': good = attribute_list(found); break;
        default: break;
      }
    } else if (type == "BOOL" || type == "NULL") {
      good = boolean(found);
    } else if (type == "SS" || type == "NS") {
      good = set(found, [this](JsonElement member) { return text(member); });
    } else if (type == "BS") {
      good = set(found, [this](JsonElement member) { return blob(member); });
    }
    if (!good) return false;
  }
  return true;
}

template <typename Check>
bool TypeCheck::set(JsonElement json, Check check) {
  JsonArray array;
  if (json.get(array) != simdjson::SUCCESS) return fail(list_error(json, Place::Field));
  for (const auto member : array) {
    if (member.is_null()) {
      violated_ = true;
    } else if (!check(member)) {
      return false;
    }
  }
  return true;
}

bool TypeCheck::text(JsonElement json) { return json.is_string() || fail(scalar_error(ShapeType::String, json)); }

bool TypeCheck::blob(JsonElement json) {
  std::string_view found;
  if (json.get(found) != simdjson::SUCCESS) return fail(scalar_error(ShapeType::Blob, json));
  return is_base64(found) || fail(base64_error(found));
}

bool TypeCheck::boolean(JsonElement json) { return json.is_bool() || fail(scalar_error(ShapeType::Boolean, json)); }

// ---- The second walk: what is wrong, in the service's order and words

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
  if (shape.pattern != Pattern::None) add(match_pattern(shape.pattern_text));
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
      case ShapeType::String: out_ += json.get_string().value_unsafe(); break;
      case ShapeType::Blob: {
        const auto digits = without_padding(json.get_string().value_unsafe());
        out_ += fmt::format("java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]", digits.size() * 3 / 4);
        break;
      }
      case ShapeType::Boolean: out_ += json.get_bool().value_unsafe() ? "true" : "false"; break;
      case ShapeType::Integer:
      case ShapeType::Long: out_ += std::to_string(integer_of(json)); break;
      case ShapeType::Double:
      case ShapeType::Timestamp: out_ += fmt::format("{}", json.get_double().value_unsafe()); break;
      case ShapeType::List: list(shape, json.get_array().value_unsafe()); break;
      case ShapeType::Map: map(shape, json.get_object().value_unsafe()); break;
      case ShapeType::Structure:
      case ShapeType::AttributeValue: structure(shape, json.get_object().value_unsafe()); break;
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
      if (object.at_key(member.name).get(found) == simdjson::SUCCESS) {
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

Error report(const std::vector<std::string>& violations) {
  return validation_error(fmt::format("{} validation error{} detected: {}", violations.size(),
                                      violations.size() == 1 ? "" : "s", fmt::join(violations, "; ")));
}

void add_table_name(std::vector<std::string>& violations, std::string_view path, std::string_view name) {
  if (is_table_name_or_arn(name)) return;
  const auto add = [&](const std::string& constraint) { violations.push_back(violation(name, path, constraint)); };
  if (is_arn(name)) return add(at_most_length(kMaxTableArn));
  const auto length = length_of(name);
  if (length < kMinTableName) add(at_least_length(kMinTableName));
  if (length > kMaxTableName) add(at_most_length(kMaxTableName));
  if (!matches(Pattern::Name, name)) add(match_pattern(kTableNamePattern));
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
    const auto name = found->get_string().value_unsafe();
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
        add_table_name(late_names_, path_, found->get_string().value_unsafe());
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
    case ShapeType::AttributeValue: return structure(shape, json.get_object().value_unsafe());
    default: return;
  }
}

void Explanation::list(const Shape& shape, JsonElement json) {
  const auto& element_shape = *shape.element;
  const auto array = json.get_array().value_unsafe();
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
  const auto object = json.get_object().value_unsafe();
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
  if (length < shape.min) add(shape, json, at_least_length(shape.min));
  if (length > shape.max) add(shape, json, at_most_length(shape.max));
}

void Explanation::own_constraints(const Shape& shape, JsonElement json) {
  if (!shape.constrained()) return;
  switch (shape.type) {
    case ShapeType::String: {
      const auto text = json.get_string().value_unsafe();
      const auto pattern = [&] {
        if (!matches(shape.pattern, text)) add(shape, json, match_pattern(shape.pattern_text));
      };
      if (!shape.length_first) pattern();
      lengths(shape, json, length_of(text));
      if (shape.length_first) pattern();
      if (!in_enum(shape, text)) add(shape, json, be_of_enum(shape));
      return;
    }
    case ShapeType::Integer:
    case ShapeType::Long: {
      const auto number = integer_of(json);
      if (number < shape.min)
        add(shape, json, fmt::format("Member must have value greater than or equal to {}", shape.min));
      if (number > shape.max)
        add(shape, json, fmt::format("Member must have value less than or equal to {}", shape.max));
      return;
    }
    case ShapeType::List:
      return lengths(shape, json, static_cast<std::int64_t>(json.get_array().value_unsafe().size()));
    case ShapeType::Map:
      return lengths(shape, json, static_cast<std::int64_t>(json.get_object().value_unsafe().size()));
    default: return;
  }
}

}  // namespace

Result<void> check_request(const Shape& input, value::JsonElement body) {
  JsonObject object;
  if (body.get(object) != simdjson::SUCCESS) {
    return Error{ErrorCode::Serialization,
                 std::string(body.is_array() ? "Start of list found where not expected" : kUnexpectedValue)};
  }
  TypeCheck types;
  if (!types.structure(input, object)) return Error{ErrorCode::Serialization, types.take_error()};
  if (types.violated()) [[unlikely]] {
    return Explanation().explain(input, object, types.has_null_attribute_value());
  }
  return {};
}

std::int64_t integer_of(value::JsonElement number) {
  std::int64_t integer = 0;
  if (number.get(integer) == simdjson::SUCCESS) return integer;
  std::uint64_t large = 0;
  if (number.get(large) == simdjson::SUCCESS) return Shape::kNoMax;  // what fits was taken above
  double real = 0;
  if (number.get(real) != simdjson::SUCCESS) return 0;
  real = std::floor(real);
  if (real >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (real < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(real);
}

Result<void> check_table_name(std::string_view path, std::string_view name_or_arn) {
  std::vector<std::string> violations;
  add_table_name(violations, path, name_or_arn);
  if (violations.empty()) return {};
  return report(violations);
}

}  // namespace stator::api
