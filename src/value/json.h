#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value/attribute_value.h"
#include "stator/value/json_tree.h"

// DynamoDB's JSON: the one codec for the wire, the disk, streams and exports.  No other code parses or prints it.
namespace stator::value {

// Bytes that must be readable (not meaningful) behind any text handed to JsonParser::parse_padded.
inline constexpr std::size_t kJsonPadding = 64;

// Turns text into a JSON tree.  The tree lives in the parser until its next parse.  One per thread; reuse it.
// Bounded: text up to `kMaxJsonBytes`, nesting up to `kMaxJsonDepth`; the memory that a large document took is given
// back with the next small one.  Strings come out as valid UTF-8.  Errors: Serialization, or Busy when there is no
// memory.
class JsonParser {
 public:
  static constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxJsonDepth = 256;

  JsonParser();
  ~JsonParser();

  Result<JsonElement> parse(std::string_view text);         // copies the text to pad it
  Result<JsonElement> parse_padded(std::string_view text);  // text is followed by kJsonPadding readable bytes

 private:
  // Documents above this take memory that is not kept: about 14 times their size, on every thread that parses.
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 10;
  static constexpr std::size_t kSmallestCapacity = 4096;

  struct Tree;

  std::unique_ptr<Tree> tree_;
  std::string padded_;  // the text that parse() copied
};

// Reads {"S": "..."} and the like into a value, or an object of them into an item.
//
// Expects the JSON types to be right already (the api layer checks them against the operation's shape and answers
// SerializationException); anything else that is wrong is Validation with DynamoDB's text: an empty or doubly typed
// value, a bad number, an empty set or one with duplicates, nesting deeper than kMaxNesting.
Result<AttributeValue> decode_value(JsonElement json);
Result<AttributeMap> decode_item(JsonElement json);
// The same for an item that append_json wrote: no limit on nesting but the parser's.
Result<AttributeMap> decode_stored_item(JsonElement json);
// The same from text.  Errors: Serialization, Validation.
Result<AttributeMap> parse_item(std::string_view json);
// Items with commas between them.
Result<std::vector<AttributeMap>> parse_items(std::string_view json);

// Canonical: one spelling for equal values.  Attributes in name order, set members in order, numbers as Number prints
// them, padded base64, and the shortest JSON escapes.
void append_json(std::string& out, const AttributeValue& value);
void append_json(std::string& out, const AttributeMap& item);
// Any JSON without the white space, numbers in their shortest form: 1e2 as 100, 1.0 as 1.
void append_json(std::string& out, JsonElement json);
std::string json_text(JsonElement json);

// "text" with quotes and escapes.
void append_json_string(std::string& out, std::string_view text);

void append_base64(std::string& out, std::string_view bytes);
// Strict: padded, no white space, no stray bits.  False when it is not base64.
bool decode_base64(std::string_view text, std::string& out);

// Writes one JSON document front to back.  The caller keeps objects and arrays balanced.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& real(double number);  // shortest form that reads back as the same
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // already JSON
  // The members of the array that was just begun, as JSON with commas.  A text that is larger than the document so far
  // is taken over instead of copied.
  JsonWriter& take_members(std::string&& json);
  JsonWriter& attribute(const AttributeValue& value);
  JsonWriter& item(const AttributeMap& item);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string& out_;
  bool first_ = true;  // nothing has been written since the last opening bracket or key
};

}  // namespace stator::value
