#include "stator/systems/media-library/search_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "stator/model/expression/template.h"

namespace stator::systems::media_library {
namespace {

constexpr std::int32_t kExact = 40;
constexpr std::int32_t kBeginningTyped = 24;  // of the last word, which may still be being typed
constexpr std::int32_t kBeginning = 20;
constexpr std::int32_t kFuzzy = 10;
constexpr std::int32_t kTitleFactor = 2;

std::size_t allowed_typos(std::size_t length) { return length >= 8 ? 2 : length >= 4 ? 1 : 0; }

// One bit for each letter that occurs, some sharing one.
std::uint64_t bits_of(std::u32string_view word) {
  std::uint64_t bits = 0;
  for (const auto letter : word) bits |= std::uint64_t{1} << (letter % 64U);
  return bits;
}

// Whether `a` becomes `b` with at most `most` letters changed, added, left out, or two neighbours swapped.
bool within_distance(std::u32string_view a, std::u32string_view b, std::size_t most) {
  using Row = std::array<std::size_t, kLongestWord + 1>;
  std::array<Row, 3> rows;
  Row* before_last = rows.data();
  Row* last = rows.data() + 1;
  Row* row = rows.data() + 2;
  for (std::size_t j = 0; j <= b.size(); ++j) (*last)[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    (*row)[0] = i;
    std::size_t best = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      auto cost = std::min({(*last)[j] + 1, (*row)[j - 1] + 1, (*last)[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost = std::min(cost, (*before_last)[j - 2] + 1);
      (*row)[j] = cost;
      best = std::min(best, cost);
    }
    if (best > most) return false;
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return (*last)[b.size()] <= most;
}

std::string folded(const std::string& text) {
  auto fold = model::fold(text);
  return fold ? std::move(*fold) : text;
}

std::uint64_t front_of(std::string_view title) {
  std::uint64_t front = 0;
  for (std::size_t i = 0; i < sizeof(front); ++i) {
    front = (front << 8) | (i < title.size() ? static_cast<unsigned char>(title[i]) : 0U);
  }
  return front;
}

template <typename Entry>
std::size_t cost_of(const Entry& entry) {
  std::size_t bytes = 2 * entry.item.size() + entry.folded_title.size() + entry.library.size() + 240;
  for (const auto& term : entry.terms) bytes += 2 * term.size() + 64;
  return bytes;
}

constexpr auto kBySlot = [](const auto& posting, auto slot) { return posting.slot < slot; };

}  // namespace

bool SearchIndex::Place::comes_before(const Place& other) const {
  if (score != other.score) return score > other.score;
  return std::tie(title, item) < std::tie(other.title, other.item);
}

// ------------------------------------------------------------------------------------------------------- what is in it

SearchIndex::Slot SearchIndex::take_slot() {
  if (free_.empty()) {
    entries_.emplace_back();
    title_fronts_.push_back(0);
    return static_cast<Slot>(entries_.size() - 1);
  }
  const auto slot = free_.back();
  free_.pop_back();
  return slot;
}

SearchIndex::Word& SearchIndex::word_for(const std::string& term) {
  const auto [word, added] = vocabulary_.try_emplace(term);
  if (added) {
    const auto letters = letters_of(term);
    if (by_length_.size() <= letters.size()) by_length_.resize(letters.size() + 1);
    auto& same_length = by_length_[letters.size()];
    word->second.letters = bits_of(letters);
    word->second.place = same_length.size();
    same_length.push_back({.letters = word->second.letters, .word = word});
  }
  return word->second;
}

void SearchIndex::forget_word(Vocabulary::iterator word) {
  auto& same_length = by_length_[letters_of(word->first).size()];
  const auto place = word->second.place;
  same_length[place] = same_length.back();
  same_length[place].word->second.place = place;
  same_length.pop_back();
  vocabulary_.erase(word);
}

void SearchIndex::put(const Document& document) {
  remove(document.item);
  const auto title_words = words_of(document.title, WordParts::Pieces);
  const std::set<std::string> title(title_words.begin(), title_words.end());
  auto all = title;
  for (const auto& other : document.others) {
    for (auto& word : words_of(other, WordParts::Pieces)) all.insert(std::move(word));
  }
  const auto slot = take_slot();
  auto& entry = entries_[slot];
  entry = {.item = document.item,
           .folded_title = folded(document.title),
           .library = document.library,
           .terms = {all.begin(), all.end()}};
  title_fronts_[slot] = front_of(entry.folded_title);
  for (const auto& term : entry.terms) {
    auto& postings = word_for(term).postings;
    const auto place = std::lower_bound(postings.begin(), postings.end(), slot, kBySlot);
    postings.insert(place, {.slot = slot, .in_title = title.contains(term)});
  }
  by_item_[document.item] = slot;
  memory_bytes_ += cost_of(entry);
}

void SearchIndex::remove(std::string_view item) {
  const auto found = by_item_.find(std::string(item));
  if (found == by_item_.end()) return;
  const auto slot = found->second;
  auto& entry = entries_[slot];
  for (const auto& term : entry.terms) {
    const auto word = vocabulary_.find(term);
    auto& postings = word->second.postings;
    postings.erase(std::lower_bound(postings.begin(), postings.end(), slot, kBySlot));
    if (postings.empty()) forget_word(word);
  }
  memory_bytes_ -= cost_of(entry);
  entry = {};
  free_.push_back(slot);
  by_item_.erase(found);
}

// ------------------------------------------------------------------------------------------------------- what is found

void SearchIndex::add(const Word& word, std::int32_t score, Scores& found) {
  for (const auto& posting : word.postings) {
    auto& best = found[posting.slot];
    best = std::max(best, posting.in_title ? score * kTitleFactor : score);
  }
}

void SearchIndex::match(const std::string& term, bool last, Scores& found) const {
  for (auto word = vocabulary_.lower_bound(term); word != vocabulary_.end() && word->first.starts_with(term); ++word) {
    const bool exact = word->first.size() == term.size();
    add(word->second, exact ? kExact : last ? kBeginningTyped : kBeginning, found);
  }
  const auto letters = letters_of(term);
  const auto typos = allowed_typos(letters.size());
  if (typos == 0) return;
  const auto bits = bits_of(letters);
  const auto longest = std::min(letters.size() + typos + 1, by_length_.size());
  for (auto length = letters.size() - typos; length < longest; ++length) {
    for (const auto& candidate : by_length_[length]) {
      // A typo takes one letter away and brings another at most: nearly all words are ruled out here.
      if (static_cast<std::size_t>(std::popcount(bits ^ candidate.letters)) > 2 * typos) continue;
      if (!within_distance(letters, letters_of(candidate.word->first), typos)) continue;
      add(candidate.word->second, kFuzzy, found);
    }
  }
}

std::vector<SearchIndex::Hit> SearchIndex::search(const Query& query) const {
  const auto terms = words_of(query.text, WordParts::Whole);
  if (terms.empty()) return {};
  Scores total(entries_.size());
  Scores found(entries_.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::ranges::fill(found, 0);
    match(terms[i], i + 1 == terms.size(), found);
    for (std::size_t slot = 0; slot < total.size(); ++slot) {
      const bool so_far = i == 0 || total[slot] != 0;
      total[slot] = so_far && found[slot] != 0 ? total[slot] + found[slot] : 0;
    }
  }

  const auto before = [&](Slot a, Slot b) {
    if (total[a] != total[b]) return total[a] > total[b];
    if (title_fronts_[a] != title_fronts_[b]) return title_fronts_[a] < title_fronts_[b];
    return std::tie(entries_[a].folded_title, entries_[a].item) < std::tie(entries_[b].folded_title, entries_[b].item);
  };
  const auto is_asked_for = [&](Slot slot) {
    const auto& entry = entries_[slot];
    if (query.libraries != nullptr && !query.libraries->contains(entry.library)) return false;
    if (!query.after || total[slot] < query.after->score) return true;
    return total[slot] == query.after->score &&
           std::tie(query.after->title, query.after->item) < std::tie(entry.folded_title, entry.item);
  };
  std::vector<Slot> ranked;
  for (Slot slot = 0; slot < total.size(); ++slot) {
    if (total[slot] != 0 && is_asked_for(slot)) ranked.push_back(slot);
  }
  const auto count = std::min(query.limit, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(), before);
  std::vector<Hit> hits;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& entry = entries_[ranked[i]];
    hits.push_back({.place = {.score = total[ranked[i]], .title = entry.folded_title, .item = entry.item},
                    .library = entry.library});
  }
  return hits;
}

}  // namespace stator::systems::media_library
