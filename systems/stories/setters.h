#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value/attribute_value.h"

// The assignments that links and StoryInit have in Twine stories: `$coins to $coins - 3, $lamp to true`.
//
// Read are `to`, `=`, `+=`, `-=`, `*=`, `/=`, `++` and `--`, with numbers, texts, true, false, and arithmetic over
// variables.
namespace stator::systems::stories {

inline constexpr std::size_t kMostSetterBytes = 1000;

struct Assignments {
  value::Item values;
  std::vector<std::string> unknown;  // statements that cannot be expressed
};

// As the `set` of a response: a computed value is a text that begins with =.  Twine assigns one after another, and a
// response computes everything from the variables before: a statement that reads an earlier one is unknown.
Assignments read_setter(std::string_view text);
// nullopt when a part cannot be said in this form.
std::optional<std::string> write_setter(const value::Item& set);

// The variables that <<set ...>> of a passage StoryInit give a value.  Everything else in it is unknown.
Assignments read_story_init(std::string_view text);
// The variables that can be said in this form; empty when none can.
std::string write_story_init(const value::Item& variables);

}  // namespace stator::systems::stories
