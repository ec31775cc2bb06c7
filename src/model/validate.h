#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/model.h"

namespace stator::model {

// A mistake in the value of one attribute.
struct ValueProblem {
  std::string attribute;  // "Title", "address.city", "tags[2]"
  std::string problem;    // "must have at most 100 characters"
};

// Checks `value` against `type` and brings it into its one spelling (timestamps to UTC milliseconds, uuids to lower
// case, e-mail domains to lower case).  Adds every mistake to `problems`.
void check_value(const Type& type, std::string_view name, value::AttributeValue& value,
                 std::vector<ValueProblem>& problems);

// Reads plain JSON, the form of REST bodies.  A number becomes N, exactly; an array becomes L or a set; an object
// becomes M; the caller decides the meaning of null.  Adds a problem for a value of another JSON type, for a name that
// is given twice, and for a name that `attributes` does not have; a value with a problem is in neither member.  Only
// the kind of a value is checked here: check_value() checks the rest.  Bounds: nesting 32.  Errors: Validation, when
// `text` is not a JSON object.
struct PlainObject {
  value::Item values;
  std::vector<std::string> nulls;  // names that were given as null, or as a set without members
};
Result<PlainObject> read_plain_json(std::string_view text, const std::vector<Attribute>& attributes,
                                    std::vector<ValueProblem>& problems);
// Writes plain JSON: sets as arrays, binary values as base64.
void append_plain_json(std::string& out, const value::AttributeValue& value);

}  // namespace stator::model
