#include "stator/systems/stories/twee.h"

#include <gtest/gtest.h>

namespace stator::systems::stories {
namespace {

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

}  // namespace
}  // namespace stator::systems::stories
