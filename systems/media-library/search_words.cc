// words_of: how texts become the words that are searched for.
#include "stator/model/expression/template.h"
#include "stator/systems/media-library/search_index.h"

namespace stator::systems::media_library {
namespace {

constexpr char32_t kTypographicApostrophe = 0x2019;

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

// The first kLongestWord letters.
std::string cut(const std::string& word) {
  std::size_t at = 0;
  for (std::size_t letters = 0; at < word.size() && letters < kLongestWord; ++letters) next_code_point(word, at);
  return word.substr(0, at);
}

// The ASCII letters that people type instead of a letter that folding leaves alone, such as ø; empty: the letter
// itself.
std::string_view spelled_out(char32_t letter) {
  switch (letter) {
    case U'æ': return "ae";
    case U'ð': return "d";
    case U'ø': return "o";
    case U'þ': return "th";
    case U'đ': return "d";
    case U'ħ': return "h";
    case U'ı': return "i";
    case U'ĳ': return "ij";
    case U'ĸ': return "k";
    case U'ł': return "l";
    case U'ŋ': return "n";
    case U'œ': return "oe";
    case U'ŧ': return "t";
    default: return {};
  }
}

// Letters and digits; beyond ASCII everything but the blocks of punctuation.
bool is_word_character(char32_t point) {
  if (point < 0x80) return (point >= 'a' && point <= 'z') || (point >= '0' && point <= '9');
  const bool latin_signs = point < 0xC0 && point != 0xAA && point != 0xB5 && point != 0xBA;
  const bool general_punctuation = point >= 0x2000 && point <= 0x206F;
  const bool cjk_punctuation = point >= 0x3000 && point <= 0x303F;
  return !latin_signs && !general_punctuation && !cjk_punctuation;
}

// Collects the words of one text.
class WordList {
 public:
  explicit WordList(WordParts parts) : parts_(parts) {}

  void add(std::string_view character) {
    word_ += character;
    piece_ += character;
  }
  void apostrophe() {
    if (word_.empty()) return;
    in_pieces_ = true;
    end_piece();
  }
  void end_word() {
    if (in_pieces_) end_piece();
    keep(word_);
    word_.clear();
    piece_.clear();
    in_pieces_ = false;
  }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  void end_piece() {
    if (parts_ == WordParts::Pieces) keep(piece_);
    piece_.clear();
  }
  void keep(const std::string& word) {
    if (!word.empty() && words_.size() < SearchIndex::kMostTerms) words_.push_back(cut(word));
  }

  const WordParts parts_;
  std::vector<std::string> words_;
  std::string word_, piece_;
  bool in_pieces_ = false;
};

}  // namespace

std::u32string letters_of(std::string_view word) {
  std::u32string letters;
  for (std::size_t at = 0; at < word.size();) letters += next_code_point(word, at);
  return letters;
}

std::vector<std::string> words_of(std::string_view text, WordParts parts) {
  const auto folded = model::fold(text);
  if (!folded) return {};  // not UTF-8: nothing in it can be searched for
  WordList words(parts);
  for (std::size_t at = 0; at < folded->size();) {
    const auto begin = at;
    const auto point = next_code_point(*folded, at);
    if (point == U'\'' || point == kTypographicApostrophe) {
      words.apostrophe();
    } else if (is_word_character(point)) {
      const auto spelled = spelled_out(point);
      words.add(spelled.empty() ? std::string_view(*folded).substr(begin, at - begin) : spelled);
    } else {
      words.end_word();
    }
  }
  words.end_word();
  return words.take();
}

}  // namespace stator::systems::media_library
