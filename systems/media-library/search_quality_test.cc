#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stator/base/trim.h"
#include "stator/systems/media-library/search_index.h"

// The first results of searches, by the table in search_quality.txt.
namespace stator::systems::media_library {
namespace {

const std::filesystem::path kTable =
    std::filesystem::path(STATOR_TOP) / "systems" / "media-library" / "search_quality.txt";

std::vector<std::string> parts_of(std::string_view line, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto at = line.find(separator);
    parts.emplace_back(trim(line.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    line.remove_prefix(at + separator.size());
  }
}

struct Expectation {
  std::string kind, query, first;  // "-": nothing is found
};

class SearchQuality : public ::testing::Test {
 protected:
  SearchQuality() {
    std::ifstream file(kTable);
    std::string line, section;
    while (std::getline(file, line)) {
      if (line.empty() || line.starts_with('#')) continue;
      if (line.starts_with("===")) {
        section = trim(std::string_view(line).substr(3));
      } else if (section == "items") {
        const auto parts = parts_of(line, "|");
        auto others = parts_of(parts.at(1), ";");
        others.push_back(parts.at(2));
        index_.put({.item = parts[0], .library = "home", .title = parts[0], .others = std::move(others)});
      } else {
        const auto parts = parts_of(line, "=>");
        expectations_.push_back({.kind = section, .query = parts.at(0), .first = parts.at(1)});
      }
    }
  }

  std::string first(const std::string& query) const {
    const auto hits = index_.search({.text = query, .limit = 1});
    return hits.empty() ? "-" : hits.front().place.item;
  }

  SearchIndex index_;
  std::vector<Expectation> expectations_;
};

TEST_F(SearchQuality, FindsWhatPeopleLookForFirst) {
  ASSERT_GE(expectations_.size(), 60U);
  std::string wrong;
  std::size_t right = 0;
  for (const auto& [kind, query, expected] : expectations_) {
    const auto found = first(query);
    if (found == expected) ++right;
    if (found != expected) wrong += kind + ": '" + query + "' finds " + found + " first, not " + expected + "\n";
  }
  EXPECT_GE(right * 100, expectations_.size() * 95) << wrong;
  RecordProperty("wrong", wrong);
}

}  // namespace
}  // namespace stator::systems::media_library
