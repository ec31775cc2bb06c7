#include "stator/api/answer_item.h"

#include "stator/value/item_size.h"

namespace stator::api {

Result<value::Item> AnswerItem::take() && {
  if (auto* item = std::get_if<value::Item>(&content_)) return std::move(*item);
  return std::get<value::StoredItem>(content_).parse();
}

void AnswerItem::write(value::JsonWriter& json) const {
  if (const auto* item = std::get_if<value::Item>(&content_)) {
    json.item(*item);
  } else {
    json.raw(std::get<value::StoredItem>(content_).json());
  }
}

std::size_t AnswerItem::bytes() const {
  if (const auto* item = std::get_if<value::Item>(&content_)) return value::item_size_bytes(*item);
  return std::get<value::StoredItem>(content_).json().size();
}

void AnswerItems::add(std::string_view json) {
  auto& text = std::get<std::string>(content_);
  if (!text.empty()) text += ',';
  text += json;
}

void AnswerItems::add(const value::Item& item) {
  auto& text = std::get<std::string>(content_);
  if (!text.empty()) text += ',';
  value::append_json(text, item);
}

Result<std::vector<value::Item>> AnswerItems::take() && {
  if (auto* made = std::get_if<std::vector<value::Item>>(&content_)) return std::move(*made);
  std::vector<value::Item> items;
  thread_local value::JsonParser parser;
  value::JsonArray array;
  const auto root = TRY(parser.parse('[' + std::get<std::string>(content_) + ']'));
  if (!root.get(array)) return Error{ErrorCode::Corruption, "the items of a page are no JSON"};
  items.reserve(array.size());
  for (const value::JsonElement item : array) items.push_back(TRY(value::decode_stored_item(item)));
  return items;
}

std::string AnswerItems::take_json() && {
  if (const auto* made = std::get_if<std::vector<value::Item>>(&content_)) {
    AnswerItems written;
    for (const auto& item : *made) written.add(item);
    return std::move(written).take_json();
  }
  return std::get<std::string>(std::move(content_));
}

}  // namespace stator::api
