#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// OneTable's value templates: account:${id}, ${order:5:0}.
namespace stator::model::import {

struct ValueTemplate {
  struct Part {
    std::string text;  // a literal, or the name in a hole
    bool hole = false;
    std::string width;  // of a padded hole; empty: as it is
    char filler = '0';
  };
  std::vector<Part> parts;

  static ValueTemplate parse(std::string_view text);

  // As a template of a model.  A hole of `type_field` is the name of the model itself.
  std::string as_template(std::string_view type_field, std::string_view model) const;
  // As an expression that is derived: concat(first, ' ', last).  nullopt when it pads, which no expression does.
  std::optional<std::string> as_expression() const;
};

}  // namespace stator::model::import
