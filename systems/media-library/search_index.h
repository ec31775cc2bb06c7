#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stator::systems::media_library {

// Finds items by words, with typos.  Every term of a query must match a word of the item: exactly, as its beginning, or with
// one wrong letter from four letters on and two from eight on.  Case and diacritics do not count.  Guarded by its owner.
class SearchIndex {
 public:
  // One item as it can be found.  A word counts more in the title than elsewhere.
  struct Document {
    std::string id;
    std::string title;
    std::vector<std::string> others;  // authors, directors, cast, collection
  };

  // Adds the document, or takes its place.
  void put(const Document& document);
  void remove(std::string_view id);

  struct Hit {
    std::string id;
    double score = 0;
  };
  // The best first, at most `limit`; equals by title.  No terms find nothing.
  std::vector<Hit> search(std::string_view query, std::size_t limit) const;

  std::size_t size() const { return by_id_.size(); }
  std::size_t memory_bytes() const { return memory_bytes_; }  // about

  // The words of a text, folded.  At most kMostTerms.
  static std::vector<std::string> terms_of(std::string_view text);
  static constexpr std::size_t kMostTerms = 256;

 private:
  using Slot = std::uint32_t;
  struct Posting {
    Slot slot;
    bool in_title;
  };
  struct Entry {
    std::string id;  // empty: the slot is free
    std::string folded_title;
    std::vector<std::string> terms;  // distinct
  };
  // What one term of a query found.
  using Found = std::unordered_map<Slot, double>;

  void match(std::string_view term, bool last, Found& found) const;
  static void add(const std::vector<Posting>& postings, double score, Found& found);

  std::map<std::string, std::vector<Posting>, std::less<>> vocabulary_;  // term -> postings, by slot
  std::vector<Entry> entries_;
  std::vector<Slot> free_;
  std::map<std::string, Slot, std::less<>> by_id_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace stator::systems::media_library
