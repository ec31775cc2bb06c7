#include "stator/systems/media-library/search_index.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "stator/model/template.h"

namespace stator::systems::media_library {
namespace {

constexpr double kExact = 4;
constexpr double kPrefix = 2;
constexpr double kFuzzy = 1;
constexpr double kTitleFactor = 2;
constexpr std::size_t kLongestTerm = 64;  // bytes; what is longer is cut, in documents and queries alike

bool is_word(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80; }

std::size_t allowed_typos(std::size_t length) { return length >= 8 ? 2 : length >= 4 ? 1 : 0; }

// Whether `a` becomes `b` with at most `most` letters changed, added, left out, or two neighbours swapped.
bool within_distance(std::string_view a, std::string_view b, std::size_t most) {
  const auto difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > most) return false;
  using Row = std::array<std::size_t, kLongestTerm + 1>;
  Row before_last{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    std::size_t best = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      best = std::min(best, row[j]);
    }
    if (best > most) return false;
    before_last = last;
    last = row;
  }
  return last[b.size()] <= most;
}

std::size_t cost_of(std::string_view id, std::string_view title, const std::vector<std::string>& terms) {
  std::size_t bytes = 2 * id.size() + title.size() + 200;
  for (const auto& term : terms) bytes += 2 * term.size() + 48;
  return bytes;
}

}  // namespace

std::vector<std::string> SearchIndex::terms_of(std::string_view text) {
  const auto folded = model::fold(text);
  if (!folded) return {};  // not UTF-8: nothing in it can be searched for
  std::vector<std::string> terms;
  std::string term;
  const auto end_term = [&] {
    if (!term.empty() && terms.size() < kMostTerms) terms.push_back(term.substr(0, kLongestTerm));
    term.clear();
  };
  for (const char c : *folded) {
    if (is_word(static_cast<unsigned char>(c))) {
      term += c;
    } else if (c != '\'') {  // "don't" is one word
      end_term();
    }
  }
  end_term();
  return terms;
}

void SearchIndex::put(const Document& document) {
  remove(document.id);
  const auto title_terms = terms_of(document.title);
  std::set<std::string> title(title_terms.begin(), title_terms.end());
  std::set<std::string> all = title;
  for (const auto& other : document.others) {
    for (auto& term : terms_of(other)) all.insert(std::move(term));
  }
  Slot slot = 0;
  if (free_.empty()) {
    slot = static_cast<Slot>(entries_.size());
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  auto& entry = entries_[slot];
  entry.id = document.id;
  entry.folded_title = model::fold(document.title) ? *model::fold(document.title) : document.title;
  entry.terms.assign(all.begin(), all.end());
  for (const auto& term : entry.terms) {
    auto& postings = vocabulary_[term];
    const auto place =
        std::lower_bound(postings.begin(), postings.end(), slot, [](const Posting& p, Slot s) { return p.slot < s; });
    postings.insert(place, {slot, title.contains(term)});
  }
  by_id_[document.id] = slot;
  memory_bytes_ += cost_of(entry.id, entry.folded_title, entry.terms);
}

void SearchIndex::remove(std::string_view id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const Slot slot = found->second;
  auto& entry = entries_[slot];
  for (const auto& term : entry.terms) {
    const auto word = vocabulary_.find(term);
    auto& postings = word->second;
    postings.erase(
        std::lower_bound(postings.begin(), postings.end(), slot, [](const Posting& p, Slot s) { return p.slot < s; }));
    if (postings.empty()) vocabulary_.erase(word);
  }
  memory_bytes_ -= cost_of(entry.id, entry.folded_title, entry.terms);
  entry = {};
  free_.push_back(slot);
  by_id_.erase(found);
}

void SearchIndex::add(const std::vector<Posting>& postings, double score, Found& found) {
  for (const auto& posting : postings) {
    auto& best = found[posting.slot];
    best = std::max(best, posting.in_title ? score * kTitleFactor : score);
  }
}

// The last term of a query may still be being typed; all may be beginnings, but for the last that is no lesser match.
void SearchIndex::match(std::string_view term, bool last, Found& found) const {
  for (auto word = vocabulary_.lower_bound(term); word != vocabulary_.end() && word->first.starts_with(term); ++word) {
    add(word->second, word->first.size() == term.size() ? kExact : last ? kPrefix * 1.2 : kPrefix, found);
  }
  const auto typos = allowed_typos(term.size());
  if (typos == 0) return;
  for (const auto& [word, postings] : vocabulary_) {
    if (!word.starts_with(term) && within_distance(term, word, typos)) add(postings, kFuzzy, found);
  }
}

std::vector<SearchIndex::Hit> SearchIndex::search(std::string_view query, std::size_t limit) const {
  const auto terms = terms_of(query);
  Found total;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Found found;
    match(terms[i], i + 1 == terms.size(), found);
    if (i == 0) {
      total = std::move(found);
      continue;
    }
    for (auto entry = total.begin(); entry != total.end();) {
      const auto also = found.find(entry->first);
      if (also == found.end()) {
        entry = total.erase(entry);
      } else {
        entry->second += also->second;
        ++entry;
      }
    }
  }
  std::vector<std::pair<Slot, double>> ranked(total.begin(), total.end());
  const auto better = [&](const auto& a, const auto& b) {
    if (a.second != b.second) return a.second > b.second;
    const auto& left = entries_[a.first];
    const auto& right = entries_[b.first];
    return std::tie(left.folded_title, left.id) < std::tie(right.folded_title, right.id);
  };
  const auto count = std::min(limit, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(), better);
  std::vector<Hit> hits;
  for (std::size_t i = 0; i < count; ++i) hits.push_back({entries_[ranked[i].first].id, ranked[i].second});
  return hits;
}

}  // namespace stator::systems::media_library
