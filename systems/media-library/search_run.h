#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/systems/media-library/search_index.h"
#include "stator/systems/media-library/search_words.h"

namespace stator::systems::media_library {

// One search in an index.
//
// The words of the query are taken from the front to the back.  best_[i] has the items that have the first i words,
// with the best score of each.  A step matches one word, or some side by side as one (units of the query), and adds its
// scores.  If nothing is found, a second round also tries more expensive steps: typos in words that are joined or split
// otherwise.  Confined to one thread.
class SearchRun {
 public:
  // Both outlive it.
  SearchRun(const SearchIndex& index, const SearchIndex::Query& query);

  std::vector<SearchIndex::Hit> run();

 private:
  using Slot = SearchIndex::Slot;
  using WordId = SearchIndex::WordId;
  using Score = std::int32_t;
  // The results of some words of the query.  A score holds two things: how well the words match, and in its lowest bits
  // how many words of the title they are.
  struct Scores {
    std::vector<Score> by_slot;  // 0: not found
    std::vector<Slot> slots;     // that are found
    void raise(Slot slot, Score score);
    void clear();
  };
  // The words of the query from `first` to before `end`, as one.
  struct Unit {
    std::size_t first = 0;
    std::size_t end = 0;
    std::size_t size() const { return end - first; }
    bool is_last = false;  // it may still be being typed
  };

  void look(bool thoroughly);
  void take(const Unit& unit, bool thoroughly);
  void match_word(std::string_view word, const Unit& unit);
  void match_exactly(std::string_view word, Score quality, const Unit& unit);
  void match_beginnings(std::string_view word, Score least, const Unit& unit);
  void match_typos(std::u32string_view word, Score quality, const Unit& unit);
  void match_misspelt_beginnings(std::u32string_view word, const Unit& unit);

  // Words within `typos` of it, with how many there are.
  void for_each_similar(std::u32string_view word, std::size_t typos,
                        const std::function<void(WordId, std::size_t)>& visit) const;

  // One word of the query as several words of an item, side by side.
  void match_split(std::string_view word, const Unit& unit);
  void match_split_with_typo(std::string_view word, const Unit& unit);
  std::vector<Slot> items_with(const std::vector<WordId>& ids, std::string_view last) const;
  // `last`: the beginning of the last word; empty: `ids` are all words.
  bool match_run(const std::vector<WordId>& ids, std::string_view last, Score quality, const Unit& unit);
  void match_characters(const QueryWord& word, const Unit& unit);
  bool has_run_at(const SearchIndex::Entry& entry, std::size_t at, const std::vector<WordId>& ids,
                  std::string_view last) const;

  void found(WordId word, Score quality, const Unit& unit);
  void note(WordId word, const Unit& unit);
  // How well the title as a whole fits the query, if it has that many words of it.
  Score title_bonus(Slot slot, std::size_t matched) const;
  std::vector<SearchIndex::Hit> ranked() const;

  const SearchIndex& index_;
  const SearchIndex::Query& query_;
  std::vector<QueryWord> words_;
  std::vector<Scores> best_;  // by the number of words so far
  Scores unit_;               // of the unit that is being matched
  // By word: the words of the query that it matches, as bits.
  std::vector<std::uint32_t> matches_;
};

}  // namespace stator::systems::media_library
