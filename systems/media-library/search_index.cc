#include "stator/systems/media-library/search_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "stator/model/expression/template.h"
#include "stator/systems/media-library/search_words.h"

namespace stator::systems::media_library {
namespace {

// Empty if it is not UTF-8.
std::string folded(const std::string& text) {
  auto fold = model::fold_letters(text);
  return fold ? std::move(*fold) : std::string();
}

std::uint64_t front_of(std::string_view title) {
  std::uint64_t front = 0;
  for (std::size_t i = 0; i < sizeof(front); ++i) {
    front = (front << 8) | (i < title.size() ? static_cast<unsigned char>(title[i]) : 0U);
  }
  return front;
}

// With what the maps and the heap take.
template <typename Entry>
std::size_t cost_of_entry(const Entry& entry) {
  constexpr std::size_t kBytesPerWord = 2 * sizeof(std::uint32_t) + 2;  // in its order, and as a posting
  return 2 * entry.item.size() + entry.folded_title.size() + kBytesPerWord * entry.words.size() + 280;
}
std::size_t cost_of_word(std::string_view text) { return text.size() + 280; }

constexpr auto kBySlot = [](const auto& posting, auto slot) { return posting.slot() < slot; };

}  // namespace

std::uint64_t letter_bits(std::u32string_view word) {
  std::uint64_t bits = 0;
  for (const auto letter : word) bits |= std::uint64_t{1} << (letter % 64U);
  return bits;
}

bool SearchIndex::Place::comes_before(const Place& other) const {
  if (score != other.score) return score > other.score;
  return std::tie(title, item) < std::tie(other.title, other.item);
}

// --------------------------------------------------------------------------------------------------------------- words

const SearchIndex::Word* SearchIndex::find_word(std::string_view text, WordId& id) const {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  id = found->second;
  return &words_[id];
}

SearchIndex::WordId SearchIndex::word_for(std::string_view text) {
  WordId id = 0;
  if (find_word(text, id) != nullptr) return id;
  if (free_words_.empty()) {
    id = static_cast<WordId>(words_.size());
    words_.emplace_back();
  } else {
    id = free_words_.back();
    free_words_.pop_back();
  }
  auto& word = words_[id];
  const auto letters = letters_of(text);
  if (by_length_.size() <= letters.size()) by_length_.resize(letters.size() + 1);
  auto& same_length = by_length_[letters.size()];
  word = {.text = std::string(text),
          .postings = {},
          .length = static_cast<std::uint32_t>(letters.size()),
          .place = static_cast<std::uint32_t>(same_length.size())};
  same_length.push_back({.letters = letter_bits(letters), .word = id});
  by_text_.emplace(word.text, id);
  in_order_.emplace(word.text, id);
  memory_bytes_ += cost_of_word(word.text);
  return id;
}

void SearchIndex::forget_word(WordId id) {
  auto& word = words_[id];
  memory_bytes_ -= cost_of_word(word.text);
  auto& same_length = by_length_[word.length];
  same_length[word.place] = same_length.back();
  words_[same_length[word.place].word].place = word.place;
  same_length.pop_back();
  by_text_.erase(word.text);
  in_order_.erase(word.text);
  word = {};
  free_words_.push_back(id);
}

// ----------------------------------------------------------------------------------------------------------- libraries

SearchIndex::LibraryId SearchIndex::library_for(const std::string& id) {
  const auto [known, added] = by_library_.try_emplace(id, 0);
  if (added && free_libraries_.empty()) {
    known->second = static_cast<LibraryId>(libraries_.size());
    libraries_.emplace_back();
  } else if (added) {
    known->second = free_libraries_.back();
    free_libraries_.pop_back();
  }
  auto& library = libraries_[known->second];
  library.id = id;
  ++library.items;
  return known->second;
}

void SearchIndex::leave_library(LibraryId number) {
  auto& library = libraries_[number];
  if (--library.items > 0) return;
  by_library_.erase(library.id);
  library = {};
  free_libraries_.push_back(number);
}

// ------------------------------------------------------------------------------------------------------------- entries

std::vector<std::pair<SearchIndex::WordId, bool>> SearchIndex::distinct_words(Slot slot) const {
  const auto& words = entries_[slot].words;
  std::vector<std::pair<WordId, bool>> distinct;
  distinct.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != kBreak) distinct.emplace_back(words[i], i < heads_[slot].title_words);
  }
  // Of the same words, the one in the title comes first and stays.
  std::ranges::sort(distinct, [](const auto& a, const auto& b) {
    return std::pair(a.first, !a.second) < std::pair(b.first, !b.second);
  });
  const auto rest = std::ranges::unique(distinct, {}, [](const auto& one) { return one.first; });
  distinct.erase(rest.begin(), rest.end());
  return distinct;
}

void SearchIndex::put(const Document& document) {
  remove(document.item);
  Slot slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<Slot>(entries_.size());
    entries_.emplace_back();
    heads_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  auto& entry = entries_[slot];
  entry.item = document.item;
  entry.folded_title = folded(document.title);
  std::vector<WordId> words;
  for (const auto& word : words_of_folded(entry.folded_title)) words.push_back(word_for(word.text));
  heads_[slot] = {.title_front = front_of(entry.folded_title),
                  .first_word = words.empty() ? kBreak : words.front(),
                  .title_words = static_cast<std::uint32_t>(words.size()),
                  .library = library_for(document.library)};
  for (const auto& other : document.others) {
    words.push_back(kBreak);
    for (const auto& word : words_of(other)) words.push_back(word_for(word.text));
  }
  entry.words.assign(words.begin(), words.end());  // no larger than needed
  for (const auto& [word, in_title] : distinct_words(slot)) {
    auto& postings = words_[word].postings;
    const bool is_last = postings.empty() || postings.back().slot() < slot;
    const auto place = is_last ? postings.end() : std::lower_bound(postings.begin(), postings.end(), slot, kBySlot);
    postings.insert(place, Posting(slot, in_title));
  }
  by_item_.emplace(document.item, slot);
  memory_bytes_ += cost_of_entry(entry);
}

void SearchIndex::remove(std::string_view item) {
  const auto found = by_item_.find(item);
  if (found == by_item_.end()) return;
  const auto slot = found->second;
  auto& entry = entries_[slot];
  memory_bytes_ -= cost_of_entry(entry);
  for (const auto& [word, in_title] : distinct_words(slot)) {
    auto& postings = words_[word].postings;
    postings.erase(std::lower_bound(postings.begin(), postings.end(), slot, kBySlot));
    if (postings.empty()) forget_word(word);
  }
  leave_library(heads_[slot].library);
  by_item_.erase(found);
  entry = {};
  heads_[slot] = {};
  free_slots_.push_back(slot);
}

}  // namespace stator::systems::media_library
