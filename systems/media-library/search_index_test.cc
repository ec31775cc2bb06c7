#include "stator/systems/media-library/search_index.h"

#include <gtest/gtest.h>

#include "stator/systems/media-library/search_words.h"

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
  EXPECT_EQ(find("мип"), Ids{"war"}) << "three letters forgive one, in whatever script";
  EXPECT_EQ(find("рим"), Ids{}) << "but not a first letter";
  EXPECT_EQ(find("ип"), Ids{}) << "two letters forgive none";
  put("clef", "𝄞𝄞𝄞𝄞");
  EXPECT_EQ(find("𝄞𝄞𝄢𝄞"), Ids{"clef"});
}
TEST_F(Search, CutsLongWordsBetweenLetters) {
  std::string letters;
  for (int i = 0; i < 70; ++i) letters += "щ";
  put("long", letters.c_str());
  EXPECT_EQ(find(letters), Ids{"long"});
  EXPECT_EQ(find(letters.substr(0, 2 * 64)), Ids{"long"});
  EXPECT_EQ(letters_of(words_of(letters).front().text).size(), kLongestWord);
}
TEST_F(Search, TakesNoNumberForAnother) {
  put("year", "1984");
  put("catch", "Catch-22");
  put("seven", "Se7en");
  EXPECT_EQ(find("1948"), Ids{});
  EXPECT_EQ(find("1983"), Ids{});
  EXPECT_EQ(find("19844"), Ids{});
  EXPECT_EQ(find("catch23"), Ids{});
  EXPECT_EQ(find("catch222"), Ids{});
  EXPECT_EQ(find("seven"), Ids{"seven"}) << "a digit for a letter is a way to write it";
}
TEST_F(Search, FindsNumbersInTheirOtherForm) {
  put("two", "Rocky II");
  put("three", "Rocky 3");
  EXPECT_EQ(find("rocky 2").front(), "two");
  EXPECT_EQ(find("rocky iii").front(), "three");
  EXPECT_EQ(other_form_of_number("14"), "xiv");
  EXPECT_EQ(other_form_of_number("xiv"), "14");
  for (const auto* word : {"1", "02", "40", "i", "v", "iiii", "mix", "xl", ""})
    EXPECT_EQ(other_form_of_number(word), "");
}
TEST_F(Search, FindsWordsThatAreSplitOtherwise) {
  put("pulp", "Pulp Fiction", {"Quentin Tarantino"});
  put("potter", "Harry Potter", {"J. K. Rowling"});
  put("spider", "Spiderman", {"JRR Tolkien"});
  for (const auto* query : {"pulpfiction", "pulpfict", "pulpficton", "quentintarantino pulp"}) {
    EXPECT_EQ(find(query), Ids{"pulp"}) << query;
  }
  for (const auto* query : {"jk rowling", "jkrowling", "rowling jk", "harrypotter"})
    EXPECT_EQ(find(query), Ids{"potter"});
  for (const auto* query : {"spider man", "spyder man", "j. r. r. tolkien", "j r r spiderman"}) {
    EXPECT_EQ(find(query), Ids{"spider"}) << query;
  }
  EXPECT_EQ(find("fictionpulp"), Ids{}) << "the other way round";
  EXPECT_EQ(find("potterrowling"), Ids{}) << "they are in different texts";
}
TEST_F(Search, FindsWordsInsideATextWithoutSpaces) {
  put("spirited", "千と千尋の神隠し", {"宮崎駿"});
  put("totoro", "となりのトトロ", {"宮崎駿"});
  for (const auto* query : {"神隠し", "千尋", "千尋の神", "千尋 宮崎", "千尋神隠し"}) {
    EXPECT_EQ(find(query), Ids{"spirited"}) << query;
  }
  for (const auto* query : {"トトロ", "ととろ", "宮崎駿 となり"}) EXPECT_EQ(find(query), Ids{"totoro"}) << query;
  EXPECT_EQ(find("神尋"), Ids{});
}
TEST_F(Search, PutsAWordThatBeginsSoBeforeWordsThatAreJoinedSo) {
  put("dune", "Dune");
  EXPECT_EQ(find("dun").front(), "dune");
  EXPECT_EQ(find("d'un").front(), "autumn");
}
TEST_F(Search, PutsTheShorterTitleFirstAndTheOneInTheOrderOfTheQuery) {
  put("messiah", "Dune Messiah");
  put("children", "Children of Dune");
  put("dune", "Dune");
  EXPECT_EQ(find("dune"), (Ids{"dune", "messiah", "children", "winter"})) << "d'une comes last";
  put("back", "Peace and War");
  put("war", "War and Peace");
  EXPECT_EQ(find("war and peace").front(), "war");
  EXPECT_EQ(find("peace war").front(), "back");
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

Ids words(std::string_view text) {
  Ids texts;
  for (const auto& word : words_of(text)) texts.push_back(word.text);
  return texts;
}

TEST(Words, AreSeparatedByWhatIsNoLetter) {
  EXPECT_EQ(words("«Été»–2001: l’Odyssée…"), (Ids{"ete", "2001", "l", "odyssee"}));
  EXPECT_EQ(words("rock'n'roll"), (Ids{"rock", "n", "roll"}));
  EXPECT_EQ(words("'quoted'"), Ids{"quoted"});
  EXPECT_EQ(words("\xFF"), Ids{});
  EXPECT_EQ(words("Un Cœur, ÆRØ Łódź Đặng Straße þing"),
            (Ids{"un", "coeur", "aero", "lodz", "dang", "strasse", "thing"}));
  EXPECT_EQ(words("Tom & Jerry"), (Ids{"tom", "and", "jerry"}));
  EXPECT_EQ(words("スター・ウォーズ2"), (Ids{"す", "た", "ー", "う", "ぉ", "ー", "ず", "2"}));
}

TEST(Words, OfAQueryAreCharactersSideBySideOrWords) {
  std::vector<Ids> parts;
  for (const auto& word : query_words("村上春樹 Tom & Jerry 猫")) parts.push_back(word.parts);
  EXPECT_EQ(parts, (std::vector<Ids>{{"村", "上", "春", "樹"}, {"tom"}, {"jerry"}, {"猫"}}));
}

}  // namespace
}  // namespace stator::systems::media_library
