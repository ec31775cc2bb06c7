#include <fmt/format.h>
#include <gtest/gtest.h>

#include <compare>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "stator/model/check/load.h"
#include "stator/model/testing/language_cases.h"

// That tests/model/language has a use and a misuse of every word that the loader knows, and tests/model/everything.yaml
// a use.
namespace stator::model {
namespace {

const std::filesystem::path kLanguageFolder = std::filesystem::path(STATOR_TOP) / "tests" / "model" / "language";

// "an entity: owner"; of values: "a type: uuid".
using Word = std::string;
using Words = std::set<Word>;

// One name for what is read by the same code: all that has a type, and every description.
Word word_of(KnownWord::Kind kind, std::string_view construct, std::string_view word) {
  static const std::set<std::string_view> typed{"a member of a map", "a parameter", "an input", "the type of members"};
  if (typed.contains(construct)) construct = kind == KnownWord::Kind::Word ? "an attribute" : "a type";
  if (kind == KnownWord::Kind::Word && word == "description") construct = "anything";
  return fmt::format("{}: {}", construct, word);
}

struct Heard {
  Words words, values;                                          // that can be given
  Words given_words, given_values;                              // that are
  std::map<std::tuple<std::size_t, std::size_t>, Word> places;  // of what is given
  Diagnostics diagnostics;
};

Heard hear(const std::string& yaml) {
  Heard heard;
  auto loaded = load_model(yaml, "model.yaml", [&](const KnownWord& known) {
    const auto word = word_of(known.kind, known.construct, known.word);
    const bool is_value = known.kind == KnownWord::Kind::Value;
    (is_value ? heard.values : heard.words).insert(word);
    if (known.given == nullptr) return;
    (is_value ? heard.given_values : heard.given_words).insert(word);
    if (!is_value) heard.places.insert_or_assign({known.given->line, known.given->column}, word);
  });
  heard.diagnostics = std::move(loaded.diagnostics);
  return heard;
}

// The words that a diagnostic is about: the one that it names, and the last one that stands before it.
void add_misused(Words& misused, const Heard& heard, const Diagnostic& diagnostic) {
  const auto after = heard.places.upper_bound({diagnostic.position.line, diagnostic.position.column});
  if (after != heard.places.begin()) misused.insert(std::prev(after)->second);
  constexpr std::string_view kNeeds = " needs the word ";
  const auto& message = diagnostic.message;
  if (const auto at = message.find(kNeeds); at != std::string::npos) {
    const auto name = message.substr(at + kNeeds.size());
    misused.insert(word_of(KnownWord::Kind::Word, message.substr(0, at), name.substr(0, name.find(','))));
  }
}

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class LanguageWords : public ::testing::Test {
 protected:
  LanguageWords() {
    for (const auto& file : language_case_files(kLanguageFolder)) {
      for (const auto& example : read_language_cases(kLanguageFolder / file)) {
        const auto heard = hear(example.yaml());
        words.insert(heard.words.begin(), heard.words.end());
        values.insert(heard.values.begin(), heard.values.end());
        if (example.uses()) used.insert(heard.given_words.begin(), heard.given_words.end());
        if (example.uses()) used.insert(heard.given_values.begin(), heard.given_values.end());
        for (const auto& diagnostic : heard.diagnostics) {
          add_misused(misused, heard, diagnostic);
          if (diagnostic.code == "unknown-value") unknown_values += diagnostic.message + "\n";
        }
      }
    }
  }

  Words words, values, used, misused;
  std::string unknown_values;  // messages
};

TEST_F(LanguageWords, AreAllUsed) {
  EXPECT_GT(words.size(), 130U);
  for (const auto& word : words) EXPECT_TRUE(used.contains(word)) << word;
  for (const auto& value : values) EXPECT_TRUE(used.contains(value)) << value;
}

TEST_F(LanguageWords, AreAllMisused) {
  for (const auto& word : words) EXPECT_TRUE(misused.contains(word)) << word;
  for (const auto& value : values) {
    const auto what = value.substr(0, value.rfind(": "));
    EXPECT_NE(unknown_values.find(what + " is "), std::string::npos) << what;
  }
}

TEST_F(LanguageWords, AreAllInTheModelThatHasEverything) {
  const auto everything = hear(content(kLanguageFolder.parent_path() / "everything.yaml"));
  for (const auto& word : words) EXPECT_TRUE(everything.given_words.contains(word)) << word;
  for (const auto& word : everything.words) EXPECT_TRUE(words.contains(word)) << word;
}

}  // namespace
}  // namespace stator::model
