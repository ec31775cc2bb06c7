#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

// The shapes of the operations' requests, from the API model in src/api/model.
//
// The tables are constants that the build writes from the model; nothing is parsed or allocated at start.  Everything
// here is immutable and safe to use from any thread.
namespace stator::api {

enum class ShapeType : std::uint8_t {
  String,
  Blob,
  Boolean,
  Integer,
  Long,
  Double,
  Timestamp,
  List,
  Map,
  Structure,
  AttributeValue,  // a structure too, walked by code of its own
};

// The regular expressions of the model.
enum class TextPattern : std::uint8_t {
  None,
  Name,          // letters, digits, '_', '.' and '-'
  Printable,     // printable ASCII
  Text,          // printable Unicode and white space, or nothing
  CsvHeader,     // printable ASCII but '"' and ','
  CsvDelimiter,  // one of ",;:|\t "
  NoDollar,      // anything without '$'
  TwelveDigits,
  HexGroups,  // lower-case hexadecimal digits in groups of sixteen
  Bucket,     // an S3 bucket's name
};
bool matches(TextPattern pattern, std::string_view text);

struct Shape;

// How a member that takes a table's name or its ARN is held to the rules for names.
enum class NameCheck : std::uint8_t {
  None,
  Early,   // before all other constraints, and alone
  Late,    // when all other constraints hold
  Legacy,  // before all others, in the words of the older operations
};

struct Member {
  std::string_view name;  // as on the wire
  const Shape* shape;
  NameCheck name_check;
  std::string_view absent_text;  // the error when it is absent, for the few that do not say "Member must not be null"
  std::string_view empty_text;   // the error when it is present but empty, before it counts as any other violation
};

struct Shape {
  static constexpr std::int64_t kNoMin = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kNoMax = std::numeric_limits<std::int64_t>::max();

  std::string_view name = {};
  ShapeType type = ShapeType::Structure;
  TextPattern pattern = TextPattern::None;
  bool length_first = false;  // report the length before the pattern
  bool quoted = true;         // whether the violation of a constraint of its own is reported with the value
  std::int64_t min = kNoMin;  // of a number's value, of anything else's length
  std::int64_t max = kNoMax;
  std::string_view pattern_text = {};
  std::span<const std::string_view> enum_values = {};
  std::string_view enum_text = {};       // "[A, B]", in the service's order
  std::span<const Member> members = {};  // sorted by name; at most 64
  std::span<const std::uint8_t> check_order =
      {};  // indexes into members, in the order in which the service reports them
  std::span<const std::uint8_t> print_order = {};  // the same in the model's order, in which the service prints them
  std::uint64_t required = 0;                      // bit i: members[i] is required
  const Shape* element = nullptr;                  // of a list, or the value of a map
  const Shape* key = nullptr;                      // of a map
  std::string_view printed_extra = {};             // unpublished members, for printing

  bool constrained() const {
    return min != kNoMin || max != kNoMax || pattern != TextPattern::None || !enum_values.empty();
  }
  // The index of the member, or members.size().
  std::size_t find(std::string_view member) const {
    std::size_t i = 0;
    while (i < members.size() && members[i].name != member) ++i;  // few members of mostly different lengths
    return i;
  }
};

struct OperationShape {
  std::string_view name;
  std::string_view service;  // the first half of x-amz-target: DynamoDB_20120810 or DynamoDBStreams_20120810
  const Shape* input;
};

// Every operation of both services, sorted by name.
std::span<const OperationShape> operations();
// Null when there is no such operation.
const OperationShape* find_operation(std::string_view name);
const Shape* input_shape(std::string_view operation);

}  // namespace stator::api
