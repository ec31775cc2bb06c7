#include "stator/systems/stories/twee.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "stator/base/test_pieces.h"
#include "stator/systems/stories/test_twee.h"
#include "stator/value/json.h"

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
  EXPECT_EQ(story->passages[0].text, "It is dark. Go in\nSwim Climb Sleep");
  EXPECT_EQ(story->passages[0].links,
            (std::vector<TweeLink>{{"Go in", "Hall"}, {"Swim", "Sea"}, {"Climb", "Hill"}, {"Sleep", "Sleep"}}));
}

TEST(Twee, KeepsTheTextOfALinkWhereItStands) {
  const auto links_of = [](std::string_view body) {
    auto story = read_twee(fmt::format(":: a\n{}\n", body));
    return std::pair(story->passages[0].text, story->passages[0].links);
  };
  using Links = std::vector<TweeLink>;
  EXPECT_EQ(
      links_of("You may [[enter it|Inside]], or [[go home]]."),
      std::pair(std::string("You may enter it, or go home."), Links{{"enter it", "Inside"}, {"go home", "go home"}}));
  EXPECT_EQ(links_of("[[a->b]] [[b<-a]] [[a->b->c]] [[ a \n b | c ]]"),
            std::pair(std::string("a a a->b a   b"), Links{{"a", "b"}, {"a", "b"}, {"a->b", "c"}, {"a   b", "c"}}));
  EXPECT_EQ(links_of("[[text|target][$var to 5]]; [[t->u][$a to [1, \"]]\"]]] [[u][$b = 1]] [[x<-y][$c to 1]]"),
            std::pair(std::string("text; t u y"), Links{{"text", "target", "$var to 5"},
                                                        {"t", "u", "$a to [1, \"]]\"]"},
                                                        {"u", "u", "$b = 1"},
                                                        {"y", "x", "$c to 1"}}));
  EXPECT_EQ(links_of("[[never closed"), std::pair(std::string("[[never closed"), Links{}));
}

TEST(Twee, ReadsMetadataAndStoryData) {
  const auto story = read_twee(R"(:: StoryData
{"ifid":"D674C58C-DEFA-4F70-B7A2-27742230C0FC","format":"SugarCube","format-version":"2.36.1","start":"a \\ [b]",
 "tag-colors":{"dark":"red"},"zoom":0.25,"other":1}
:: StoryInit
<<set $coins to 3>><<set $name to "Ann", $lamp to false>> <<run x()>>
:: a \\ \[b\] [x\]y dark] {"position":"600,-400.5","size":"100,200","colour":"red"}
:: c {"position":"here"}
:: d [e] not JSON {"position"
)");
  ASSERT_TRUE(story) << story.error().message;
  EXPECT_EQ((std::tuple(story->format, story->format_version, story->start, story->zoom->to_string())),
            (std::tuple("SugarCube", "2.36.1", "a \\ [b]", "0.25")));
  EXPECT_EQ(story->tag_colors, (std::map<std::string, std::string>{{"dark", "red"}}));
  EXPECT_EQ(story->variables, (value::Item{{"coins", value::AttributeValue::number(3)},
                                           {"lamp", value::AttributeValue::boolean(false)},
                                           {"name", value::AttributeValue::string("Ann")}}));
  ASSERT_EQ(story->passages.size(), 3U);
  const auto& first = story->passages[0];
  EXPECT_EQ(first.name, "a \\ [b]");
  EXPECT_EQ(first.tags, (std::vector<std::string>{"x]y", "dark"}));
  EXPECT_EQ(first.position->second.to_string(), "-400.5");
  EXPECT_EQ(first.size->first.to_string(), "100");
  EXPECT_FALSE(story->passages[1].position);
}

TEST(Twee, NotesWhatItLeavesOut) {
  TextSource source(
      ":: StoryData\n[1]\n:: a {\"colour\":1}\n:: b [script]\n:: StoryInit\n<<run x()>>\n:: c\n<<if $x>>");
  TweeReader reader(source);
  while (*reader.next()) {
  }
  std::string report;
  value::JsonWriter json(report);
  reader.report(0).append(json);
  EXPECT_EQ(report,
            R"({"nodes":0,"responses":0,"notes":[)"
            R"({"what":"dropped","passage":"StoryData","line":1,"message":"it is no JSON object"},)"
            R"({"what":"dropped","passage":"a","line":3,"message":"there is no place for the metadata colour"},)"
            R"({"what":"dropped","passage":"b","line":4,"message":"scripts and styles are not imported"},)"
            R"({"what":"dropped","passage":"StoryInit","line":5,"message":)"
            R"("<<run x()>> gives no variable a number, a text, true or false"},)"
            R"({"what":"kept","passage":"c","line":7,"message":)"
            R"("macros of a story format stay in the text and are not run"}]})");
}

TEST(Twee, PutsLinksBackIntoTheText) {
  for (const std::string_view body :
       {"You may [[enter it->b]], or [[go home->c]].", "[[on->b]]", "One\n[[two->b]]\n\n[[three->c]]\n<!-- choices -->",
        "x\n[[y->b][$a to 1]]\n<!-- choices -->", "[[a->b]]\n[[a->c]]\n<!-- choices -->",
        "[[a [[b->c]]\n<!-- choices -->"}) {
    const auto text = fmt::format(":: a\n{}\n", body);
    const auto story = read_twee(text);
    ASSERT_TRUE(story);
    const auto written = write_twee(*story);
    EXPECT_TRUE(written.ends_with(text)) << written;
    EXPECT_EQ(*read_twee(written), *story) << written;
  }
}

TEST(Twee, TakesLineBreaksOfWindows) {
  const auto story = read_twee(":: a [x]\r\none\r\n[[b]]\r\n:: b\r\n");
  ASSERT_TRUE(story);
  EXPECT_EQ(story->passages[0].text, "one\nb");
  EXPECT_EQ(story->passages[1].name, "b");
}

TEST(Twee, WritesWhatItReads) {
  const TweeStory story{
      .title = "T",
      .ifid = "D674C58C-DEFA-4F70-B7A2-27742230C0FC",
      .start = "a [odd] {name}",
      .passages = {{.name = "a [odd] {name}", .tags = {"x"}, .text = "Two\nlines", .links = {{"on", "b"}}},
                   {.name = "b",
                    .tags = {},
                    .text = "",
                    .links = {{"on", "b", "$x to 1"}},
                    .position = NumberPair(value::Number::from_int(600), value::Number::from_int(-4)),
                    .size = NumberPair(value::Number::from_int(1), value::Number::from_int(2))}},
      .format = "Harlowe",
      .format_version = "3.3.8",
      .zoom = value::Number::from_int(2),
      .tag_colors = {{"x", "red"}},
      .variables = {{"coins", value::AttributeValue::number(3)}}};
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
    EXPECT_EQ(reader.stories().front().start, "Start");
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
  EXPECT_EQ(read_twee(links).error().message, "line 2: a has more than 1000 links");
  std::string passages;
  for (int i = 0; i <= 10'000; ++i) passages += ":: a\n";
  EXPECT_EQ(read_twee(passages).error().message, "more than 10000 passages");
}

}  // namespace
}  // namespace stator::systems::stories
