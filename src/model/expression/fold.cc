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

}  // namespace

// Decomposes and case-folds each character, drops its diacritics, and composes what is left.  utf8proc_map does the
// same in one call, but takes quadratic time over a long run of marks and strips all kinds of them.
Result<std::string> fold(std::string_view text) {
  if (is_ascii(text)) return lower_ascii(text);
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD);
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
    const auto count = utf8proc_decompose_char(c, decomposed.data(), decomposed.size(), kOptions, &boundary);
    STATOR_ASSERT(count >= 0 && static_cast<std::size_t>(count) <= decomposed.size(),
                  "every character can be decomposed");
    std::remove_copy_if(decomposed.begin(), decomposed.begin() + count, std::back_inserter(characters), is_diacritic);
  }
  order_marks(characters);
  const auto composed = utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(characters.size()),
                                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  STATOR_ASSERT(composed >= 0, "composing makes a text no longer");
  std::string folded;
  folded.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < composed; ++i) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(characters[static_cast<std::size_t>(i)], bytes.data());
    folded.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
  }
  return folded;
}

}  // namespace stator::model
