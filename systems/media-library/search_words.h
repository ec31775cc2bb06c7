#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stator::systems::media_library {

// A word of a text, folded with model::fold_letters().  An apostrophe separates two words.  In scripts that have no
// spaces between words (Chinese, Japanese, Thai and others) each character is a word.
struct TextWord {
  std::string text;
  bool continues = false;  // a character of such a script, right behind another one
  bool is_sign = false;    // it stands for the sign &: "and"

  friend bool operator==(const TextWord&, const TextWord&) = default;
};
// The first kMostWords words of a text.  A text that is not UTF-8 has none.
std::vector<TextWord> words_of(std::string_view text);
std::vector<TextWord> words_of_folded(std::string_view text);  // `text` comes from model::fold_letters()

inline constexpr std::size_t kMostWords = 256;
// A word is cut to this many letters, in documents and queries alike.
inline constexpr std::size_t kLongestWord = 64;

// A word of a query: one word, or the characters of a script without spaces that stand side by side.
struct QueryWord {
  std::vector<std::string> parts;  // never empty
  bool is_run() const { return parts.size() > 1; }
};
std::vector<QueryWord> query_words(std::string_view text);

// The letters of a word, which has at most kLongestWord.
std::u32string letters_of(std::string_view word);

// A number from 2 to 39 in its other form: "3" is "iii", and "iii" is "3".  Single letters are no numbers.  Empty: it
// has none.
std::string other_form_of_number(std::string_view word);

}  // namespace stator::systems::media_library
