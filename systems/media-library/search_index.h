#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stator::systems::media_library {

// Finds items by words, with typos.  Every term of a query must match a word of the item: exactly, as its beginning, or
// with one wrong letter from four letters on and two from eight on.  Case and diacritics do not count, and a word
// behind an apostrophe ("d'automne") is found with and without the part before it.  Guarded by its owner.
class SearchIndex {
 public:
  // One item as it can be found.  A word counts more in the title than elsewhere.
  struct Document {
    std::string item;  // its id
    std::string library;
    std::string title;
    std::vector<std::string> others;  // authors, directors, cast, collection
  };

  // Adds the document, or takes its place.
  void put(const Document& document);
  void remove(std::string_view item);

  // Where an item stands among all that a query finds: higher scores first, equals by title, then by id.
  struct Place {
    std::int64_t score = 0;
    std::string title;  // folded
    std::string item;
    bool comes_before(const Place& other) const;
  };
  struct Hit {
    Place place;
    std::string library;
  };
  struct Query {
    std::string_view text;
    std::size_t limit = 20;
    const std::set<std::string>* libraries = nullptr;  // null: all of them
    std::optional<Place> after = std::nullopt;         // where the page before ended
  };
  // The best first, at most `limit`.  No terms find nothing.
  std::vector<Hit> search(const Query& query) const;

  std::size_t size() const { return by_item_.size(); }
  std::size_t memory_bytes() const { return memory_bytes_; }  // about

  static constexpr std::size_t kMostTerms = 256;  // of one text; those behind them are not found

 private:
  using Slot = std::uint32_t;
  struct Posting {
    Slot slot;
    bool in_title;
  };
  struct Word {
    std::vector<Posting> postings;  // by slot
    std::uint64_t letters = 0;      // which letters it has, as bits
    std::size_t place = 0;          // in by_length_
  };
  using Vocabulary = std::map<std::string, Word, std::less<>>;
  // What a look for typos goes through: small, and side by side in memory.
  struct Candidate {
    std::uint64_t letters;
    Vocabulary::iterator word;
  };
  struct Entry {
    std::string item;  // empty: the slot is free
    std::string folded_title;
    std::string library;
    std::vector<std::string> terms;  // distinct
  };
  // The front of a title as a number of the same order, so that most titles are told apart without looking at them.
  using TitleFront = std::uint64_t;
  // By slot: what the terms so far have found; 0 is nothing.
  using Scores = std::vector<std::int32_t>;

  Slot take_slot();
  Word& word_for(const std::string& term);
  void forget_word(Vocabulary::iterator word);
  void match(const std::string& term, bool last, Scores& found) const;
  static void add(const Word& word, std::int32_t score, Scores& found);

  Vocabulary vocabulary_;
  std::vector<std::vector<Candidate>> by_length_;  // of the words, in letters
  std::vector<Entry> entries_;
  std::vector<TitleFront> title_fronts_;  // by slot
  std::vector<Slot> free_;
  std::unordered_map<std::string, Slot> by_item_;
  std::size_t memory_bytes_ = 0;
};

// The words of a text, folded.  `parts` also gives the pieces of words with apostrophes.
enum class WordParts : bool { Whole, Pieces };
std::vector<std::string> words_of(std::string_view text, WordParts parts);

// A word is cut to this many letters, in documents and queries alike.
inline constexpr std::size_t kLongestWord = 64;
// The letters of a word.
std::u32string letters_of(std::string_view word);

}  // namespace stator::systems::media_library
