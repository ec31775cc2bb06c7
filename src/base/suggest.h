#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stator {

// The candidate that `word` is most likely a slip of the finger away from; nullopt when none is close.
std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean port?", or nothing: the end of a message about an unknown word.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace stator
