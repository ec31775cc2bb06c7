#include "stator/api/answer_item.h"

#include "stator/value/item_size.h"
#include "stator/value/json.h"

namespace stator::api {

AnswerItem AnswerItem::from_json(std::string json) {
  AnswerItem item;
  item.content_ = Text{std::move(json)};
  return item;
}

Result<value::Item> AnswerItem::take() && {
  if (auto* item = std::get_if<value::Item>(&content_)) return std::move(*item);
  if (const auto* stored = std::get_if<value::StoredItem>(&content_)) return stored->parse();
  return value::parse_item(std::get<Text>(content_).json);
}

void AnswerItem::write(value::JsonWriter& json) const {
  if (const auto* stored = std::get_if<value::StoredItem>(&content_)) {
    json.raw(stored->json());
  } else if (const auto* item = std::get_if<value::Item>(&content_)) {
    json.item(*item);
  } else {
    json.raw(std::get<Text>(content_).json);
  }
}

std::size_t AnswerItem::bytes() const {
  if (const auto* item = std::get_if<value::Item>(&content_)) return value::item_size_bytes(*item);
  if (const auto* text = std::get_if<Text>(&content_)) return text->json.size();
  return std::get<value::StoredItem>(content_).json().size();
}

AnswerItems::AnswerItems(std::vector<value::Item> items) : content_(std::move(items)) {
  for (const auto& item : std::get<std::vector<value::Item>>(content_)) value_bytes_ += value::item_size_bytes(item);
}

void AnswerItems::add(std::string_view json) {
  auto& text = std::get<std::string>(content_);
  if (!text.empty()) text += ',';
  text += json;
}

void AnswerItems::add(const AnswerItem& item) {
  auto& text = std::get<std::string>(content_);
  if (!text.empty()) text += ',';
  value::JsonWriter json(text);
  item.write(json);
}

void AnswerItems::add(value::Item item) {
  if (auto* values = std::get_if<std::vector<value::Item>>(&content_)) {
    value_bytes_ += value::item_size_bytes(item);
    values->push_back(std::move(item));
    return;
  }
  auto& text = std::get<std::string>(content_);
  if (!text.empty()) text += ',';
  value::append_json(text, item);
}

std::optional<AnswerItem> AnswerItems::take_only() && {
  if (auto* values = std::get_if<std::vector<value::Item>>(&content_)) {
    return values->empty() ? std::nullopt : std::optional<AnswerItem>(std::move(values->front()));
  }
  auto json = std::get<std::string>(std::move(content_));
  if (json.empty()) return std::nullopt;
  return AnswerItem::from_json(std::move(json));
}

Result<std::vector<value::Item>> AnswerItems::take() && {
  if (auto* values = std::get_if<std::vector<value::Item>>(&content_)) return std::move(*values);
  return value::parse_items(std::get<std::string>(content_));
}

std::string AnswerItems::take_json() && {
  if (auto* values = std::get_if<std::vector<value::Item>>(&content_)) {
    AnswerItems written;
    for (auto& item : *values) written.add(std::move(item));
    return std::move(written).take_json();
  }
  return std::get<std::string>(std::move(content_));
}

}  // namespace stator::api
