#include "stator/systems/media-library/search_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "stator/base/ascii.h"

namespace stator::systems::media_library {
namespace {

// How well one word matches, of 100.
constexpr std::int32_t kExact = 100;
constexpr std::int32_t kJoined = 90;        // several words of the query are one of the item
constexpr std::int32_t kOtherNumeral = 80;  // II for 2
constexpr std::int32_t kSplit = 50;         // one word of the query is several of the item
constexpr std::int32_t kSplitBeginning = 42;
constexpr std::int32_t kBeginning = 40;        // and as much of the next as the beginning is of the word
constexpr std::int32_t kBeginningJoined = 32;  // the same where words of the query are joined
constexpr std::int32_t kBeginningRange = 15;
constexpr std::int32_t kTypo = 25;
constexpr std::int32_t kTypoInShort = 20;  // a word of three letters
constexpr std::int32_t kTypoMore = 10;     // less for a second one
constexpr std::int32_t kTypoJoined = 12;
constexpr std::int32_t kMisspeltBeginning = 10;

constexpr std::int32_t kInTitle = 14;
constexpr std::int32_t kElsewhere = 10;
// For a title that has nothing but the words of the query, in their order.  Less than what lies between an exact word
// and a beginning.
constexpr std::int32_t kCoverage = 240;
constexpr std::int32_t kFirstWord = 40;
constexpr std::int32_t kInOrder = 120;

// The lowest part of a score: words of the title.
constexpr std::int32_t kTitleWord = 1;
constexpr std::int32_t kMatch = 256;

std::int32_t score_of(std::int32_t quality, bool in_title, std::size_t words = 1) {
  const auto counted = static_cast<std::int32_t>(words) * kTitleWord;
  return quality * (in_title ? kInTitle : kElsewhere) * kMatch + (in_title ? counted : 0);
}

constexpr std::size_t kMostJoined = 4;        // words of a query, as the letters of a name
constexpr std::size_t kMostPieces = 8;        // of a word that is split
constexpr std::size_t kMostSplits = 8;        // ways to split a word that are looked at
constexpr std::size_t kMostSplitSteps = 500;  // on the way to these
constexpr std::size_t kMostSimilar = 64;      // words that a piece may have been meant as
constexpr std::size_t kMostLooks = 8;         // for such words, in one word of a query
constexpr std::size_t kShortestPiece = 3;     // with a typo in it or beside it

std::size_t allowed_typos(std::u32string_view word) {
  const auto is_ascii_digit = [](char32_t letter) { return letter >= U'0' && letter <= U'9'; };
  if (std::ranges::all_of(word, is_ascii_digit)) return 0;
  return word.size() >= 8 ? 2 : word.size() >= 3 ? 1 : 0;
}

bool is_number_letter(char32_t letter) { return letter >= U'0' && letter <= U'9'; }

// The number of letters that were changed, added, left out, or swapped with their neighbour, from `a` to `b`; beyond
// `most`, some greater number.  `beginning`: to the beginning of `b` that is nearest.  A digit is never added or left
// out, and never changed to another one, because that is another number; "se7en" is "seven" all the same.
std::size_t distance(std::u32string_view a, std::u32string_view b, std::size_t most, bool beginning = false) {
  constexpr std::uint8_t kNever = 100;
  using Row = std::array<std::uint8_t, kLongestWord + 1>;
  std::array<Row, 3> rows;
  Row* before_last = rows.data();
  Row* last = rows.data() + 1;
  Row* row = rows.data() + 2;
  const auto plus = [](std::uint8_t cost, unsigned more) {
    return static_cast<std::uint8_t>(std::min<unsigned>(cost + more, kNever));
  };
  const auto added = [](char32_t letter) -> unsigned { return is_number_letter(letter) ? kNever : 1; };
  (*last)[0] = 0;
  for (std::size_t j = 1; j <= b.size(); ++j) (*last)[j] = plus((*last)[j - 1], added(b[j - 1]));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const auto mine = a[i - 1];
    const auto left_out = added(mine);
    (*row)[0] = plus((*last)[0], left_out);
    auto best = (*row)[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto theirs = b[j - 1];
      const bool other_number = mine != theirs && is_number_letter(mine) && is_number_letter(theirs);
      const unsigned change = mine == theirs ? 0 : other_number ? kNever : 1;
      auto cost =
          std::min({plus((*last)[j], left_out), plus((*row)[j - 1], added(theirs)), plus((*last)[j - 1], change)});
      const bool swapped = i > 1 && j > 1 && mine == b[j - 2] && a[i - 2] == theirs && !is_number_letter(mine) &&
                           !is_number_letter(theirs);
      if (swapped) cost = std::min(cost, plus((*before_last)[j - 2], 1));
      (*row)[j] = cost;
      best = std::min(best, cost);
    }
    if (best > most) return most + 1;
    std::swap(before_last, last);
    std::swap(last, row);
  }
  if (!beginning) return (*last)[b.size()];
  return *std::min_element(last->begin(), last->begin() + static_cast<std::ptrdiff_t>(b.size()) + 1);
}

// Whether two words begin alike: a typo in a short word is seldom its first letter.
bool begin_alike(std::u32string_view a, std::u32string_view b) {
  return a[0] == b[0] || (a[0] == b[1] && a[1] == b[0]);
}

// A word of an index, in letters, without memory of its own.
class Letters {
 public:
  explicit Letters(std::string_view text) {
    bool ascii = true;
    for (const char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    if (ascii) {
      for (const char c : text) letters_[size_++] = static_cast<unsigned char>(c);
    } else {
      for (const auto letter : letters_of(text)) letters_[size_++] = letter;
    }
  }
  std::u32string_view view(std::size_t most = kLongestWord) const { return {letters_.data(), std::min(size_, most)}; }

 private:
  std::array<char32_t, kLongestWord> letters_;
  std::size_t size_ = 0;
};

// Where letters end in a word, its end included.
std::vector<std::size_t> letter_ends(std::string_view word) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= word.size(); ++i) {
    const bool inside = i < word.size() && (static_cast<unsigned char>(word[i]) & 0xC0U) == 0x80U;
    if (!inside) ends.push_back(i);
  }
  return ends;
}

std::int32_t part_of(std::int32_t whole, std::size_t part, std::size_t of) {
  return static_cast<std::int32_t>(static_cast<std::size_t>(whole) * part / of);
}

}  // namespace

void SearchRun::Scores::raise(Slot slot, Score score) {
  auto& best = by_slot[slot];
  if (best == 0) slots.push_back(slot);
  best = std::max(best, score);
}

void SearchRun::Scores::clear() {
  for (const auto slot : slots) by_slot[slot] = 0;
  slots.clear();
}

SearchRun::SearchRun(const SearchIndex& index, const SearchIndex::Query& query)
    : index_(index), query_(query), words_(query_words(query.text)) {
  if (words_.size() > SearchIndex::kMostQueryWords) words_.resize(SearchIndex::kMostQueryWords);
}

std::vector<SearchIndex::Hit> SearchRun::run() {
  if (words_.empty()) return {};
  best_.resize(words_.size() + 1);
  for (auto& scores : best_) scores.by_slot.resize(index_.entries_.size());
  unit_.by_slot.resize(index_.entries_.size());
  matches_.resize(index_.words_.size());
  look(false);
  if (best_.back().slots.empty()) look(true);
  return ranked();
}

void SearchRun::look(bool thoroughly) {
  const auto count = words_.size();
  for (std::size_t end = 1; end <= count; ++end) {
    for (std::size_t first = end; first-- > 0 && end - first <= kMostJoined;) {
      if (first + 1 < end && (words_[first].is_run() || words_[end - 1].is_run())) break;
      if (first > 0 && best_[first].slots.empty()) continue;
      take({.first = first, .end = end, .is_last = end == count}, thoroughly);
    }
  }
}

// Matches a unit, and joins what it finds with what the words before it have found.
void SearchRun::take(const Unit& unit, bool thoroughly) {
  unit_.clear();
  if (unit.size() == 1 && words_[unit.first].is_run()) {
    match_characters(words_[unit.first], unit);
  } else if (unit.size() == 1) {
    const std::string_view word = words_[unit.first].parts.front();
    match_word(word, unit);
    if (thoroughly && unit_.slots.empty()) match_split_with_typo(word, unit);
  } else {
    std::string joined;
    for (auto i = unit.first; i < unit.end; ++i) joined += words_[i].parts.front();
    const auto letters = letters_of(joined);
    if (letters.size() > kLongestWord) return;
    match_exactly(joined, kJoined, unit);
    match_beginnings(joined, kBeginningJoined, unit);
    const bool misspelt = thoroughly && unit.size() == 2 && letters.size() >= 2 * kShortestPiece;
    if (misspelt) match_typos(letters, kTypoJoined, unit);
  }
  const auto& before = best_[unit.first];
  auto& after = best_[unit.end];
  for (const auto slot : unit_.slots) {
    const auto so_far = unit.first == 0 ? 0 : before.by_slot[slot];
    if (unit.first > 0 && so_far == 0) continue;
    const auto score = unit_.by_slot[slot];
    const auto words = score % kMatch;
    after.raise(slot, so_far + (score - words) * static_cast<Score>(unit.size()) + words);
  }
}

// --------------------------------------------------------------------------------------------------- one word for one

void SearchRun::match_word(std::string_view word, const Unit& unit) {
  const auto letters = letters_of(word);
  match_exactly(word, kExact, unit);
  if (const auto numeral = other_form_of_number(word); !numeral.empty()) match_exactly(numeral, kOtherNumeral, unit);
  match_beginnings(word, kBeginning, unit);
  match_typos(letters, letters.size() > 3 ? kTypo : kTypoInShort, unit);
  match_split(word, unit);
  if (unit.is_last && unit_.slots.empty()) match_misspelt_beginnings(letters, unit);
}

void SearchRun::note(WordId word, const Unit& unit) {
  for (auto i = unit.first; i < unit.end; ++i) matches_[word] |= 1U << i;
}

void SearchRun::found(WordId word, Score quality, const Unit& unit) {
  note(word, unit);
  for (const auto& posting : index_.words_[word].postings) {
    unit_.raise(posting.slot(), score_of(quality, posting.in_title()));
  }
}

void SearchRun::match_exactly(std::string_view word, Score quality, const Unit& unit) {
  WordId id = 0;
  if (index_.find_word(word, id) != nullptr) found(id, quality, unit);
}

void SearchRun::match_beginnings(std::string_view word, Score least, const Unit& unit) {
  auto at = index_.in_order_.upper_bound(word);  // the word itself is no beginning
  for (; at != index_.in_order_.end() && at->first.starts_with(word); ++at) {
    found(at->second, least + part_of(kBeginningRange, word.size(), at->first.size()), unit);
  }
}

void SearchRun::for_each_similar(std::u32string_view word, std::size_t typos,
                                 const std::function<void(WordId, std::size_t)>& visit) const {
  if (typos == 0) return;
  const auto bits = letter_bits(word);
  const bool is_short = word.size() <= 3;
  const auto shortest = is_short ? word.size() : word.size() - typos;
  const auto longest = std::min(word.size() + typos + 1, index_.by_length_.size());
  for (auto length = shortest; length < longest; ++length) {
    for (const auto& candidate : index_.by_length_[length]) {
      // A typo takes one letter away and brings another at most: nearly all words are ruled out here.
      if (static_cast<std::size_t>(std::popcount(bits ^ candidate.letters)) > 2 * typos) continue;
      const Letters letters(index_.words_[candidate.word].text);
      if (is_short && !begin_alike(word, letters.view())) continue;
      const auto wrong = distance(word, letters.view(), typos);
      if (wrong > 0 && wrong <= typos) visit(candidate.word, wrong);
    }
  }
}

void SearchRun::match_typos(std::u32string_view word, Score quality, const Unit& unit) {
  const auto typos = unit.size() == 1 ? allowed_typos(word) : std::min<std::size_t>(allowed_typos(word), 1);
  for_each_similar(word, typos, [&](WordId id, std::size_t wrong) {
    found(id, quality - kTypoMore * static_cast<Score>(wrong - 1), unit);
  });
}

// The last word while it is being typed, with one wrong letter.
void SearchRun::match_misspelt_beginnings(std::u32string_view word, const Unit& unit) {
  constexpr std::size_t kLeastLetters = 5;
  if (word.size() < kLeastLetters || allowed_typos(word) == 0) return;
  const auto bits = letter_bits(word);
  for (auto length = word.size() + 1; length < index_.by_length_.size(); ++length) {
    for (const auto& candidate : index_.by_length_[length]) {
      if (std::popcount(bits & ~candidate.letters) > 1) continue;
      const Letters letters(index_.words_[candidate.word].text);
      if (!begin_alike(word, letters.view())) continue;
      if (distance(word, letters.view(word.size() + 1), 1, true) == 1) found(candidate.word, kMisspeltBeginning, unit);
    }
  }
}

// ---------------------------------------------------------------------------------------------------- one for several

bool SearchRun::has_run_at(const SearchIndex::Entry& entry, std::size_t at, const std::vector<WordId>& ids,
                           std::string_view last) const {
  const auto size = ids.size() + (last.empty() ? 0 : 1);
  if (at + size > entry.words.size()) return false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (entry.words[at + i] != ids[i]) return false;
  }
  if (last.empty()) return true;
  const auto id = entry.words[at + ids.size()];
  return id != SearchIndex::kBreak && index_.words_[id].text.starts_with(last);
}

// The items that may have all these words, in order: those of the rarest that the second rarest has, too.
std::vector<SearchRun::Slot> SearchRun::items_with(const std::vector<WordId>& ids, std::string_view last) const {
  std::vector<const std::vector<SearchIndex::Posting>*> lists;
  for (const auto id : std::set<WordId>(ids.begin(), ids.end())) lists.push_back(&index_.words_[id].postings);
  std::ranges::sort(lists, {}, [](const auto* list) { return list->size(); });
  std::vector<Slot> slots;
  if (!last.empty()) {
    const auto fewest = lists.front()->size();
    auto at = index_.in_order_.lower_bound(last);
    for (; at != index_.in_order_.end() && at->first.starts_with(last) && slots.size() < fewest; ++at) {
      for (const auto& posting : index_.words_[at->second].postings) slots.push_back(posting.slot());
    }
    if (slots.size() < fewest) {
      std::ranges::sort(slots);
    } else {
      slots.clear();
    }
  }
  std::size_t next = 0;
  if (slots.empty()) {
    for (const auto& posting : *lists[next++]) slots.push_back(posting.slot());
  }
  if (next == lists.size()) return slots;
  const auto& other = *lists[next];
  auto at = other.begin();
  const auto lacks = [&](Slot slot) {
    at = std::lower_bound(at, other.end(), slot, [](const auto& posting, Slot of) { return posting.slot() < of; });
    return at == other.end() || at->slot() != slot;
  };
  std::erase_if(slots, lacks);
  return slots;
}

bool SearchRun::match_run(const std::vector<WordId>& ids, std::string_view last, Score quality, const Unit& unit) {
  bool any = false;
  for (const auto slot : items_with(ids, last)) {
    const auto& entry = index_.entries_[slot];
    for (std::size_t at = 0; at < entry.words.size(); ++at) {
      if (!has_run_at(entry, at, ids, last)) continue;
      const bool in_title = at < index_.heads_[slot].title_words;
      unit_.raise(slot, score_of(quality, in_title, ids.size() + (last.empty() ? 0 : 1)));
      if (!last.empty()) note(entry.words[at + ids.size()], unit);
      any = true;
      break;  // the title is in front
    }
  }
  for (std::size_t i = 0; any && i < ids.size(); ++i) note(ids[i], unit);
  return any;
}

// Goes through the ways to take a word apart into words of the index, long ones first.
void SearchRun::match_split(std::string_view word, const Unit& unit) {
  const auto ends = letter_ends(word);
  std::vector<WordId> ids;
  std::vector<bool> is_dead(word.size() + 1);  // from here on, nothing can be taken apart
  std::size_t splits = 0;
  std::size_t steps = 0;
  const auto go_on = [&](auto&& self, std::size_t begin) -> bool {
    bool any = false;
    for (auto end = ends.rbegin(); end != ends.rend() && *end > begin; ++end) {
      if (splits == kMostSplits || ++steps > kMostSplitSteps) return true;
      const auto piece = word.substr(begin, *end - begin);
      WordId id = 0;
      const bool known = index_.find_word(piece, id) != nullptr;
      const bool is_rest = *end == word.size();
      if (is_rest && begin == 0) continue;  // that is no way to take it apart
      if (is_rest) {
        const bool begins_one = piece.size() > 1 && [&] {
          const auto next = index_.in_order_.upper_bound(piece);
          return next != index_.in_order_.end() && next->first.starts_with(piece);
        }();
        if (begins_one) match_run(ids, piece, kSplitBeginning, unit);
        if (known) {
          ids.push_back(id);
          match_run(ids, {}, kSplit, unit);
          ids.pop_back();
        }
        if (known || begins_one) ++splits;
        any = any || known || begins_one;
        continue;
      }
      if (!known || is_dead[*end] || ids.size() + 1 == kMostPieces) continue;
      ids.push_back(id);
      any = self(self, *end) || any;
      ids.pop_back();
    }
    if (!any && ids.size() + 1 < kMostPieces) is_dead[begin] = true;
    return any;
  };
  go_on(go_on, 0);
}

// In two, with one typo in one of them.
void SearchRun::match_split_with_typo(std::string_view word, const Unit& unit) {
  const auto ends = letter_ends(word);
  std::size_t looks = 0;
  for (auto i = kShortestPiece; i + kShortestPiece <= ends.size(); ++i) {
    const auto front = word.substr(0, ends[i - 1]);
    const auto back = word.substr(ends[i - 1]);
    WordId known = 0;
    const auto each = [&](std::string_view misspelt, const auto& run_of) {
      if (++looks > kMostLooks) return;
      std::size_t tried = 0;
      const auto letters = letters_of(misspelt);
      for_each_similar(letters, std::min<std::size_t>(allowed_typos(letters), 1), [&](WordId id, std::size_t) {
        if (++tried <= kMostSimilar) match_run(run_of(id), {}, kTypoJoined, unit);
      });
    };
    if (index_.find_word(front, known) != nullptr) each(back, [&](WordId id) { return std::vector{known, id}; });
    if (index_.find_word(back, known) != nullptr) each(front, [&](WordId id) { return std::vector{id, known}; });
  }
}

// Characters of a script without spaces: side by side as in the query.  If no item has them so, all of them, but one if
// they are many.
void SearchRun::match_characters(const QueryWord& word, const Unit& unit) {
  std::vector<WordId> ids;
  for (const auto& character : word.parts) {
    WordId id = 0;
    if (index_.find_word(character, id) != nullptr) ids.push_back(id);
  }
  if (ids.size() == word.parts.size() && match_run(ids, {}, kExact, unit)) return;
  constexpr std::size_t kMany = 4;
  std::ranges::sort(ids);
  const auto rest = std::ranges::unique(ids);
  ids.erase(rest.begin(), rest.end());
  const auto distinct = std::set<std::string>(word.parts.begin(), word.parts.end()).size();
  const auto needed = distinct - (distinct >= kMany ? 1 : 0);
  if (word.parts.size() < 3 || ids.size() < needed) return;
  std::vector<std::uint8_t> counts(index_.entries_.size());
  for (const auto id : ids) {
    for (const auto& posting : index_.words_[id].postings) ++counts[posting.slot()];
  }
  for (const auto id : ids) {
    for (const auto& posting : index_.words_[id].postings) {
      if (counts[posting.slot()] < needed) continue;
      unit_.raise(posting.slot(), score_of(kTypo, posting.in_title(), ids.size()));
      note(id, unit);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- ranking

SearchRun::Score SearchRun::title_bonus(Slot slot, std::size_t matched) const {
  const auto& head = index_.heads_[slot];
  if (matched == 0) return 0;
  auto bonus = part_of(kCoverage, std::min<std::size_t>(matched, head.title_words), head.title_words);
  if (matches_[head.first_word] != 0) bonus += kFirstWord;
  const auto pairs = words_.size() - 1;
  if (pairs == 0 || matched < 2) return bonus;
  std::size_t in_order = 0;
  std::uint32_t before = 0;
  const auto& words = index_.entries_[slot].words;
  for (std::size_t i = 0; i < head.title_words; ++i) {
    const auto these = matches_[words[i]];
    if (((before << 1U) & these) != 0) ++in_order;
    before = these;
  }
  return bonus + part_of(kInOrder, std::min(in_order, pairs), pairs);
}

std::vector<SearchIndex::Hit> SearchRun::ranked() const {
  std::vector<bool> is_shared(index_.libraries_.size(), query_.libraries == nullptr);
  if (query_.libraries != nullptr) {
    for (const auto& library : *query_.libraries) {
      const auto known = index_.by_library_.find(library);
      if (known != index_.by_library_.end()) is_shared[known->second] = true;
    }
  }
  struct Ranked {
    Score score;
    Slot slot;
  };
  const auto title_of = [&](Slot slot) {
    const auto& entry = index_.entries_[slot];
    return std::tie(entry.folded_title, entry.item);
  };
  const auto comes_before = [&](const Ranked& a, const Ranked& b) {
    if (a.score != b.score) return a.score > b.score;
    const auto front = index_.heads_[a.slot].title_front;
    const auto other_front = index_.heads_[b.slot].title_front;
    return front != other_front ? front < other_front : title_of(a.slot) < title_of(b.slot);
  };
  const auto full_score = static_cast<std::int64_t>(words_.size()) * kExact * kInTitle;
  std::vector<Ranked> ranked;
  for (const auto slot : best_.back().slots) {
    if (!is_shared[index_.heads_[slot].library]) continue;
    const auto score = best_.back().by_slot[slot] / kMatch;
    const auto matched = static_cast<std::size_t>(best_.back().by_slot[slot] % kMatch);
    // As much of it as the words match well: else a title of one word with a typo would come before a beginning.
    const auto bonus = static_cast<Score>(std::int64_t{title_bonus(slot, matched)} * score / full_score);
    const Ranked one{.score = score + bonus, .slot = slot};
    const auto& after = query_.after;
    const bool is_before =
        after && (one.score > after->score ||
                  (one.score == after->score && title_of(slot) <= std::tie(after->title, after->item)));
    if (!is_before) ranked.push_back(one);
  }
  const auto count = std::min(query_.limit, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(), comes_before);
  std::vector<SearchIndex::Hit> hits;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& entry = index_.entries_[ranked[i].slot];
    hits.push_back({.place = {.score = ranked[i].score, .title = entry.folded_title, .item = entry.item},
                    .library = index_.libraries_[index_.heads_[ranked[i].slot].library].id});
  }
  return hits;
}

std::vector<SearchIndex::Hit> SearchIndex::search(const Query& query) const { return SearchRun(*this, query).run(); }

}  // namespace stator::systems::media_library
