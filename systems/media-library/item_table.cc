#include "stator/systems/media-library/item_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/app/rest/request/input.h"
#include "stator/base/article.h"
#include "stator/base/ascii.h"
#include "stator/base/trim.h"
#include "stator/model/problem_list.h"
#include "stator/systems/media-library/csv.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

constexpr std::string_view kType = "Type";
constexpr std::string_view kCollection = "Collection";

std::string cell_of(const value::AttributeValue& value) {
  if (const auto* text = value.as_string()) return *text;
  if (const auto* number = value.as_number()) return number->to_string();
  if (const auto* list = value.as_list()) return join_list(*list);
  return {};
}

// The name without what people write in different ways.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') plain += to_lower(c);
  }
  return plain;
}

// A file whose lines are shorter than the first lacks the values at their end.
std::string_view field_at(const std::vector<std::string>& fields, std::size_t column) {
  return column < fields.size() ? plain_field(fields[column]) : std::string_view();
}

// Spaces around a text may belong to it; around anything else they do not.
std::string_view text_of(const model::Type& type, std::string_view cell) {
  return type.kind == model::Kind::String ? cell : trim(cell);
}

}  // namespace

const std::vector<std::string>& ItemTable::columns() {
  static const std::vector<std::string> kColumns = {std::string(kType),
                                                    "Title",
                                                    "Authors",
                                                    "Isbn",
                                                    "Directors",
                                                    "Cast",
                                                    "ReleaseYear",
                                                    "Duration",
                                                    "TmdbId",
                                                    std::string(kCollection),
                                                    "Order",
                                                    "PictureUrl",
                                                    "Summary"};
  return kColumns;
}

std::vector<std::string> ItemTable::fields_of(const runtime::Object& item) {
  std::vector<std::string> fields;
  for (const auto& column : columns()) {
    if (column == kType) {
      fields.push_back(item.entity->name);
      continue;
    }
    const auto* value = item.attributes.find(column == kCollection ? std::string_view("CollectionName") : column);
    fields.push_back(value != nullptr ? cell_of(*value) : std::string());
  }
  return fields;
}

ItemTable::ItemTable(const model::Model& model, const std::vector<std::string>& header,
                     std::vector<model::ValueProblem>& problems)
    : model_(model) {
  for (const auto& name : header) {
    const auto known = std::ranges::find(columns(), plain_name(name), plain_name);
    const auto column = known != columns().end() ? *known : model::shown_name(trim(name));
    if (known == columns().end()) {
      problems.push_back(
          {.attribute = column, .problem = fmt::format("is not a column; those are {}", fmt::join(columns(), ", "))});
    } else if (std::ranges::find(header_, column) != header_.end()) {
      problems.push_back({.attribute = column, .problem = "is there twice"});
    }
    header_.push_back(column);
  }
  if (std::ranges::find(header_, "Title") == header_.end()) {
    problems.push_back({.attribute = "Title", .problem = "is a column that must be there"});
  }
}

ItemTable::Line ItemTable::read(const std::vector<std::string>& fields,
                                std::vector<model::ValueProblem>& problems) const {
  const auto type_column = static_cast<std::size_t>(std::ranges::find(header_, kType) - header_.begin());
  const auto type = plain_name(field_at(fields, type_column));
  const bool is_video = type == "video";
  const bool is_book = type.empty() || type == "book";
  Line line{.entity = model_.find_entity(is_video ? "VIDEO" : "BOOK"), .attributes = {}, .collection = {}};
  if (!is_book && !is_video) {
    // The other checks depend on the type.
    problems.push_back({.attribute = std::string(kType), .problem = "must be BOOK or VIDEO"});
    line.entity = nullptr;
    return line;
  }
  if (fields.size() > header_.size()) {
    problems.push_back({.attribute = {}, .problem = "the line has more fields than there are columns"});
  }
  for (std::size_t i = 0; i < header_.size(); ++i) {
    const auto& column = header_[i];
    const auto cell = field_at(fields, i);
    if (trim(cell).empty() || column == kType) continue;
    if (column == kCollection) {
      line.collection = cell;
      continue;
    }
    const auto* attribute = line.entity->find_attribute(column);
    if (attribute == nullptr) {
      problems.push_back({.attribute = column, .problem = "is not for " + with_article(line.entity->name)});
    } else if (attribute->type.kind == model::Kind::List) {
      line.attributes.set(column, value::AttributeValue(split_list(cell)));
    } else if (auto value = app::read_url_value(attribute->type, column, text_of(attribute->type, cell), problems)) {
      line.attributes.set(column, std::move(*value));
    }
  }
  return line;
}

std::string join_list(const value::List& members) {
  std::string cell;
  for (const auto& member : members) {
    if (&member != members.data()) cell += "; ";
    const auto text = cell_of(member);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool outer_space = text[i] == ' ' && (i == 0 || i + 1 == text.size());
      if (text[i] == ';' || text[i] == '\\' || outer_space) cell += '\\';
      cell += text[i];
    }
  }
  return cell;
}

value::List split_list(std::string_view cell) {
  value::List members;
  std::string member;
  std::size_t kept = 0;  // bytes of it, without the spaces behind that are not escaped
  const auto end_member = [&] {
    member.resize(kept);
    if (!member.empty()) members.push_back(value::AttributeValue::string(member));
    member.clear();
    kept = 0;
  };
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const bool escaped = cell[i] == '\\' && i + 1 < cell.size();
    if (escaped) ++i;
    if (cell[i] == ';' && !escaped) {
      end_member();
    } else if (cell[i] != ' ' || escaped) {
      member += cell[i];
      kept = member.size();
    } else if (!member.empty()) {
      member += cell[i];
    }
  }
  end_member();
  return members;
}

}  // namespace stator::systems::media_library
