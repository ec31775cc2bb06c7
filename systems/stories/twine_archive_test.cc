#include "stator/systems/stories/twine_archive.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/base/test_pieces.h"

namespace stator::systems::stories {
namespace {

using stator::testing::Pieces;

constexpr std::string_view kPage = R"(<!DOCTYPE html><html><head><title>x</title>
<script>if ("<tw-storydata name='no'>" < 1) {}</script><!-- <tw-storydata name="no"> --></head><body>
<tw-storydata name="The &quot;cave&quot; &#38; more" startnode="2" ifid="D674C58C-DEFA-4F70-B7A2-27742230C0FC"
  format="Harlowe" format-version="3.3.8" zoom="0.5" hidden>
<style role="stylesheet">body {}</style><script role="script"></script>
<tw-tag name="dark" color="red"></tw-tag>
<tw-passagedata pid="1" name="Hall &amp; way" tags="big dark" position="600,400" size="100,200">An echo.
[[Out-&gt;Mouth]] &#x2014; a &lt; b &amp;amp; &unknown; &#0;</tw-passagedata>
<TW-PASSAGEDATA pid=2 name='Mouth' tags="">Dark. [[Go in|Hall &amp; way]]</TW-PASSAGEDATA>
</tw-storydata>
<tw-storydata name="Second" startnode=""><tw-passagedata pid="1" name="a">b</tw-passagedata></tw-storydata>
</body></html>)";

Result<std::vector<TweeStory>> read(ByteSource& source) {
  TwineReader reader(source);
  std::vector<TweePassage> passages;
  while (auto passage = TRY(reader.next())) passages.push_back(std::move(*passage));
  auto stories = reader.stories();
  for (auto& passage : passages) stories[passage.story].passages.push_back(std::move(passage));
  return stories;
}

Result<std::vector<TweeStory>> read(std::string_view text) {
  TextSource source(text);
  return read(source);
}

std::string told(std::string_view text) {
  const auto stories = read(text);
  return stories ? fmt::format("{} stories", stories->size()) : stories.error().message;
}

std::string story_with(std::string_view inside) {
  return fmt::format("<tw-storydata name=a>{}</tw-storydata>", inside);
}

TEST(TwineArchive, ReadsTheStoriesOfAPage) {
  const auto stories = read(kPage);
  ASSERT_TRUE(stories) << stories.error().message;
  ASSERT_EQ(stories->size(), 2U);
  const auto& cave = stories->front();
  EXPECT_EQ(cave.title, "The \"cave\" & more");
  EXPECT_EQ(cave.start, "Mouth");
  EXPECT_EQ(cave.ifid, "D674C58C-DEFA-4F70-B7A2-27742230C0FC");
  EXPECT_EQ(cave.format + " " + cave.format_version, "Harlowe 3.3.8");
  EXPECT_EQ(cave.tag_colors.at("dark"), "red");
  ASSERT_EQ(cave.passages.size(), 2U);
  EXPECT_EQ(cave.passages[0].name, "Hall & way");
  EXPECT_EQ(cave.passages[0].tags, (std::vector<std::string>{"big", "dark"}));
  EXPECT_EQ(cave.passages[0].text, "An echo.\nOut \u2014 a < b &amp; &unknown; \uFFFD");
  EXPECT_EQ(cave.passages[0].size->second.to_string(), "200");
  EXPECT_EQ(cave.passages[0].line, 7U);
  EXPECT_EQ(cave.passages[0].links.front().line, 8U);
  EXPECT_EQ(cave.passages[1].links, (std::vector<TweeLink>{{"Go in", "Hall & way"}}));
  EXPECT_EQ((*stories)[1].title, "Second");
  EXPECT_EQ((*stories)[1].start, "");
}

TEST(TwineArchive, ComesInPiecesOfAnySize) {
  const auto whole = read(kPage);
  for (std::size_t size = 1; size < 100; ++size) {
    Pieces pieces(kPage, size);
    EXPECT_EQ(*read(pieces), *whole) << size;
  }
}

TEST(TwineArchive, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(told("<html></html>"), "there is no story: <tw-storydata> is missing");
  EXPECT_EQ(told("\n<tw-storydata name="), "line 2: a tag is not closed");
  EXPECT_EQ(told("<tw-storydata>\n"), "line 2: the last story is not closed");
  EXPECT_EQ(told(story_with("<tw-passagedata name=b>")), "line 1: b is not closed");
  EXPECT_EQ(told(story_with("<tw-passagedata></tw-passagedata>")), "line 1: a passage without a name");
  EXPECT_EQ(told(story_with("<tw-storydata>")), "line 1: a story inside of a story");
  EXPECT_EQ(told(story_with("<script>")), "line 1: <script> is not closed");
}

TEST(TwineArchive, HoldsNoMoreThanNodesCan) {
  const std::string much(2 << 20, 'x');
  EXPECT_EQ(told(fmt::format("<tw-storydata name='{}'>", much)), "line 1: a tag has more than 65536 bytes");
  EXPECT_EQ(told(fmt::format("<tw-storydata {}>", much)), "line 1: a tag has more than 65536 bytes");
  EXPECT_EQ(told(story_with(fmt::format("<tw-passagedata name=b>{}</tw-passagedata>", much))),
            "line 1: b has more than 524288 bytes");
  std::string stories;
  for (std::size_t i = 0; i <= kMostStories; ++i) stories += story_with("");
  EXPECT_EQ(told(stories), "line 1: more than 40 stories");
  std::string passages;
  for (std::size_t i = 0; i <= kMostPassages; ++i) passages += "<tw-passagedata name=b></tw-passagedata>";
  EXPECT_EQ(told(story_with(passages)), "more than 10000 passages");
  EXPECT_EQ(told(story_with(much + std::string(1 << 20, '<'))), "1 stories");
}

}  // namespace
}  // namespace stator::systems::stories
