#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stator::systems::media_library {

// Finds items by words, with typos.  Every word of a query must match a word of the item, from the best to the worst:
//
//   exactly                "dune" finds Dune, and "rocky 2" Rocky II
//   as its beginning       "dun" finds Dune; the more of the word, the better
//   across words           "pulpfiction" finds Pulp Fiction, "jk" J. K. Rowling, "神隠し" 千と千尋の神隠し
//   with wrong letters     one from three letters on, two from eight on; digits are never taken for other digits
//
// Words of the query that stand side by side also match as one: "spider man" finds Spiderman.  Characters that folding
// removes (model::fold_letters) do not count.  Guarded by its owner.
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
  // The best first, at most `limit`.  No words find nothing, and of too many the first are looked for.
  std::vector<Hit> search(const Query& query) const;

  static constexpr std::size_t kMostQueryWords = 16;

  std::size_t size() const { return by_item_.size(); }
  std::size_t memory_bytes() const { return memory_bytes_; }  // about

 private:
  friend class SearchRun;  // one search

  using Slot = std::uint32_t;
  using WordId = std::uint32_t;
  using LibraryId = std::uint32_t;
  static constexpr WordId kBreak = UINT32_MAX;  // between two texts of an entry

  // That an item has a word.  Half as large as a struct would be.
  class Posting {
   public:
    Posting(Slot slot, bool in_title) : bits_(slot * 2 + (in_title ? 1 : 0)) {}
    Slot slot() const { return bits_ / 2; }
    bool in_title() const { return bits_ % 2 != 0; }

   private:
    std::uint32_t bits_;
  };
  struct Word {
    std::string text;               // empty: the id is free
    std::vector<Posting> postings;  // by slot
    std::uint32_t length = 0;       // in letters
    std::uint32_t place = 0;        // in by_length_
  };
  // The data for finding typos: small, and side by side in memory.
  struct Candidate {
    std::uint64_t letters;  // which letters it has, as bits
    WordId word;
  };
  struct Entry {
    std::string item;  // empty: the slot is free
    std::string folded_title;
    std::vector<WordId> words;  // in the order of the texts: the title, and behind a kBreak each of the others
  };
  // The data for ranking, of all items side by side in memory.
  struct Head {
    // The front of the title as a number of the same order, so that most titles are told apart without looking at them.
    std::uint64_t title_front = 0;
    WordId first_word = kBreak;  // of the title
    std::uint32_t title_words = 0;
    LibraryId library = 0;
  };
  struct Library {
    std::string id;  // empty: the number is free
    std::size_t items = 0;
  };

  const Word* find_word(std::string_view text, WordId& id) const;
  WordId word_for(std::string_view text);
  void forget_word(WordId id);
  LibraryId library_for(const std::string& id);
  void leave_library(LibraryId library);
  // Each word of an entry once, with whether the title has it.
  std::vector<std::pair<WordId, bool>> distinct_words(Slot slot) const;

  std::deque<Word> words_;  // by id; a word stays where it is, so that the maps can refer to its text
  std::vector<WordId> free_words_;
  std::unordered_map<std::string_view, WordId> by_text_;
  std::map<std::string_view, WordId> in_order_;
  std::vector<std::vector<Candidate>> by_length_;  // of the words, in letters
  std::vector<Entry> entries_;
  std::vector<Head> heads_;  // by slot
  std::vector<Slot> free_slots_;
  // Compares ids without making strings of them.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Slot, TextHash, std::equal_to<>> by_item_;
  std::vector<Library> libraries_;
  std::vector<LibraryId> free_libraries_;
  std::map<std::string, LibraryId, std::less<>> by_library_;
  std::size_t memory_bytes_ = 0;
};

// One bit for each letter that occurs, some sharing one.
std::uint64_t letter_bits(std::u32string_view word);

}  // namespace stator::systems::media_library
