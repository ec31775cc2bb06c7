#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "stator/base/assert.h"
#include "stator/model/expression/template.h"
#include "stator/model/types/text.h"

namespace stator::model {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The blocks of combining diacritical marks.  Other marks stay: the vowel signs of Indic scripts and Thai are marks,
// too, and without them different words would be the same.
bool is_diacritic(std::int32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x1DC0 && c <= 0x1DFF) ||
         (c >= 0x20D0 && c <= 0x20FF) || (c >= 0xFE20 && c <= 0xFE2F);
}

auto combining_class(std::int32_t c) { return utf8proc_get_property(c)->combining_class; }

// Unicode's canonical order: within a run of marks, by combining class.
void order_marks(std::vector<std::int32_t>& characters) {
  for (auto at = characters.begin(); at != characters.end();) {
    if (combining_class(*at) == 0) {
      ++at;
      continue;
    }
    const auto end = std::find_if(at, characters.end(), [](std::int32_t c) { return combining_class(c) == 0; });
    std::stable_sort(at, end, [](std::int32_t a, std::int32_t b) { return combining_class(a) < combining_class(b); });
    at = end;
  }
}

// Decomposes and case-folds each character, drops its diacritics, and composes what is left.  utf8proc_map does the
// same in one call, but takes quadratic time over a long run of marks and strips all kinds of them.
Result<std::vector<std::int32_t>> folded_characters(std::string_view text, unsigned more_options) {
  const auto options = static_cast<utf8proc_option_t>(
      static_cast<unsigned>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD) | more_options);
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  std::vector<std::int32_t> characters;
  characters.reserve(text.size());
  while (at != end) {
    utf8proc_int32_t c = 0;
    const auto size = utf8proc_iterate(at, end - at, &c);
    if (size <= 0) return validation_error("the text is not UTF-8");
    at += size;
    std::array<utf8proc_int32_t, 32> decomposed{};  // no character has more than 18
    int boundary = 0;
    const auto count = utf8proc_decompose_char(c, decomposed.data(), decomposed.size(), options, &boundary);
    STATOR_ASSERT(count >= 0 && static_cast<std::size_t>(count) <= decomposed.size(),
                  "every character can be decomposed");
    std::remove_copy_if(decomposed.begin(), decomposed.begin() + count, std::back_inserter(characters), is_diacritic);
  }
  order_marks(characters);
  const auto composed = utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  STATOR_ASSERT(composed >= 0, "composing makes a text no longer");
  characters.resize(static_cast<std::size_t>(composed));
  return characters;
}

void append_utf8(std::string& out, std::int32_t character) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(character, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

// The letters that people type for a letter of its own; empty: the letter itself.
std::string_view typed_for(std::int32_t letter) {
  switch (letter) {
    case U'æ': return "ae";
    case U'œ': return "oe";
    case U'ø': return "o";
    case U'ð':
    case U'đ':
    case U'ɖ':
    case U'ɗ': return "d";
    case U'þ': return "th";
    case U'ħ': return "h";
    case U'ı':
    case U'ɨ': return "i";
    case U'ĸ':
    case U'ƙ': return "k";
    case U'ł':
    case U'ƚ': return "l";
    case U'ŋ':
    case U'ɲ': return "n";
    case U'ŧ': return "t";
    case U'ƀ':
    case U'ɓ': return "b";
    case U'ə':
    case U'ɛ':
    case U'ǝ':
    case U'ɇ': return "e";
    case U'ɔ':
    case U'ɵ': return "o";
    case U'ǥ': return "g";
    case U'ƒ': return "f";
    case U'ɉ': return "j";
    case U'ɍ': return "r";
    case U'ʉ': return "u";
    case U'ƴ':
    case U'ɏ': return "y";
    case U'ƶ': return "z";
    default: return {};
  }
}

// A katakana and its hiragana are one sound.
std::int32_t hiragana_for(std::int32_t letter) {
  constexpr std::int32_t kFirst = 0x30A1;
  constexpr std::int32_t kLast = 0x30F6;
  constexpr std::int32_t kDistance = 0x60;
  return letter >= kFirst && letter <= kLast ? letter - kDistance : letter;
}

}  // namespace

Result<std::string> fold(std::string_view text) {
  if (is_ascii(text)) return lower_ascii(text);
  std::string folded;
  folded.reserve(text.size());
  for (const auto character : TRY(folded_characters(text, 0))) append_utf8(folded, character);
  return folded;
}

Result<std::string> fold_letters(std::string_view text) {
  if (is_ascii(text)) return lower_ascii(text);
  std::string folded;
  folded.reserve(text.size());
  for (const auto character : TRY(folded_characters(text, UTF8PROC_COMPAT))) {
    if (const auto typed = typed_for(character); !typed.empty()) {
      folded += typed;
    } else {
      append_utf8(folded, hiragana_for(character));
    }
  }
  return folded;
}

}  // namespace stator::model
