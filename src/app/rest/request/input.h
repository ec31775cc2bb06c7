#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/app/rest/routes/router.h"
#include "stator/model/model.h"
#include "stator/model/validate.h"
#include "stator/value/attribute_value.h"

namespace stator::app {

// The value that a text in a URL stands for: a number, true or false, or the text itself, checked against its type.
// nullopt, and an entry in `problems`, when the text is no such value.  Lists, sets and maps have no place in a URL.
std::optional<value::AttributeValue> read_url_value(const model::Type& type, std::string_view name,
                                                    std::string_view text, std::vector<model::ValueProblem>& problems);

// Whether the body of an action is taken as it is, in one of the types that it accepts.  `none` is not one: there is no
// body then.
bool takes_raw_body(const model::Action& action);

// Whether a route takes files, which may be larger than other bodies and are read in pieces.
bool takes_files(const Route& route);

// Whether the inputs of an action are query parameters: its body is something else, or it has none.
bool inputs_from_query(const model::Action& action);

inline constexpr std::string_view kIncludeDeleted = "includeDeleted";
// Whether a route has the parameter `includeDeleted`: it reads, or is `within`, an entity that can be deleted softly or
// that belongs to such an entity.
bool takes_include_deleted(const Route& route);

}  // namespace stator::app
