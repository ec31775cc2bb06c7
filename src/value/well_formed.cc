#include "stator/value/well_formed.h"

#include <simdjson.h>

#include <algorithm>

#include "stator/value/item_size.h"
#include "stator/value/plain_text.h"

namespace stator::value {
namespace {

// Walks a value that is at `level` of its item.
class Check {
 public:
  Result<void> map(const AttributeMap& members, int level) const {
    for (const auto& [name, content] : members) {
      TRY(check_name(name));
      TRY(value(content, level));
    }
    return {};
  }

  Result<void> value(const AttributeValue& content, int level) const {
    if (level > kMaxNesting) return nesting_error();
    switch (content.type()) {
      case Type::S: return check_text(*content.as_string());
      case Type::SS:
        for (const auto& member : content.as_string_set()->members) TRY(check_text(member));
        return set(content.as_string_set()->members, make_string_set);
      case Type::NS: return set(content.as_number_set()->members, make_number_set);
      case Type::BS: return set(content.as_binary_set()->members, make_binary_set);
      case Type::M: return map(*content.as_map(), level + 1);
      case Type::L:
        for (const auto& element : *content.as_list()) TRY(value(element, level + 1));
        return {};
      case Type::N:
      case Type::B:
      case Type::Null:
      case Type::Bool: return {};
    }
    return {};
  }

 private:
  // The code that makes sets reports mistakes in sets.
  template <typename Member>
  static Result<void> set(const std::vector<Member>& members, Result<AttributeValue> (*make)(std::vector<Member>)) {
    const auto out_of_order = [](const Member& a, const Member& b) { return !(a < b); };
    if (!members.empty() && std::adjacent_find(members.begin(), members.end(), out_of_order) == members.end())
      return {};
    TRY(make(members));
    return validation_error("One or more parameter values were invalid: The members of a set are not in order");
  }
};

}  // namespace

Result<void> check_well_formed(const AttributeMap& item) { return Check().map(item, 1); }

Result<void> check_well_formed(const AttributeValue& value) { return Check().value(value, 1); }

Result<void> check_name(std::string_view name) {
  TRY(check_text(name));
  if (name.size() <= kMaxNameLength || count_code_points(name) <= kMaxNameLength) return {};
  return validation_error(
      "One or more parameter values were invalid: An attribute name is longer than 65535 characters");
}

Result<void> check_text(std::string_view text) {
  if (is_utf8(text)) return {};
  return Error{ErrorCode::Serialization, ""};
}

bool is_utf8(std::string_view text) { return is_ascii(text) || simdjson::validate_utf8(text); }

}  // namespace stator::value
