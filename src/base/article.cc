#include "stator/base/article.h"

#include <algorithm>
#include <array>

namespace stator {
namespace {

// How words begin whose first letter is a vowel and whose first sound is not: "you", "wun".
constexpr auto kLikeConsonants =
    std::to_array<std::string_view>({"eu", "one", "once", "ubiq", "ukr", "uni", "unanim", "uran", "ure", "uri", "url",
                                     "usa", "use", "usu", "ute", "uti", "uto", "uu"});
// The same for words that are listed above by mistake: "un-" before an i.
constexpr auto kLikeVowels =
    std::to_array<std::string_view>({"unid", "unim", "unin", "hour", "honest", "honor", "honour", "heir"});

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

std::string with_article(std::string_view noun) {
  std::string start(noun.substr(0, 8));
  std::transform(start.begin(), start.end(), start.begin(), lower);
  const auto begins_so = [&](std::string_view other) { return start.starts_with(other); };
  const bool vowel = !start.empty() && std::string_view("aeiou").find(start.front()) != std::string_view::npos;
  const bool sounds_so = std::any_of(kLikeVowels.begin(), kLikeVowels.end(), begins_so) ||
                         (vowel && std::none_of(kLikeConsonants.begin(), kLikeConsonants.end(), begins_so));
  return std::string(sounds_so ? "an " : "a ").append(noun);
}

}  // namespace stator
