#include "stator/model/import/onetable_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/model/import/yaml_text.h"

namespace stator::model::import {
namespace {

// A text with the given characters doubled.
std::string doubled(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += c;
    out += c;
  }
  return out;
}

// Names as a model has them, with the dots between them.
std::string path_of(std::string_view text) {
  const auto dot = text.find('.');
  const auto first = attribute_name(text.substr(0, dot));
  return dot == std::string_view::npos ? first : first + "." + path_of(text.substr(dot + 1));
}

ValueTemplate::Part hole_of(std::string_view inside) {
  const auto colon = inside.find(':');
  ValueTemplate::Part part{.text = path_of(inside.substr(0, colon)), .hole = true, .width = {}, .filler = '0'};
  if (colon == std::string_view::npos) return part;
  const auto rest = inside.substr(colon + 1);
  const auto second = rest.find(':');
  part.width = rest.substr(0, second);
  if (second != std::string_view::npos && second + 1 < rest.size()) part.filler = rest[second + 1];
  return part;
}

}  // namespace

ValueTemplate ValueTemplate::parse(std::string_view text) {
  ValueTemplate result;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto begin = std::min(text.find("${", at), text.size());
    const auto end = text.find('}', begin);
    const auto literal = text.substr(at, end == std::string_view::npos ? std::string_view::npos : begin - at);
    if (!literal.empty())
      result.parts.push_back({.text = std::string(literal), .hole = false, .width = {}, .filler = '0'});
    if (end == std::string_view::npos) break;
    result.parts.push_back(hole_of(text.substr(begin + 2, end - begin - 2)));
    at = end + 1;
  }
  return result;
}

std::string ValueTemplate::as_template(std::string_view type_field, std::string_view model) const {
  std::string out;
  for (const auto& part : parts) {
    if (!part.hole) {
      out += doubled(part.text, "{}");
    } else if (part.text == type_field) {
      out += doubled(model, "{}");
    } else if (part.width.empty()) {
      out += fmt::format("{{{}}}", part.text);
    } else {
      out += fmt::format("{{{}:0{}}}", part.text, part.width);
    }
  }
  return out;
}

std::optional<std::string> ValueTemplate::as_expression() const {
  std::vector<std::string> operands;
  for (const auto& part : parts) {
    if (!part.width.empty()) return std::nullopt;
    operands.push_back(part.hole ? part.text : fmt::format("'{}'", doubled(part.text, "'")));
  }
  if (operands.empty()) return std::nullopt;
  return fmt::format("concat({})", fmt::join(operands, ", "));
}

}  // namespace stator::model::import
