#pragma once

#include <cstdint>
#include <string>

#include "stator/value/attribute_value.h"

namespace stator::api {

// One write of one item, alone or in a transaction, by who has its values at hand and no JSON of them.
struct Write {
  enum class Kind : std::uint8_t { Put, Update, Delete, Check };
  Kind kind = Kind::Put;
  std::string table;
  value::Item item;       // Put: the whole item; otherwise its primary key
  std::string update;     // Update
  std::string condition;  // empty: none; Check needs one.  A refusal tells the item that it found
  value::Item names;      // "#a" -> {"S": "Title"}
  value::Item values;     // ":a" -> value
};

}  // namespace stator::api
