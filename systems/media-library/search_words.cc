#include "stator/systems/media-library/search_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stator/base/ascii.h"
#include "stator/model/expression/template.h"

namespace stator::systems::media_library {
namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t point) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return point >= range.first && point <= range.last; });
}

// Beyond ASCII; in order of their scripts.
constexpr auto kPunctuation = std::to_array<Range>({
    {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},     {0xF7, 0xF7},
    {0x37E, 0x37E},   {0x387, 0x387},   {0x55A, 0x55F},   {0x589, 0x58A},   {0x5BE, 0x5BE},   {0x5F3, 0x5F4},
    {0x60C, 0x60D},   {0x61B, 0x61F},   {0x66A, 0x66D},   {0x6D4, 0x6D4},   {0x964, 0x965},   {0x1360, 0x1368},
    {0x2000, 0x206F}, {0x2190, 0x2BFF}, {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3030}, {0x303D, 0x303F},
    {0x30A0, 0x30A0}, {0x30FB, 0x30FB}, {0xFE10, 0xFE19}, {0xFE30, 0xFE6F},
});

// Scripts that have no spaces between words: Thai and Lao, Myanmar, Khmer, kana, and Chinese characters.
constexpr auto kSpaceless = std::to_array<Range>({
    {0xE00, 0xEFF},
    {0x1000, 0x109F},
    {0x1780, 0x17FF},
    {0x3005, 0x3007},
    {0x3040, 0x30FF},
    {0x31F0, 0x31FF},
    {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},
    {0xF900, 0xFAFF},
    {0x20000, 0x3FFFF},
});

bool is_apostrophe(char32_t point) { return point == U'\'' || point == U'’' || point == U'ʼ'; }

bool is_letter(char32_t point) {
  if (point < 0x80) return (point >= 'a' && point <= 'z') || (point >= '0' && point <= '9');
  return !is_in(kPunctuation, point);
}

bool is_spaceless(char32_t point) { return point >= kSpaceless.front().first && is_in(kSpaceless, point); }

// The code point at `at`, which moves behind it.  The text is UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  const unsigned more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  auto point = static_cast<char32_t>(lead & (0x3FU >> more));
  for (unsigned i = 0; i < more && at < text.size(); ++i) {
    point = (point << 6) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  }
  return point;
}

// Collects the words of one text.
class WordList {
 public:
  void add(std::string_view letter) {
    if (++letters_ <= kLongestWord) word_ += letter;
    in_run_ = false;
  }
  void add_alone(std::string_view character) {
    end_word();
    keep({.text = std::string(character), .continues = std::exchange(in_run_, true)});
  }
  void add_sign(std::string_view word) {
    end_run();
    keep({.text = std::string(word), .is_sign = true});
  }
  void end_run() {
    end_word();
    in_run_ = false;
  }
  std::vector<TextWord> take() { return std::move(words_); }

 private:
  void end_word() {
    if (letters_ > 0) keep({.text = std::move(word_)});
    word_.clear();
    letters_ = 0;
  }
  void keep(TextWord word) {
    if (words_.size() < kMostWords) words_.push_back(std::move(word));
  }

  std::vector<TextWord> words_;
  std::string word_;
  std::size_t letters_ = 0;
  bool in_run_ = false;
};

}  // namespace

std::vector<TextWord> words_of(std::string_view text) {
  const auto folded = model::fold_letters(text);
  return folded ? words_of_folded(*folded) : std::vector<TextWord>();
}

std::vector<TextWord> words_of_folded(std::string_view text) {
  WordList words;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    const auto point = next_code_point(text, at);
    const auto character = text.substr(begin, at - begin);
    if (point == U'&') {
      words.add_sign("and");
    } else if (!is_letter(point) || is_apostrophe(point)) {
      words.end_run();
    } else if (is_spaceless(point)) {
      words.add_alone(character);
    } else {
      words.add(character);
    }
  }
  words.end_run();
  return words.take();
}

std::vector<QueryWord> query_words(std::string_view text) {
  std::vector<QueryWord> words;
  for (auto& word : words_of(text)) {
    if (word.is_sign) continue;  // "Tom & Jerry" is found as "Tom and Jerry" and as "Tom et Jerry"
    if (!word.continues) words.emplace_back();
    words.back().parts.push_back(std::move(word.text));
  }
  return words;
}

std::u32string letters_of(std::string_view word) {
  std::u32string letters;
  for (std::size_t at = 0; at < word.size();) letters += next_code_point(word, at);
  return letters;
}

std::string other_form_of_number(std::string_view word) {
  static const auto kNumerals = [] {
    constexpr std::array<std::string_view, 10> kOnes = {"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"};
    std::vector<std::string> numerals;
    for (std::size_t number = 0; number < 40; ++number) {
      numerals.push_back(std::string(number / 10, 'x') + std::string(kOnes[number % 10]));
    }
    return numerals;
  }();
  constexpr std::size_t kLeast = 2;
  if (word.empty() || word.size() > 7) return {};
  if (is_digit(word.front())) {
    if (word.size() > 2 || word.front() == '0' || !std::ranges::all_of(word, is_digit)) return {};
    const auto number = static_cast<std::size_t>(std::stoi(std::string(word)));
    return number >= kLeast && number < kNumerals.size() ? kNumerals[number] : std::string();
  }
  if (word.size() < 2) return {};
  const auto found = std::ranges::find(kNumerals, word);
  return found != kNumerals.end() ? std::to_string(found - kNumerals.begin()) : std::string();
}

}  // namespace stator::systems::media_library
