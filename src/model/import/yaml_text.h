#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stator::model::import {

// Writes a YAML file line by line, and remembers its comments.
class YamlText {
 public:
  // "key:" and everything until the matching end() below it.
  void begin(std::string_view key);
  void end();
  // "key: value"; the value is YAML already.
  void line(std::string_view key, std::string_view value);
  void note(std::string_view text);  // a comment
  void blank();

  std::string take() { return std::move(text_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  void indent();

  std::string text_;
  std::vector<std::string> notes_;
  std::size_t depth_ = 0;
};

// A string that YAML reads back unchanged.
std::string yaml_string(std::string_view text);
// A key, quoted only when it has to be.
std::string yaml_key(std::string_view text);
// "[a, b]".
std::string yaml_list(const std::vector<std::string>& quoted_values);
// Upper case with underscores, as entities are named: "BlogPost" is "BLOG_POST".
std::string entity_name(std::string_view name);
// An attribute's name as a model can have it: "email address" is "email_address".
std::string attribute_name(std::string_view name);
// Lower case with dashes, as models are named.
std::string model_name(std::string_view name);

}  // namespace stator::model::import
