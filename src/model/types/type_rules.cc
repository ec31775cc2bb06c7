#include "stator/model/types/type_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "stator/base/assert.h"
#include "stator/base/suggest.h"

namespace stator::model {
namespace {

using value::AttributeValue;

// The members of `list` as `T`, in order, each once.
template <typename T, typename Take>
std::vector<T> different(const value::List& list, const Take& take) {
  std::vector<T> members;
  members.reserve(list.size());
  for (const auto& member : list) members.push_back(take(member));
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

constexpr std::size_t kMostValuesTold = 12;

// "must be one of SMALL, LARGE"; of many values only the first.
std::string one_of(const std::vector<std::string>& values) {
  if (values.size() <= kMostValuesTold) return fmt::format("must be one of {}", fmt::join(values, ", "));
  const auto begin = values.begin();
  const auto told = static_cast<std::ptrdiff_t>(kMostValuesTold) - 2;
  return fmt::format("must be one of {} and {} other values", fmt::join(begin, begin + told, ", "),
                     values.size() - static_cast<std::size_t>(told));
}

}  // namespace

const Type& element_of(const Type& type) {
  static const Type kText;
  return type.element != nullptr ? *type.element : kText;
}

value::Type stored_type(const Type& type) {
  switch (type.kind) {
    case Kind::Number:
    case Kind::Integer: return value::Type::N;
    case Kind::Boolean: return value::Type::Bool;
    case Kind::Binary: return value::Type::B;
    case Kind::List: return value::Type::L;
    case Kind::Map: return value::Type::M;
    case Kind::Set:
      switch (stored_type(element_of(type))) {
        case value::Type::N: return value::Type::NS;
        case value::Type::B: return value::Type::BS;
        default: return value::Type::SS;
      }
    default: return value::Type::S;
  }
}

bool is_stored_as(const Type& type, const AttributeValue& value) {
  return type.kind == Kind::Any || value.type() == stored_type(type);
}

std::string misfit(const Type& type) {
  switch (type.kind) {
    case Kind::String: return "must be a text";
    case Kind::Number: return "must be a number";
    case Kind::Integer: return "must be a whole number";
    case Kind::Boolean: return "must be true or false";
    case Kind::Binary: return "must be binary, written in base64";
    case Kind::Uuid: return "is not a uuid such as 123e4567-e89b-12d3-a456-426614174000";
    case Kind::Ulid: return "is not a ulid such as 01ARZ3NDEKTSV4RRFFQ69G5FAV";
    case Kind::Date: return "is not a date such as 2026-01-15";
    case Kind::Timestamp: return "is not a timestamp such as 2026-01-15T10:00:00Z";
    case Kind::Domain: return "is not a domain such as example.com";
    case Kind::Isbn: return "is not an ISBN with a right checksum, such as 978-0-306-40615-7";
    case Kind::Email: return "is not an e-mail address such as ann@example.com";
    case Kind::Url: return "is not a URL such as https://example.com/page";
    case Kind::Enum: return one_of(type.values);
    case Kind::List: return "must be a list";
    case Kind::Set: return "must be a list of different values";
    case Kind::Map: return "must be an object";
    case Kind::Any: break;
  }
  return "is not known";
}

bool is_known(const std::vector<Attribute>& attributes, std::string_view name) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
}

std::string unknown_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& attribute : attributes) known.push_back(attribute.name);
  return "is not an attribute of this" + did_you_mean(name, known);
}

value::List members_of(const AttributeValue& set) {
  value::List members;
  if (const auto* texts = set.as_string_set()) {
    for (const auto& member : texts->members) members.push_back(AttributeValue::string(member));
  } else if (const auto* numbers = set.as_number_set()) {
    for (const auto& member : numbers->members) members.emplace_back(member);
  } else if (const auto* binaries = set.as_binary_set()) {
    for (const auto& member : binaries->members) members.push_back(AttributeValue::binary(member));
  }
  return members;
}

AttributeValue set_of(const Type& type, const value::List& members) {
  auto set = [&] {
    switch (stored_type(type)) {
      case value::Type::NS:
        return value::make_number_set(different<value::Number>(members, [](const auto& m) { return *m.as_number(); }));
      case value::Type::BS:
        return value::make_binary_set(
            different<std::string>(members, [](const auto& m) { return m.as_binary()->bytes; }));
      default:
        return value::make_string_set(different<std::string>(members, [](const auto& m) { return *m.as_string(); }));
    }
  }();
  STATOR_ASSERT(set.ok(), "there are members, and each is there once");
  return std::move(*set);
}

}  // namespace stator::model
