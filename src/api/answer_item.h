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
  // What it takes in an answer, about.
  std::size_t bytes() const;

 private:
  struct Text {
    std::string json;
  };
  std::variant<value::StoredItem, value::Item, Text> content_;
};

// The items of a page, in order.  Items that were read are kept as one text, which goes to the wire as it is.  A value
// type.
class AnswerItems {
 public:
  AnswerItems() = default;
  explicit AnswerItems(std::vector<value::Item> items) : content_(std::move(items)) {}

  // Adds the JSON of an item, or an item; only to what was made without items.
  void add(std::string_view json);
  void add(const value::Item& item);
  void add(const AnswerItem& item);
  // What they take in an answer, about.
  std::size_t bytes() const {
    const auto* text = std::get_if<std::string>(&content_);
    return text != nullptr ? text->size() : made_bytes();
  }

  // Errors: Corruption.
  Result<std::vector<value::Item>> take() &&;
  // Of at most one item: it.
  std::optional<AnswerItem> take_only() &&;
  // The items as the members of a JSON array, without its brackets.
  std::string take_json() &&;

 private:
  std::size_t made_bytes() const;

  std::variant<std::string, std::vector<value::Item>> content_;
};

}  // namespace stator::api
