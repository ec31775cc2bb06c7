#include "stator/systems/media-library/search_index.h"

#include <gtest/gtest.h>

namespace stator::systems::media_library {
namespace {

std::vector<std::string> ids(const std::vector<SearchIndex::Hit>& hits) {
  std::vector<std::string> out;
  for (const auto& hit : hits) out.push_back(hit.id);
  return out;
}

using Ids = std::vector<std::string>;

class Search : public testing::Test {
 protected:
  Search() {
    index_.put(
        {.id = "autumn", .title = "Dragons d'un crépuscule d'automne", .others = {"Margaret Weis", "Tracy Hickman"}});
    index_.put({.id = "winter",
                .title = "Dragons d'une nuit d'hiver",
                .others = {"Margaret Weis", "Chroniques de Dragonlance"}});
    index_.put({.id = "amber", .title = "Les 9 princes d'ambre", .others = {"Roger Zelazny"}});
    index_.put({.id = "collapse", .title = "Effondrement", .others = {"Jared Diamond"}});
  }
  Ids find(std::string_view query) const { return ids(index_.search(query, 10)); }

  SearchIndex index_;
};

TEST_F(Search, FindsWordsWithoutRegardToCaseAndDiacritics) { EXPECT_EQ(find("CREPUSCULE"), Ids{"autumn"}); }
TEST_F(Search, FindsBeginnings) { EXPECT_EQ(find("effon"), Ids{"collapse"}); }
TEST_F(Search, ForgivesTypos) {
  EXPECT_EQ(find("efondrement"), Ids{"collapse"});
  EXPECT_EQ(find("zelanzy"), Ids{"amber"});
  EXPECT_EQ(find("zelxxzy"), Ids{});
}
TEST_F(Search, WantsEveryTerm) {
  EXPECT_EQ(find("dragons weis nuit"), Ids{"winter"});
  EXPECT_EQ(find("dragons zelazny"), Ids{});
}
TEST_F(Search, PutsATitleBeforeAnAuthor) {
  index_.put({.id = "biography", .title = "Weis, a life", .others = {}});
  EXPECT_EQ(find("weis").front(), "biography");
}
TEST_F(Search, FindsNothingForNothing) {
  EXPECT_EQ(find(""), Ids{});
  EXPECT_EQ(find(" - "), Ids{});
}
TEST_F(Search, ForgetsWhatWasRemovedOrChanged) {
  index_.remove("collapse");
  EXPECT_EQ(find("effondrement"), Ids{});
  index_.put({.id = "amber", .title = "Nine Princes in Amber", .others = {}});
  EXPECT_EQ(find("zelazny"), Ids{});
  EXPECT_EQ(find("nine"), Ids{"amber"});
  index_.remove("amber");
  index_.remove("autumn");
  index_.remove("winter");
  EXPECT_EQ(index_.size(), 0U);
  EXPECT_EQ(index_.memory_bytes(), 0U);
}

}  // namespace
}  // namespace stator::systems::media_library
