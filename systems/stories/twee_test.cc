#include "stator/systems/stories/twee.h"

#include <gtest/gtest.h>

#include "stator/base/test_pieces.h"

namespace stator::systems::stories {
namespace {

using stator::testing::Pieces;

TEST(Twee, ReadsAStory) {
  const auto story = read_twee(R"(:: StoryTitle
The cave

:: StoryData
{"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC","start":"Mouth"}

:: Mouth [dark first] {"position":"1,2"}
It is dark. [[Go in->Hall]]
[[Sea<-Swim]] [[Climb|Hill]] [[Sleep]]

:: UserStyle [stylesheet]
body {}

:: Hall
)");
  ASSERT_TRUE(story) << story.error().message;
  EXPECT_EQ(story->title, "The cave");
  EXPECT_EQ(story->start, "Mouth");
  ASSERT_EQ(story->passages.size(), 2U);
  EXPECT_EQ(story->passages[0].tags, (std::vector<std::string>{"dark", "first"}));
  EXPECT_EQ(story->passages[0].text, "It is dark.");
  EXPECT_EQ(story->passages[0].links,
            (std::vector<TweeLink>{{"Go in", "Hall"}, {"Swim", "Sea"}, {"Climb", "Hill"}, {"Sleep", "Sleep"}}));
}

TEST(Twee, WritesWhatItReads) {
  const TweeStory story{
      .title = "T",
      .ifid = "D674C58C-DEFA-4F70-B7A2-27742230C0FC",
      .start = "a [odd] {name}",
      .passages = {{.name = "a [odd] {name}", .tags = {"x"}, .text = "Two\nlines", .links = {{"on", "b"}}},
                   {.name = "b", .tags = {}, .text = "", .links = {}}}};
  const auto again = read_twee(write_twee(story));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, story);
}

TEST(Twee, LetsNoTextLookLikeMarkup) {
  const TweeStory story{.title = "T",
                        .ifid = "",
                        .start = "a",
                        .passages = {{.name = "a",
                                      .tags = {},
                                      .text = ":: not a passage\n:: nor this, [[nor a link]], [[[nor this]]",
                                      .links = {{"a -> ]] b", "a"}, {"b ]]] c", "a"}, {"nowhere", ""}}}}};
  const auto again = read_twee(write_twee(story));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->passages.size(), 1U);
  EXPECT_EQ(again->passages[0].text, ":: not a passage\n :: nor this, [ [nor a link]], [ [ [nor this]]");
  EXPECT_EQ(again->passages[0].links,
            (std::vector<TweeLink>{{"a -> ] ] b", "a"}, {"b ] ] ] c", "a"}, {"nowhere", ""}}));
}

TEST(Twee, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(read_twee("\nhello").error().message, "line 2: text before the first passage; passages begin with ::");
  EXPECT_EQ(read_twee("::").error().message, "line 1: a passage without a name");
  EXPECT_EQ(read_twee(":: a [b").error().message, "line 1: the tags of a are not closed");
}

TEST(Twee, ComesInPiecesOfAnySize) {
  constexpr std::string_view kText = ":: Start [x]\none\n\ntwo [[on->B]]\n:: S [script]\n:::\n:: B\nthree";
  const auto whole = read_twee(kText);
  ASSERT_TRUE(whole);
  for (std::size_t size = 1; size < kText.size(); ++size) {
    Pieces pieces(kText, size);
    TweeReader reader(pieces);
    std::vector<TweePassage> passages;
    while (true) {
      auto passage = reader.next();
      ASSERT_TRUE(passage) << size << passage.error().message;
      if (!*passage) break;
      passages.push_back(std::move(**passage));
    }
    EXPECT_EQ(passages, whole->passages) << size;
    EXPECT_EQ(reader.start(), "Start");
  }
}

TEST(Twee, HoldsNoMoreThanANodeCan) {
  const std::string long_line(1 << 20, 'x');
  EXPECT_EQ(read_twee(":: a\n" + long_line).error().message, "line 2: a has more than 524288 bytes");
  EXPECT_EQ(read_twee(":: a\n" + std::string(600'000, '\n')).error().message.substr(0, 4), "line");
  EXPECT_TRUE(read_twee(":: a [script]\n" + long_line + "\n:: b\n"));
  EXPECT_EQ(read_twee(":: " + long_line).error().message,
            "line 1: the first line of a passage has at most 65536 bytes");
  std::string links = ":: a\n";
  for (int i = 0; i < 1001; ++i) links += "[[b]]";
  EXPECT_EQ(read_twee(links).error().message, "line 3: a has more than 1000 links");
  std::string passages;
  for (int i = 0; i <= 10'000; ++i) passages += ":: a\n";
  EXPECT_EQ(read_twee(passages).error().message, "more than 10000 passages");
}

}  // namespace
}  // namespace stator::systems::stories
