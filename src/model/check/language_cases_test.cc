#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "stator/model/check/load.h"
#include "stator/model/testing/language_cases.h"

namespace stator::model {
namespace {

const std::filesystem::path kLanguageFolder = std::filesystem::path(STATOR_TOP) / "tests" / "model" / "language";

// The diagnostics as the file has them.
std::string said(const LanguageCase& example) {
  const auto first = example.first_line();
  const auto count = std::count(example.lines.begin(), example.lines.end(), '\n');
  const auto loaded = load_model(example.yaml(), "model.yaml");
  EXPECT_EQ(loaded.model.has_value(), !has_errors(loaded.diagnostics));
  std::string text;
  for (const auto& d : loaded.diagnostics) {
    const bool is_inside = d.position.line >= first && d.position.line < first + count;
    text += fmt::format("{}{}:{} {}{}: {}{}\n", is_inside ? "" : "base ",
                        is_inside ? d.position.line - first + 1 : d.position.line, d.position.column,
                        d.severity == Severity::Warning ? "warning " : "", d.code, d.message,
                        d.fix.empty() ? std::string() : fmt::format(" ({})", d.fix));
  }
  return text;
}

class LanguageCases : public testing::TestWithParam<std::string> {};

TEST_P(LanguageCases, SayWhatIsWrongAndWhere) {
  const auto cases = read_language_cases(kLanguageFolder / GetParam());
  EXPECT_FALSE(cases.empty());
  for (const auto& example : cases) {
    SCOPED_TRACE(example.name);
    EXPECT_EQ(example.says.empty(), example.uses());
    EXPECT_EQ(said(example), example.says);
  }
}

INSTANTIATE_TEST_SUITE_P(Language, LanguageCases, testing::ValuesIn(language_case_files(kLanguageFolder)),
                         [](const auto& file) { return std::filesystem::path(file.param).stem().string(); });

}  // namespace
}  // namespace stator::model
