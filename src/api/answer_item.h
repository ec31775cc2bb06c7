#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stator/base/result.h"
#include "stator/value/attribute_value.h"
#include "stator/value/stored_item.h"

namespace stator::value {
class JsonWriter;
}

namespace stator::api {

// An item in an answer.  One that was read is passed on as it is stored, so that it reaches the wire without being
// parsed; one that was made for the answer, by a projection for example, has attributes.  A value type.
class AnswerItem {
 public:
  AnswerItem() : content_(value::Item()) {}  // without attributes
  explicit AnswerItem(value::StoredItem stored) : content_(std::move(stored)) {}
  explicit AnswerItem(value::Item item) : content_(std::move(item)) {}
  // From the canonical JSON of an item.
  static AnswerItem from_json(std::string json);

  // The attributes.  Errors: Corruption.
  Result<value::Item> take() &&;
  void write(value::JsonWriter& json) const;
  // The approximate size in an answer, in bytes.
  std::size_t bytes() const;

 private:
  struct Text {
    std::string json;
  };
  std::variant<value::StoredItem, value::Item, Text> content_;
};

// The items of a page, in order.  For the wire they are one JSON text, to which an item is added as it is stored.  For
// a caller in this process they are values, so that no item is printed and parsed again.  A value type.
class AnswerItems {
 public:
  AnswerItems() = default;                               // an empty JSON text
  explicit AnswerItems(std::vector<value::Item> items);  // values

  bool has_values() const { return content_.index() == 1; }
  // Adds an item as JSON; only to a text.
  void add(std::string_view json);
  void add(const AnswerItem& item);
  void add(value::Item item);
  // The approximate size in an answer, in bytes.
  std::size_t bytes() const {
    const auto* text = std::get_if<std::string>(&content_);
    return text != nullptr ? text->size() : value_bytes_;
  }

  // Errors: Corruption.
  Result<std::vector<value::Item>> take() &&;
  // Of at most one item: it.
  std::optional<AnswerItem> take_only() &&;
  // The items as the members of a JSON array, without its brackets.
  std::string take_json() &&;

 private:
  std::variant<std::string, std::vector<value::Item>> content_;
  std::size_t value_bytes_ = 0;
};

}  // namespace stator::api
