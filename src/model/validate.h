#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/model.h"

namespace stator::model {

// What is wrong with one attribute.
struct ValueProblem {
  std::string attribute;  // "Title", "address.city", "tags[2]"
  std::string problem;    // "must have at most 100 characters"
};

// Checks `value` against `type` and brings it into its one spelling (timestamps to UTC milliseconds, uuids to lower
// case, e-mail domains to lower case).  Adds to `problems` all that is wrong.
void check_value(const Type& type, std::string_view name, value::AttributeValue& value,
                 std::vector<ValueProblem>& problems);

// Between plain JSON, as REST bodies have it, and values.  A number becomes N, an array L or a set, null is absence
// (the caller decides what that means), an object M.  Adds to `problems` where the JSON type does not fit. Numbers are
// taken by their text, exactly.  `text` is a JSON object.  Bounds: nesting 32.  Names that are given twice, and those
// that `attributes` does not have, are problems, too; what has a problem is in neither member.  Only the kind of a
// value is looked at: check_value() is for the rest. Errors: Validation, when it is not a JSON object.
struct PlainObject {
  value::Item values;
  std::vector<std::string> nulls;  // names that were given as null, or as a set without members
};
Result<PlainObject> read_plain_json(std::string_view text, const std::vector<Attribute>& attributes,
                                    std::vector<ValueProblem>& problems);
// The other way: sets as arrays, binary as base64.
void append_plain_json(std::string& out, const value::AttributeValue& value);

}  // namespace stator::model
