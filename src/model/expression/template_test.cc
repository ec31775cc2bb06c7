#include "stator/model/expression/template.h"

#include <gtest/gtest.h>

#include <array>

#include "stator/base/random.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;
using value::Number;

Template parsed(std::string_view text) {
  auto result = Template::parse(text);
  EXPECT_TRUE(result.ok()) << text << ": " << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : Template();
}

std::string refusal(std::string_view text) {
  const auto result = Template::parse(text);
  return result.ok() ? "accepted" : result.error().message;
}

AttributeValue number(std::string_view text) { return AttributeValue(*Number::parse(text)); }

// The key, "absent", or what is wrong.
std::string rendered(std::string_view text, const Item& item, unsigned shard = 0) {
  const auto result = parsed(text).render(lookup_in(item), shard);
  if (!result.ok()) return result.error().message;
  return result->value_or("absent");
}

std::string folded(std::string_view text) { return fold(text).value(); }

// Few kinds of characters, so that prefixes are common and separators occur.
std::string random_text(Random& random) {
  constexpr std::string_view kCharacters{"\0 !\"#$%&'ab~\x7f\xc3\xa9\xff", 17};
  std::string text;
  for (auto left = random.below(6); left > 0; --left) text += kCharacters[random.below(kCharacters.size())];
  return text;
}

// ------------------------------------------------------------------------------------------------------------- parsing

TEST(TemplateParse, SeesLiteralsFieldsAndShards) {
  const auto key = parsed("library#{LibraryId}#{Title|sortable}#{Order:05}#{shard:8}{{x}}");
  const std::vector<Template::Part> parts = {
      Template::Literal{"library#"}, Template::Field{"LibraryId", Transform::Escaped, 0},
      Template::Literal{"#"},        Template::Field{"Title", Transform::Sortable, 0},
      Template::Literal{"#"},        Template::Field{"Order", Transform::Escaped, 5},
      Template::Literal{"#"},        Template::Shard{8},
      Template::Literal{"{x}"},
  };
  EXPECT_EQ(key.parts(), parts);
  EXPECT_EQ(key.attributes(), (std::vector<std::string>{"LibraryId", "Title", "Order"}));
  EXPECT_EQ(key.shards(), 8U);
  EXPECT_FALSE(key.constant());
}

TEST(TemplateParse, NamesEachAttributeOnce) {
  EXPECT_EQ(parsed("{a}#{b}#{a|raw}").attributes(), (std::vector<std::string>{"a", "b"}));
}

TEST(TemplateParse, KnowsAConstant) {
  EXPECT_TRUE(parsed("METADATA").constant());
  EXPECT_FALSE(parsed("true#{shard:4}").constant());
  EXPECT_EQ(parsed("METADATA").shards(), 1U);
}

TEST(TemplateParse, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal(""), "column 1: a template cannot be empty");
  EXPECT_EQ(refusal("a{b"), "column 2: a { without its }; the character itself is written {{");
  EXPECT_EQ(refusal("ab}c"), "column 3: a } without its {; the character itself is written }}");
  EXPECT_EQ(refusal("a#{}"), "column 4: an attribute's name is missing between { and }");
  EXPECT_EQ(refusal("{1a}"), "column 2: '1a' is not an attribute's name");
  EXPECT_EQ(refusal("{a..b}"), "column 2: 'a..b' is not an attribute's name");
  EXPECT_EQ(refusal("{Title|upper}"),
            "column 8: 'upper' is not a transform; there are sortable, alphabetical, raw, year, month and day");
  EXPECT_EQ(refusal("{Order:5}"), "column 8: padding is written {Order:05}, with a width from 01 to 38");
  EXPECT_EQ(refusal("{Order:0}"), "column 8: padding is written {Order:05}, with a width from 01 to 38");
  EXPECT_EQ(refusal("{Order:039}"), "column 8: padding is written {Order:05}, with a width from 01 to 38");
  for (const std::string_view text : {"{shard}", "{shard:0}", "{shard:08}", "{shard:257}", "{shard|raw}"}) {
    EXPECT_EQ(refusal(text), "column 2: a shard is written {shard:8}, with a count from 1 to 256") << text;
  }
}

TEST(TemplateParse, IsBounded) {
  EXPECT_EQ(refusal(std::string(2049, 'x')), "column 2049: a template has at most 2048 bytes");
  std::string many;
  for (int i = 0; i < 64; ++i) many += "{a}";
  EXPECT_EQ(refusal(many), "column 192: a template has at most 64 parts");
}

TEST(TemplateParse, TakesAnyBytesWithoutHarm) {
  Random random(7);
  constexpr std::string_view kPieces = "{}{}|:ab_.#019shrdw";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto left = random.below(20); left > 0; --left) text += kPieces[random.below(kPieces.size())];
    if (const auto result = Template::parse(text)) {
      EXPECT_EQ(result->text(), text);
      ignore_error(result->render(lookup_in({})), "only whether it returns");
    }
  }
}

// ----------------------------------------------------------------------------------------------------------- rendering

TEST(TemplateRender, FillsTheHoles) {
  const Item item = {{"OwnerId", AttributeValue::string("u1")},
                     {"Title", AttributeValue::string("Crème & Brûlée #1")},
                     {"Order", AttributeValue::number(7)},
                     {"price", number("12.50")},
                     {"deleted", AttributeValue::boolean(false)},
                     {"address", AttributeValue(Item{{"city", AttributeValue::string("Bern")}})}};
  EXPECT_EQ(rendered("owner#{OwnerId}", item), "owner#u1");
  EXPECT_EQ(rendered("{Title}", item), "Crème%20&%20Brûlée%20%231");
  EXPECT_EQ(rendered("{Title|sortable}", item), "creme%20&%20brulee%20%231");
  EXPECT_EQ(rendered("{Title|alphabetical}", item), "creme%20&%20brulee%20%231");
  EXPECT_EQ(rendered("{Title|raw}", item), "Crème & Brûlée #1");
  EXPECT_EQ(rendered("{Order:05}", item), "00007");
  EXPECT_EQ(rendered("{Order}", item), "7");
  EXPECT_EQ(rendered("{price}", item), "12.5");
  EXPECT_EQ(rendered("{deleted}", item), "false");
  EXPECT_EQ(rendered("{address.city}", item), "Bern");
  EXPECT_EQ(rendered("{{{OwnerId}}}", item), "{u1}");
}

TEST(TemplateRender, IsAbsentWithoutAnAttribute) {
  const Item item = {{"a", AttributeValue::string("x")}, {"none", AttributeValue()}};
  EXPECT_EQ(rendered("{a}#{b}", item), "absent");
  EXPECT_EQ(rendered("{a}#{none}", item), "absent");
  EXPECT_EQ(rendered("{a.b}", item), "absent");
}

TEST(TemplateRender, FillsAsMuchOfTheFrontAsItKnows) {
  const Item item = {{"a", AttributeValue::string("x")}, {"c", AttributeValue::string("z")}};
  const auto front = parsed("A#{a}#{b}#{c}").render_prefix(lookup_in(item)).value();
  EXPECT_EQ(front.text, "A#x#");
  EXPECT_FALSE(front.complete);
  const auto whole = parsed("A#{a}").render_prefix(lookup_in(item)).value();
  EXPECT_EQ(whole.text, "A#x");
  EXPECT_TRUE(whole.complete);
}

TEST(TemplateRender, RefusesNumbersThatPaddingCannotHold) {
  const std::string problem = "Order must be a whole number from 0 to 99999";
  for (const std::string_view text : {"-1", "1.5", "100000", "1e37"}) {
    EXPECT_EQ(rendered("{Order:05}", {{"Order", number(text)}}), problem) << text;
  }
  EXPECT_EQ(rendered("{Order:05}", {{"Order", AttributeValue::string("7")}}), problem);
  EXPECT_EQ(rendered("{Order:05}", {{"Order", number("99999")}}), "99999");
  EXPECT_EQ(rendered("{Order:05}", {{"Order", number("0")}}), "00000");
}

TEST(TemplateRender, RefusesWhatHasNoText) {
  EXPECT_EQ(rendered("{tags}", {{"tags", AttributeValue(value::List{})}}),
            "tags must be a text, a number or a boolean to be part of a key");
}

TEST(TemplateRender, TakesPartsOfDates) {
  const Item item = {{"day", AttributeValue::string("2026-01-15")},
                     {"at", AttributeValue::string("2026-01-01T00:30:00+01:00")},
                     {"no", AttributeValue::string("2026-02-30")}};
  EXPECT_EQ(rendered("{day|year} {day|month} {day|day}", item), "2026 2026-01 2026-01-15");
  EXPECT_EQ(rendered("{at|year} {at|month} {at|day}", item), "2025 2025-12 2025-12-31");  // in UTC
  EXPECT_EQ(rendered("{no|year}", item), "no must be a date or a timestamp");
}

TEST(TemplateRender, WritesShardsInOneWidth) {
  EXPECT_EQ(rendered("true#{shard:8}", {}, 7), "true#7");
  EXPECT_EQ(rendered("true#{shard:8}", {}, 8), "true#0");
  EXPECT_EQ(rendered("true#{shard:16}", {}, 7), "true#07");
  EXPECT_EQ(rendered("true#{shard:10}", {}, 19), "true#9");
  EXPECT_EQ(rendered("true#{shard:1}", {}, 5), "true#0");
}

TEST(Template, TellsWhatItCouldHaveGiven) {
  const auto could = [](std::string_view text, std::string_view given, const value::Item& attributes = {}) {
    return Template::parse(text)->could_give(given, lookup_in(attributes));
  };
  EXPECT_TRUE(could("user#{u}#item#{i}", "user#ann#item#%23-5"));
  EXPECT_TRUE(could("user#{u}#item#{i}", "user#ann#item#", {{"u", AttributeValue::string("ann")}}));
  EXPECT_TRUE(could("{a}{b}", "xy", {{"b", AttributeValue::string("y")}}));
  EXPECT_TRUE(could("{a|raw}#{n:03}#{shard:16}#{at|day}", "a#b#007#12#2026-01-01"));
  EXPECT_FALSE(could("user#{u}#item#{i}", "user#ann#book#1"));
  EXPECT_FALSE(could("user#{u}", "user#ann#item#1")) << "no separator is in a text";
  EXPECT_FALSE(could("user#{u}", "user#bob", {{"u", AttributeValue::string("ann")}}));
  EXPECT_FALSE(could("{n:03}", "07"));
  EXPECT_FALSE(could("{n:03}", "0007"));
  EXPECT_FALSE(could("{n:03}", "00a"));
  EXPECT_FALSE(could("{n:03}", "007", {{"n", AttributeValue::string("7")}})) << "what does not fit was never there";
}

TEST(Template, TellsQuicklyWhatItCouldHaveGiven) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "{a" + std::to_string(i) + "|raw}x";
  EXPECT_FALSE(
      Template::parse(text)->could_give(std::string(2048, 'x') + "y", [](std::string_view) { return nullptr; }));
}

// Rows lie in the shards that this function gave them: another result would lose them.
TEST(TemplateShards, AreTheSameForEver) {
  EXPECT_EQ(shard_of("WATCHLIST#1", "METADATA"), 3866426601U);
  EXPECT_EQ(shard_of("WATCHLIST#2", "METADATA"), 3168568132U);
  EXPECT_EQ(shard_of("", ""), 532011356U);
  EXPECT_NE(shard_of("ab", "c"), shard_of("a", "bc"));
}

TEST(TemplateShards, SpreadEvenly) {
  std::array<int, 8> counts{};
  for (int i = 0; i < 8000; ++i) ++counts[shard_of("LIST#" + std::to_string(i), "METADATA") % 8];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

// --------------------------------------------------------------------------------------------------- folding, escaping

TEST(FoldLetters, GivesTheLettersThatPeopleTypeForOthers) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"Œuvre", "oeuvre"},  {"Æsop", "aesop"}, {"Straße", "strasse"}, {"Ørsted", "orsted"},
      {"Đặng", "dang"},     {"Łódź", "lodz"},  {"Þór", "thor"},       {"Ĳssel", "ijssel"},
      {"ǅ", "dz"},          {"ﬁn", "fin"},     {"Alien³", "alien3"},  {"ＡＢＣ", "abc"},
      {"トトロ", "ととろ"}, {"ﾄﾄﾛ", "ととろ"}, {"Война", "воина"},    {"Zèbre", "zebre"},
  };
  for (const auto& [text, folded] : cases) {
    EXPECT_EQ(*fold_letters(text), folded) << text;
    EXPECT_EQ(*fold_letters(folded), folded) << "twice is once";
  }
  EXPECT_FALSE(fold_letters("\xFF"));
}

TEST(TemplateRender, PutsLigaturesWherePeopleLookForThem) {
  const auto key = [](std::string_view title) {
    return rendered("{n|alphabetical}", {{"n", AttributeValue::string(title)}});
  };
  const std::vector<std::string_view> titles = {"Adam", "Æsop", "Afrika", "Łódź", "Lyon", "Oedipe", "Œuvre", "Zèbre"};
  for (std::size_t i = 1; i < titles.size(); ++i) EXPECT_LT(key(titles[i - 1]), key(titles[i])) << titles[i];
  EXPECT_GT(rendered("{n|sortable}", {{"n", AttributeValue::string("Œuvre")}}), "zebre") << "as tables have it";
}

TEST(TemplateEscape, KeepsOrderAndForgesNoSeparator) {
  Random random(1);
  for (int round = 0; round < 50000; ++round) {
    const std::string a = random_text(random);
    const std::string b = random_text(random);
    EXPECT_EQ(escape(a) <=> escape(b), a <=> b) << a << " | " << b;
    EXPECT_EQ(escape(a) + '#' <=> escape(b) + '#', a <=> b) << a << " | " << b;
    for (const char c : escape(a)) EXPECT_GE(static_cast<unsigned char>(c), '%');
  }
}

TEST(TemplateEscape, KeepsALongerNameOutOfAShorterOnesChildren) {
  const std::string collection = rendered("item#{n|sortable}", {{"n", AttributeValue::string("Foo")}});
  const std::string child = collection + "#00001#x";
  for (const std::string_view title : {"Foo Bar", "Foo!", "Foo#00000", "Foo#00001", "Foo\t", "Foo0"}) {
    const std::string other = rendered("item#{n|sortable}", {{"n", AttributeValue::string(title)}});
    EXPECT_FALSE(collection < other && other < child) << title;
    EXPECT_FALSE(other.starts_with(collection + "#")) << title;
  }
}

TEST(TemplateFold, IgnoresCaseAndDiacritics) {
  EXPECT_EQ(folded("Crépuscule"), "crepuscule");
  EXPECT_EQ(folded("Cre\u0301puscule"), "crepuscule");
  EXPECT_EQ(folded("Straße"), "strasse");
  EXPECT_EQ(folded("ΌΔΟΣ"), folded("όδος"));
  EXPECT_EQ(folded("ЁЛКА"), "елка");
  EXPECT_EQ(folded("İstanbul"), "istanbul");
  EXPECT_EQ(folded("Æther Łódź"), "æther łodz");
  EXPECT_EQ(folded("PLAIN ascii 1!"), "plain ascii 1!");
  EXPECT_EQ(folded(""), "");
}

TEST(TemplateFold, KeepsTheVowelsOfOtherScripts) {
  EXPECT_NE(folded("की"), folded("के"));
  EXPECT_EQ(folded("가"), "가");
  EXPECT_EQ(folded("が"), "が");
}

TEST(TemplateFold, ChangesNothingTheSecondTime) {
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto left = random.below(8); left > 0; --left) {
      const auto c = static_cast<unsigned>(random.below(0x2000)) + 0x80;  // up to three bytes
      if (c < 0x800) {
        text += {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
      } else {
        text += {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
                 static_cast<char>(0x80 | (c & 0x3F))};
      }
    }
    const std::string once = folded(text);
    EXPECT_EQ(folded(once), once) << text;
  }
}

TEST(TemplateFold, TakesLongRunsOfMarks) {
  std::string text = "e";
  for (int i = 0; i < 100'000; ++i) text += "\u05B0\u05BC";  // Hebrew points, in the wrong order
  EXPECT_EQ(folded(text).size(), text.size());
}

TEST(TemplateFold, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(fold("a\xff").error().message, "the text is not UTF-8");
  EXPECT_EQ(fold("\xed\xa0\x80").error().message, "the text is not UTF-8");  // half of a surrogate pair
}

}  // namespace
}  // namespace stator::model
