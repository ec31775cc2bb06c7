#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/byte_source.h"
#include "stator/base/result.h"
#include "stator/model/validate.h"
#include "stator/value/attribute_value.h"

namespace stator::model {

// How much JSON becomes values at once.  An item of 400 KB could hold more values only if they took less than 4 bytes
// each, its names and commas included, and no value is longer than an item.
inline constexpr std::size_t kMostJsonValues = 100'000;
inline constexpr std::size_t kMostTextBytes = std::size_t{400} << 10;
inline constexpr int kDeepestJson = 32;

// Where a value is, for messages: "tags[2]", "address.city".  Put together only when it is told.
struct JsonPlace {
  const JsonPlace* parent = nullptr;
  std::string_view name = {};  // of a member
  std::size_t index = kNone;   // of an element

  static constexpr std::size_t kNone = SIZE_MAX;
  std::string text() const;
};

// Reads one JSON document front to back, from a text or from a source of pieces of UTF-8.
//
// Values that the caller skips are checked and not built.  Values are texts S, numbers N, arrays L, objects M, and null
// Null.
// Strict.  Numbers keep every digit, which the parser of `value` would not: it has doubles and 64-bit integers.
// Confined to one thread.
//
// Errors: Validation with the place of the wrong byte; LimitExceeded, beyond kMostJsonValues; those of the source.
// Problems are added for names that are given twice, and for numbers and texts that no item can hold: their value is
// Null.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::vector<ValueProblem>& problems) : text_(text), problems_(problems) {}
  JsonReader(ByteSource& source, std::vector<ValueProblem>& problems) : source_(&source), problems_(problems) {}

  // Begins an object or an array.  False when something else is there.
  bool open(char bracket) {
    skip_space();
    if (!take(bracket)) return false;
    first_ = true;
    return true;
  }
  // The byte that the next value, member or end begins with; 0 at the end of the text.
  char peek() {
    skip_space();
    return here() ? text_[at_] : '\0';
  }
  // Whether there is another member, or another element. `name`: the member's name. The caller reads or skips its
  // value.
  Result<bool> next_member(std::string& name);
  Result<bool> next_element();

  // `level`: how deep the value is; the document's own is 1, its members' 2.
  Result<value::AttributeValue> value(const JsonPlace& place, int level);
  Result<void> skip(int level);

  // After the document.
  Result<void> end();

  // Values that were built since the last call of forget_values(), which kMostJsonValues is about.
  std::size_t values() const { return values_; }
  void forget_values() { values_ = 0; }

  // Whether the source gave an error, which error() then is.
  bool failed() const { return failed_; }
  // That something is wrong where the reader is.
  Error error(std::string_view problem) const { return error_at(at_, problem); }

 private:
  Error error_at(std::size_t at, std::string_view problem) const;

  bool more();  // reads the next piece of the source; false at its end
  bool here() { return at_ < text_.size() || (source_ != nullptr && more()); }
  bool at(char c) { return here() && text_[at_] == c; }
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  Result<bool> take_word(std::string_view word);
  void skip_space() {
    while (at(' ') || at('\t') || at('\n') || at('\r')) ++at_;
  }

  Result<bool> next(char closing, std::string_view missing);
  Result<value::AttributeValue> object(const JsonPlace& place, int level);
  Result<value::AttributeValue> array(const JsonPlace& place, int level);
  void report_duplicates(const JsonPlace& place, const std::vector<value::Item::Entry>& members);
  Result<value::AttributeValue> number(const JsonPlace& place);
  Result<std::string_view> number_text();

  // A string; the reader is at its quote.  Not built if `out` is null.  False: it is too long, and `out` has a part of
  // it.
  Result<bool> string(std::string* out);
  Result<void> escape(std::string* out);
  Result<std::int32_t> code_unit();
  Result<void> unicode_escape(std::string* out);

  std::string_view text_;  // the unread part of the piece begins at at_
  std::size_t at_ = 0;
  std::size_t before_ = 0;  // bytes of earlier pieces
  ByteSource* source_ = nullptr;
  std::vector<ValueProblem>& problems_;
  bool first_ = true;  // nothing has been read since the last opening bracket
  std::size_t values_ = 0;
  std::string straddling_;  // a number that lies in two pieces
  Error failure_;           // of the source
  bool failed_ = false;
};

// Converts a JSON value to the kind of `type`: to a set, to binary, or to a map without absent members.  nullopt for a
// set without members, which is absent, and if the value does not fit, which is added to `problems`.  Only the kind is
// checked.
std::optional<value::AttributeValue> fit_json(const Type& type, const JsonPlace& place, value::AttributeValue value,
                                              std::vector<ValueProblem>& problems);

}  // namespace stator::model
