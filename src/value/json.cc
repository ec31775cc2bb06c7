#include "stator/value/json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "stator/value/item_size.h"
#include "stator/value/plain_text.h"

namespace stator::value {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

Error serialization_error(std::string message) { return {ErrorCode::Serialization, std::move(message)}; }

// ---------------------------------------------------------------------------------------------------------- parsing

// True when an escape names half a character: \udc00 without the \ud800 that makes it whole.  simdjson, which has
// accepted `text`, refuses the first half alone but writes the second half out as bytes that are not UTF-8.
bool has_lone_surrogate(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while ((at = static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)))) != nullptr) {
    if (at[1] != 'u') {
      at += 2;
      continue;
    }
    const char second = at[3];
    if (at[2] != 'd' && at[2] != 'D') {
      at += 6;
    } else if (second == '8' || second == '9' || (second | 0x20) == 'a' || (second | 0x20) == 'b') {
      at += 12;  // its other half follows, or it would have been refused
    } else if ((second | 0x20) >= 'c' && (second | 0x20) <= 'f') {
      return true;
    } else {
      at += 6;
    }
  }
  return false;
}

// --------------------------------------------------------------------------------------------------------- decoding

// Reads attribute values.  `max_levels` bounds the nesting, and thereby the recursion.
class Decoder {
 public:
  explicit Decoder(int max_levels) : max_levels_(max_levels) {}

  Result<AttributeMap> item(JsonElement json) const { return map(json, 1); }

  Result<AttributeValue> value(JsonElement json, int level) const {
    if (level > max_levels_) return nesting_error();
    JsonObject members;
    if (!json.get(members)) {
      if (json.is_null()) return empty_value();
      return serialization_error(json.is_array() ? "Unrecognized collection type class "
                                                   "com.amazonaws.dynamodb.v20120810.AttributeValue"
                                                 : "Unexpected value type in payload");
    }
    // One member is the rule, so that one is built where it is returned from.
    auto member = members.begin();
    const auto end = members.end();
    for (; member != end; ++member) {
      const auto type = known_type(member.key());
      if (!type || member.value().is_null()) continue;  // the service ignores what it does not know
      auto decoded = typed(*type, member.value(), level);
      if (!decoded) return decoded;
      if (++member != end) return only_type(*type, std::move(decoded), member, end, level);
      return decoded;
    }
    return empty_value();
  }

 private:
  static Error empty_value() {
    return validation_error("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  }

  static std::optional<Type> known_type(std::string_view name) {
    switch (name.size()) {
      case 1:
        switch (name[0]) {
          case 'S': return Type::S;
          case 'N': return Type::N;
          case 'B': return Type::B;
          case 'M': return Type::M;
          case 'L': return Type::L;
          default: return std::nullopt;
        }
      case 2:
        if (name[1] != 'S') return std::nullopt;
        if (name[0] == 'S') return Type::SS;
        if (name[0] == 'N') return Type::NS;
        if (name[0] == 'B') return Type::BS;
        return std::nullopt;
      case 4:
        if (name == "BOOL") return Type::Bool;
        if (name == "NULL") return Type::Null;
        return std::nullopt;
      default: return std::nullopt;
    }
  }

  // `decoded` is of type `type`; looks at the members that follow it.  A second type is refused, after its content has
  // been checked; if one type is given twice, the later value stays, as in any JSON object.
  Result<AttributeValue> only_type(Type type, Result<AttributeValue> decoded, JsonObject::iterator member,
                                   JsonObject::iterator end, int level) const {
    bool several = false;
    for (; member != end; ++member) {
      const auto other = known_type(member.key());
      if (!other || member.value().is_null()) continue;
      decoded = typed(*other, member.value(), level);
      if (!decoded) return decoded;
      several |= *other != type;
    }
    if (several) {
      return validation_error(
          "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
          "datatypes");
    }
    return decoded;
  }

  Result<AttributeValue> typed(Type type, JsonElement json, int level) const {
    switch (type) {
      case Type::S: return AttributeValue(std::string(TRY(text(json))));
      case Type::N: return AttributeValue(TRY(Number::parse(TRY(text(json)))));
      case Type::B: return AttributeValue(Binary{TRY(binary(json))});
      case Type::SS: return string_set(json);
      case Type::NS: return number_set(json);
      case Type::BS: return binary_set(json);
      case Type::M: return AttributeValue(TRY(map(json, level + 1)));
      case Type::L: return list(json, level + 1);
      case Type::Null:
        if (!TRY(boolean(json))) {
          return validation_error(
              "One or more parameter values were invalid: Null attribute value types must have the value of true");
        }
        return AttributeValue(Null{});
      case Type::Bool: return AttributeValue::boolean(TRY(boolean(json)));
    }
    STATOR_ASSERT(false, "a Type outside its enumeration");
  }

  Result<AttributeMap> map(JsonElement json, int level) const {
    JsonObject members;
    if (!json.get(members)) {
      if (json.is_array()) {
        return serialization_error(
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>");
      }
      return serialization_error("Unexpected field type");
    }
    std::vector<AttributeMap::Entry> entries;
    entries.reserve(members.size());
    for (const auto [name, json_value] : members) {
      auto decoded = value(json_value, level);
      if (!decoded) [[unlikely]]
        return std::move(decoded).error();
      entries.push_back({std::string(name), *std::move(decoded)});
    }
    return AttributeMap::from_unsorted(std::move(entries));
  }

  Result<AttributeValue> list(JsonElement json, int level) const {
    const JsonArray array = TRY(elements(json));
    List list;
    list.reserve(array.size());
    for (const JsonElement element : array) list.push_back(TRY(value(element, level)));
    return AttributeValue(std::move(list));
  }

  Result<AttributeValue> string_set(JsonElement json) const {
    const JsonArray array = TRY(elements(json));
    std::vector<std::string> members;
    members.reserve(array.size());
    for (const JsonElement element : array) members.emplace_back(TRY(text(element)));
    return make_string_set(std::move(members));
  }

  Result<AttributeValue> number_set(JsonElement json) const {
    const JsonArray array = TRY(elements(json));
    std::vector<Number> members;
    members.reserve(array.size());
    for (const JsonElement element : array) members.push_back(TRY(Number::parse(TRY(text(element)))));
    return make_number_set(std::move(members));
  }

  Result<AttributeValue> binary_set(JsonElement json) const {
    const JsonArray array = TRY(elements(json));
    std::vector<std::string> members;
    members.reserve(array.size());
    for (const JsonElement element : array) members.push_back(TRY(binary(element)));
    return make_binary_set(std::move(members));
  }

  static Result<JsonArray> elements(JsonElement json) {
    JsonArray array;
    if (json.get(array)) [[likely]]
      return array;
    return serialization_error(json.is_object() ? "Start of structure or map found where not expected"
                                                : "Unexpected field type");
  }

  static Result<std::string_view> text(JsonElement json) {
    std::string_view text;
    if (json.get(text)) [[likely]]
      return text;
    switch (json.type()) {
      case JsonType::Bool:
        return serialization_error(json.boolean() ? "TRUE_VALUE cannot be converted to String"
                                                  : "FALSE_VALUE cannot be converted to String");
      case JsonType::Double: return serialization_error("DECIMAL_VALUE cannot be converted to String");
      case JsonType::Array: return serialization_error("Unrecognized collection type class java.lang.String");
      case JsonType::Object: return serialization_error("Start of structure or map found where not expected");
      default: return serialization_error("NUMBER_VALUE cannot be converted to String");
    }
  }

  static Result<std::string> binary(JsonElement json) {
    std::string_view base64;
    if (!json.get(base64)) {
      if (json.is_array()) return serialization_error("Unrecognized collection type class java.nio.ByteBuffer");
      if (json.is_object()) return serialization_error("Start of structure or map found where not expected");
      return serialization_error("only base-64-encoded strings are convertible to bytes");
    }
    std::string bytes;
    if (decode_base64(base64, bytes)) [[likely]]
      return bytes;
    if (base64.size() % 4 != 0) {
      return serialization_error("Base64 encoded length is expected a multiple of 4 bytes but found: " +
                                 std::to_string(base64.size()));
    }
    return serialization_error("Invalid last non-pad Base64 character dectected");  // sic
  }

  static Result<bool> boolean(JsonElement json) {
    bool value = false;
    if (json.get(value)) [[likely]]
      return value;
    std::string_view text;
    if (json.get(text)) {
      const auto is = [&](std::string_view word) {
        return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                          [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; });
      };
      if (is("true") || is("1") || is("yes")) return true;
      if (is("false") || is("0") || is("no")) return false;
      return serialization_error("Unexpected token received from parser");
    }
    if (json.is_array()) return serialization_error("Unrecognized collection type class java.lang.Boolean");
    if (json.is_object()) return serialization_error("Start of structure or map found where not expected");
    return serialization_error(json.type() == JsonType::Double ? "DECIMAL_VALUE cannot be converted to Boolean"
                                                               : "NUMBER_VALUE cannot be converted to Boolean");
  }

  const int max_levels_;
};

// --------------------------------------------------------------------------------------------------------- encoding

constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kNotBase64 = 0xFF;
constexpr auto kBase64Values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotBase64);
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kBase64Digits[i])] = i;
  return values;
}();

// The character behind the backslash for a byte that needs one: 0 for none, 'u' for \u00XX.
constexpr auto kEscapes = [] {
  std::array<char, 256> escapes{};
  for (std::size_t i = 0; i < 0x20; ++i) escapes[i] = 'u';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}();

template <typename Members, typename Append>
void append_array(std::string& out, const Members& members, Append append) {
  bool first = true;
  for (const auto& member : members) {
    if (!first) out.push_back(',');
    first = false;
    append(out, member);
  }
}

void append_quoted(std::string& out, const Number& number) {
  out.push_back('"');
  number.append_to(out);
  out.push_back('"');
}

void append_quoted_base64(std::string& out, std::string_view bytes) {
  out.push_back('"');
  append_base64(out, bytes);
  out.push_back('"');
}

struct AppendJson {
  std::string& out;

  void operator()(const std::string& text) const {
    out.append(R"({"S":)");
    append_json_string(out, text);
    out.push_back('}');
  }
  void operator()(const Number& number) const {
    out.append(R"({"N":)");
    append_quoted(out, number);
    out.push_back('}');
  }
  void operator()(const Binary& binary) const {
    out.append(R"({"B":)");
    append_quoted_base64(out, binary.bytes);
    out.push_back('}');
  }
  void operator()(const StringSet& set) const {
    out.append(R"({"SS":[)");
    append_array(out, set.members, append_json_string);
    out.append("]}");
  }
  void operator()(const NumberSet& set) const {
    out.append(R"({"NS":[)");
    append_array(out, set.members, append_quoted);
    out.append("]}");
  }
  void operator()(const BinarySet& set) const {
    out.append(R"({"BS":[)");
    append_array(out, set.members, append_quoted_base64);
    out.append("]}");
  }
  void operator()(const AttributeMap& map) const {
    out.append(R"({"M":)");
    append_json(out, map);
    out.push_back('}');
  }
  void operator()(const List& list) const {
    out.append(R"({"L":[)");
    append_array(out, list, [](std::string& to, const AttributeValue& element) { append_json(to, element); });
    out.append("]}");
  }
  void operator()(Null) const { out.append(R"({"NULL":true})"); }
  void operator()(bool value) const { out.append(value ? R"({"BOOL":true})" : R"({"BOOL":false})"); }
};

// The depth is bounded by the parser's.
void append_json(JsonWriter& out, JsonElement json) {
  switch (json.type()) {
    case JsonType::Object:
      out.begin_object();
      for (const auto [name, member] : json.object()) append_json(out.key(name), member);
      out.end_object();
      return;
    case JsonType::Array:
      out.begin_array();
      for (const JsonElement element : json.array()) append_json(out, element);
      out.end_array();
      return;
    case JsonType::String: out.string(json.string()); return;
    case JsonType::Int64: out.integer(json.integer()); return;
    case JsonType::Uint64: out.raw(std::to_string(json.natural())); return;
    case JsonType::Double: out.real(json.real()); return;
    case JsonType::Bool: out.boolean(json.boolean()); return;
    case JsonType::Null: out.null(); return;
  }
}

}  // namespace

struct JsonParser::Tree {
  simdjson::dom::parser parser{kMaxJsonBytes};
  JsonTape tape;
};

JsonParser::JsonParser() : tree_(std::make_unique<Tree>()) {}
JsonParser::~JsonParser() = default;

Result<JsonElement> JsonParser::parse(std::string_view text) {
  if (text.size() > kMaxJsonBytes) return serialization_error("The document is too large");
  const std::size_t needed = text.size() + kJsonPadding;
  if (padded_.capacity() < needed || (padded_.capacity() > kKeptBytes && needed <= kKeptBytes)) {
    std::string().swap(padded_);  // assigning an empty string would keep the capacity
    padded_.reserve(std::bit_ceil(needed));
  }
  padded_.assign(text);
  return parse_padded(padded_);
}

Result<JsonElement> JsonParser::parse_padded(std::string_view text) {
  if (text.size() > kMaxJsonBytes) return serialization_error("The document is too large");
  auto& parser = tree_->parser;
  if (parser.capacity() < text.size() || (parser.capacity() > kKeptBytes && text.size() <= kKeptBytes)) {
    // In powers of two, so that slowly growing documents do not each allocate.
    const std::size_t capacity = std::max(std::bit_ceil(text.size()), kSmallestCapacity);
    parser = simdjson::dom::parser(kMaxJsonBytes);
    if (parser.allocate(capacity, kMaxJsonDepth) != simdjson::SUCCESS ||
        parser.doc.allocate(capacity) != simdjson::SUCCESS) {
      parser = simdjson::dom::parser(kMaxJsonBytes);  // of unknown state: begin anew next time
      return Error{ErrorCode::Busy, "There is no memory for the document"};
    }
  }
  if (const auto failure = parser.parse(text.data(), text.size(), false).error(); failure != simdjson::SUCCESS) {
    return serialization_error(simdjson::error_message(failure));
  }
  if (has_lone_surrogate(text)) return serialization_error("A string holds half a surrogate pair");
  tree_->tape = {.words = parser.doc.tape.get(), .strings = parser.doc.string_buf.get()};
  return JsonElement(tree_->tape, tree_->tape.words + 1);  // the first word is the document's
}

Result<AttributeValue> decode_value(JsonElement json) { return Decoder(kMaxNesting).value(json, 1); }

Result<AttributeMap> decode_item(JsonElement json) { return Decoder(kMaxNesting).item(json); }

Result<AttributeMap> decode_stored_item(JsonElement json) {
  return Decoder(static_cast<int>(JsonParser::kMaxJsonDepth)).item(json);
}

Result<AttributeMap> parse_item(std::string_view json) {
  thread_local JsonParser parser;
  return decode_stored_item(TRY(parser.parse(json)));
}

Result<std::vector<AttributeMap>> parse_items(std::string_view json) {
  thread_local JsonParser parser;
  const auto array = TRY(parser.parse('[' + std::string(json) + ']')).array();
  std::vector<AttributeMap> items;
  items.reserve(array.size());
  for (const auto item : array) items.push_back(TRY(decode_stored_item(item)));
  return items;
}

void append_json(std::string& out, const AttributeValue& value) { std::visit(AppendJson{out}, value.variant()); }

void append_json(std::string& out, const AttributeMap& item) {
  char separator = '{';
  for (const auto& [name, value] : item) {
    out.push_back(separator);
    separator = ',';
    append_json_string(out, name);
    out.push_back(':');
    append_json(out, value);
  }
  if (item.empty()) out.push_back('{');
  out.push_back('}');
}

void append_json(std::string& out, JsonElement json) {
  JsonWriter writer(out);
  append_json(writer, json);
}

std::string json_text(JsonElement json) {
  std::string text;
  append_json(text, json);
  return text;
}

void append_json_string(std::string& out, std::string_view text) {
  std::size_t plain = plain_length(text);
  if (plain == text.size()) {
    // The rule.  All of it at once: quotes, and the text between them.
    const std::size_t start = out.size();
    out.append(text.size() + 2, '"');
    if (!text.empty()) std::memcpy(out.data() + start + 1, text.data(), text.size());
    return;
  }
  out.push_back('"');
  for (;; plain = plain_length(text)) {
    out.append(text.data(), plain);
    if (plain == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[plain]);
    out.push_back('\\');
    out.push_back(kEscapes[byte]);
    if (kEscapes[byte] == 'u') {
      out.append("00");
      out.push_back("0123456789abcdef"[byte >> 4]);
      out.push_back("0123456789abcdef"[byte & 0xF]);
    }
    text.remove_prefix(plain + 1);
  }
  out.push_back('"');
}

void append_base64(std::string& out, std::string_view bytes) {
  const std::size_t start = out.size();
  out.resize(start + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + start;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    *to++ = kBase64Digits[group >> 18];
    *to++ = kBase64Digits[group >> 12 & 0x3F];
    *to++ = kBase64Digits[group >> 6 & 0x3F];
    *to++ = kBase64Digits[group & 0x3F];
  }
  if (i == bytes.size()) return;
  const bool two = i + 2 == bytes.size();
  const std::uint32_t group = byte(i) << 16 | (two ? byte(i + 1) << 8 : 0);
  *to++ = kBase64Digits[group >> 18];
  *to++ = kBase64Digits[group >> 12 & 0x3F];
  *to++ = two ? kBase64Digits[group >> 6 & 0x3F] : '=';
  *to++ = '=';
}

bool decode_base64(std::string_view text, std::string& out) {
  out.clear();
  if (text.size() % 4 != 0) return false;
  if (text.empty()) return true;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.resize(text.size() / 4 * 3 - padding);
  char* to = out.data();
  const auto digit = [&](std::size_t i) {
    return static_cast<std::uint32_t>(kBase64Values[static_cast<unsigned char>(text[i])]);
  };

  // A digit outside the alphabet has its high bits set, and so has the union that collects them.
  std::uint32_t seen = 0;
  const std::size_t whole = text.size() - (padding > 0 ? 4 : 0);
  std::size_t i = 0;
  for (; i < whole; i += 4) {
    seen |= digit(i) | digit(i + 1) | digit(i + 2) | digit(i + 3);
    const std::uint32_t group = digit(i) << 18 | digit(i + 1) << 12 | digit(i + 2) << 6 | digit(i + 3);
    *to++ = static_cast<char>(group >> 16);
    *to++ = static_cast<char>(group >> 8);
    *to++ = static_cast<char>(group);
  }
  std::uint32_t stray = 0;  // bits of the last digit that belong to no byte
  if (padding == 2) {
    seen |= digit(i) | digit(i + 1);
    stray = digit(i + 1) & 0x0F;
    *to++ = static_cast<char>(digit(i) << 2 | digit(i + 1) >> 4);
  } else if (padding == 1) {
    seen |= digit(i) | digit(i + 1) | digit(i + 2);
    stray = digit(i + 2) & 0x03;
    const std::uint32_t group = digit(i) << 10 | digit(i + 1) << 4 | digit(i + 2) >> 2;
    *to++ = static_cast<char>(group >> 8);
    *to++ = static_cast<char>(group);
  }
  if (seen < 64 && stray == 0) return true;
  out.clear();
  return false;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_.push_back(':');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t number) {
  char digits[24];
  return raw({digits, std::to_chars(digits, std::end(digits), number).ptr});
}

JsonWriter& JsonWriter::real(double number) {
  if (!std::isfinite(number)) return null();  // JSON has no word for it
  char text[64];
  // The shortest form of 1700000000 would be 1.7e+09: true, but nobody expects a time to look like that.
  const double magnitude = std::abs(number);
  const bool fixed = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e16);
  const auto end = fixed ? std::to_chars(text, std::end(text), number, std::chars_format::fixed)
                         : std::to_chars(text, std::end(text), number);
  return raw({text, end.ptr});
}

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_.append(json);
  return *this;
}

JsonWriter& JsonWriter::take_members(std::string&& json) {
  if (json.size() > out_.size()) {
    json.insert(0, out_);
    out_ = std::move(json);
  } else {
    out_.append(json);
  }
  return *this;
}

JsonWriter& JsonWriter::attribute(const AttributeValue& value) {
  separate();
  append_json(out_, value);
  return *this;
}

JsonWriter& JsonWriter::item(const AttributeMap& item) {
  separate();
  append_json(out_, item);
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_.push_back(bracket);
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_.push_back(bracket);
  first_ = false;
  return *this;
}

void JsonWriter::separate() {
  if (!first_) out_.push_back(',');
  first_ = false;
}

}  // namespace stator::value
