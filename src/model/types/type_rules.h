#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"

// Rules that follow from an attribute's type alone.
namespace stator::model {

// How values of a type lie in the table.  Of Kind::Any it says S, though it can be everything.
value::Type stored_type(const Type& type);
bool is_stored_as(const Type& type, const value::AttributeValue& value);

// "must be a number", "is not a date such as 2026-01-15": the problem of a value of another kind.
std::string misfit(const Type& type);

bool is_known(const std::vector<Attribute>& attributes, std::string_view name);
// "is not an attribute of this; did you mean Title?"
std::string unknown_attribute(const std::vector<Attribute>& attributes, std::string_view name);

// The type of a set's members.
const Type& element_of(const Type& type);
// Members of a set as values of their own, and a set of values: one or more, of the type that the set's members are
// stored as.
value::List members_of(const value::AttributeValue& set);
value::AttributeValue set_of(const Type& type, const value::List& members);

}  // namespace stator::model
