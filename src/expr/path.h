#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "stator/value/attribute_value.h"

namespace stator::expr {

// A document path with its names resolved: a.b[2].c.  A value type.
struct Path {
  using Element = std::variant<std::string, std::uint32_t>;  // a map's attribute, or a position in a list

  std::string attribute;          // the top-level attribute
  std::vector<Element> elements;  // the steps behind it

  bool is_nested() const { return !elements.empty(); }
  // "[a, b, [2], c]", as DynamoDB prints a path in its messages.
  std::string to_string() const;

  friend bool operator==(const Path&, const Path&) = default;
};

// The value at `path`, or nullptr when the document has none there.
const value::AttributeValue* find(const value::Item& item, const Path& path);

// The parts of `item` at these paths, inside maps and lists of their own; list elements keep their order and close
// their gaps. For projections, UPDATED_OLD and UPDATED_NEW.
value::Item project(const value::Item& item, std::span<const Path> paths);

}  // namespace stator::expr
