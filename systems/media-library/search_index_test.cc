#include "stator/systems/media-library/search_index.h"

#include <gtest/gtest.h>

namespace stator::systems::media_library {
namespace {

using Ids = std::vector<std::string>;

Ids ids(const std::vector<SearchIndex::Hit>& hits) {
  Ids out;
  for (const auto& hit : hits) out.push_back(hit.place.item);
  return out;
}

class Search : public ::testing::Test {
 protected:
  Search() {
    put("autumn", "Dragons d'un crépuscule d'automne", {"Margaret Weis", "Tracy Hickman"});
    put("winter", "Dragons d'une nuit d'hiver", {"Margaret Weis", "Chroniques de Dragonlance"});
    put("amber", "Les 9 princes d'ambre", {"Roger Zelazny"}, "office");
    put("collapse", "Effondrement", {"Jared Diamond"});
  }
  void put(const char* item, const char* title, std::vector<std::string> others = {}, const char* library = "home") {
    index_.put({.item = item, .library = library, .title = title, .others = std::move(others)});
  }
  Ids find(std::string_view query) const { return ids(index_.search({.text = query, .limit = 10})); }

  SearchIndex index_;
};

TEST_F(Search, FindsWordsWithoutRegardToCaseAndDiacritics) { EXPECT_EQ(find("CREPUSCULE"), Ids{"autumn"}); }
TEST_F(Search, FindsBeginnings) { EXPECT_EQ(find("effon"), Ids{"collapse"}); }
TEST_F(Search, FindsWhatIsBehindAnApostropheWithAndWithoutIt) {
  for (const auto* query : {"automne", "d'automne", "d’automne", "dautomne"}) EXPECT_EQ(find(query), Ids{"autumn"});
}
TEST_F(Search, ForgivesTypos) {
  EXPECT_EQ(find("efondrement"), Ids{"collapse"});
  EXPECT_EQ(find("zelanzy"), Ids{"amber"});
  EXPECT_EQ(find("zelxxzy"), Ids{});
  EXPECT_EQ(find("eez"), Ids{});
}
TEST_F(Search, CountsTyposInLetters) {
  put("war", "Война и мир", {"Толстой"});
  EXPECT_EQ(find("войма"), Ids{"war"}) << "one wrong letter of five";
  EXPECT_EQ(find("воцма"), Ids{}) << "two";
  EXPECT_EQ(find("тилстай"), Ids{}) << "seven letters forgive one";
  EXPECT_EQ(find("толстаи"), Ids{"war"}) << "of which й is и with a breve";
  EXPECT_EQ(find("мип"), Ids{}) << "three letters forgive none, in whatever script";
  put("clef", "𝄞𝄞𝄞𝄞");
  EXPECT_EQ(find("𝄞𝄞𝄢𝄞"), Ids{"clef"});
}
TEST_F(Search, CutsLongWordsBetweenLetters) {
  std::string letters;
  for (int i = 0; i < 70; ++i) letters += "щ";
  put("long", letters.c_str());
  EXPECT_EQ(find(letters), Ids{"long"});
  EXPECT_EQ(find(letters.substr(0, 2 * 64)), Ids{"long"});
  EXPECT_EQ(letters_of(words_of(letters, WordParts::Whole).front()).size(), kLongestWord);
}
TEST_F(Search, WantsEveryTerm) {
  EXPECT_EQ(find("dragons weis nuit"), Ids{"winter"});
  EXPECT_EQ(find("dragons zelazny"), Ids{});
}
TEST_F(Search, PutsATitleBeforeAnAuthor) {
  put("biography", "Weis, a life");
  EXPECT_EQ(find("weis").front(), "biography");
}
TEST_F(Search, PutsTheWholeWordBeforeItsBeginningAndThatBeforeATypo) {
  put("typo", "Nuis");
  put("beginning", "Nuits");
  EXPECT_EQ(find("nuit"), (Ids{"winter", "beginning", "typo"}));
}
TEST_F(Search, FindsNothingForNothing) {
  EXPECT_EQ(find(""), Ids{});
  EXPECT_EQ(find(" - « » … '"), Ids{});
}
TEST_F(Search, LooksIntoSomeLibrariesOnly) {
  const std::set<std::string> office = {"office"};
  EXPECT_EQ(ids(index_.search({.text = "d", .libraries = &office})), Ids{"amber"});
}
TEST_F(Search, GoesOnWhereThePageBeforeEnded) {
  put("again", "Dragons d'une nuit d'hiver");
  const auto all = find("dragons");
  ASSERT_EQ(all.size(), 3U);
  Ids pages;
  SearchIndex::Query query{.text = "dragons", .limit = 1};
  for (auto page = index_.search(query); !page.empty(); page = index_.search(query)) {
    pages.push_back(page.front().place.item);
    query.after = page.front().place;
  }
  EXPECT_EQ(pages, all);
}
TEST_F(Search, ForgetsWhatWasRemovedOrChanged) {
  index_.remove("collapse");
  EXPECT_EQ(find("effondrement"), Ids{});
  EXPECT_EQ(find("efondrement"), Ids{});
  put("amber", "Nine Princes in Amber");
  EXPECT_EQ(find("zelazny"), Ids{});
  EXPECT_EQ(find("nine"), Ids{"amber"});
  for (const auto* item : {"amber", "autumn", "winter", "winter", "nobody"}) index_.remove(item);
  EXPECT_EQ(index_.size(), 0U);
  EXPECT_EQ(index_.memory_bytes(), 0U);
}

TEST(Words, AreSeparatedByWhatIsNoLetter) {
  EXPECT_EQ(words_of("«Été»–2001: l’Odyssée…", WordParts::Whole), (Ids{"ete", "2001", "lodyssee"}));
  EXPECT_EQ(words_of("l’Odyssée rock'n'roll", WordParts::Pieces),
            (Ids{"l", "odyssee", "lodyssee", "rock", "n", "roll", "rocknroll"}));
  EXPECT_EQ(words_of("'quoted'", WordParts::Pieces), (Ids{"quoted", "quoted"}));
  EXPECT_EQ(words_of("\xFF", WordParts::Whole), Ids{});
  EXPECT_EQ(words_of("Un Cœur, ÆRØ Łódź Đặng Straße þing", WordParts::Whole),
            (Ids{"un", "coeur", "aero", "lodz", "dang", "strasse", "thing"}));
}

}  // namespace
}  // namespace stator::systems::media_library
