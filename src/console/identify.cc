#include "stator/console/identify.h"

#include <string>
#include <vector>

#include "stator/app/rest/answer.h"
#include "stator/model/rows.h"
#include "stator/runtime/repository.h"

namespace stator::console {
namespace {

// The values of the key attributes of an index; nothing when the item lacks one, and so is not in the index.
std::optional<std::string> index_key(const value::Item& item, const std::vector<model::KeyDesign>& keys) {
  std::string text;
  for (const auto& key : keys) {
    const auto* value = item.find(key.name);
    if (value == nullptr) return std::nullopt;
    if (!text.empty()) text += " / ";
    if (const auto* string = value->as_string()) {
      text += *string;
    } else if (const auto* number = value->as_number()) {
      text += number->to_string();
    } else {
      value::append_json(text, *value);
    }
  }
  return text;
}

void write_index_rows(value::JsonWriter& json, const model::Model& model, const value::Item& item) {
  json.key("indexRows").begin_array();
  for (const auto& index : model.table.indexes) {
    const auto partition =
        index_key(item, index.local ? std::vector<model::KeyDesign>{model.table.partition} : index.partition);
    const auto sort = index_key(item, index.sort);
    if (!partition || !sort) continue;
    json.begin_object().key("index").string(index.name).key("partition").string(*partition);
    json.key("sort").string(*sort).end_object();
  }
  json.end_array();
}

}  // namespace

void write_identity(value::JsonWriter& json, const model::Model& model, const value::Item& item) {
  const auto [entity, record] = model.find_row_type(item.text(model.table.type_attribute));
  json.begin_object();
  if (entity == nullptr) {
    json.key("entity").null().key("path").null().key("parents").begin_array().end_array();
  } else {
    const auto attributes = model::attributes_of(model, *entity, *record, item);
    json.key("entity").string(entity->name).key("record").string(record->name).key("path");
    const auto path = app::path_of({.entity = entity,
                                    .attributes = attributes,
                                    .version = 0,
                                    .nested_as = {},
                                    .nested = {},
                                    .continued = false,
                                    .joined = {}});
    if (path.empty()) {
      json.null();
    } else {
      json.string(path);
    }
    json.key("parents").begin_array();
    for (const auto& parent : entity->parents) {
      const auto key = model::parent_key(model, *entity, parent, attributes);
      if (!key || !*key) continue;
      json.begin_object().key("entity").string(parent.entity).key("relation").string(parent.name);
      json.key("key").item(**key).end_object();
    }
    json.end_array();
  }
  write_index_rows(json, model, item);
  json.end_object();
}

}  // namespace stator::console
