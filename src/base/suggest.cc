#include "stator/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace stator {
namespace {

// Words longer than this are no slip of the finger, and comparing them costs the square of their length.
constexpr std::size_t kLongestWord = 64;

// How many letters must be added, dropped, changed or swapped with their neighbour to make one word the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = 1 + std::max<std::size_t>(1, word.size() / 3);
  for (const auto candidate : candidates) {
    // A word that is the beginning of another one is close, however much is missing: `mem` for `memory`.
    const bool one_begins_the_other =
        std::min(word.size(), candidate.size()) >= 3 && (candidate.starts_with(word) || word.starts_with(candidate));
    const auto distance = one_begins_the_other ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto suggestion = closest(word, candidates);
  return suggestion ? fmt::format("; did you mean {}?", *suggestion) : std::string();
}

}  // namespace stator
