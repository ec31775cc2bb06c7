#pragma once

#include "stator/api/items/item_operations.h"
#include "stator/api/json/enum_names.h"

// The values of the operations on items, as they are called on the wire: for the endpoint, which reads them, and for
// the remote client, which writes them.
namespace stator::api {

template <>
struct EnumNames<ReturnValues> {
  static constexpr std::array<std::string_view, 5> names = {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"};
};
template <>
struct EnumNames<Selection> {
  static constexpr std::array<std::string_view, 5> names = {"", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES",
                                                            "SPECIFIC_ATTRIBUTES", "COUNT"};
};
template <>
struct EnumNames<CapacityDetail> {
  static constexpr std::array<std::string_view, 3> names = {"NONE", "TOTAL", "INDEXES"};
};
// The member of TransactItems.
template <>
struct EnumNames<TransactWriteItem::Kind> {
  static constexpr std::array<std::string_view, 4> names = {"Put", "Update", "Delete", "ConditionCheck"};
};

}  // namespace stator::api
