#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "stator/model/load.h"

// Runs tests/model/language: every construct of the language used, and misused with the message that comes of it.
namespace stator::model {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(STATOR_TOP) / "tests" / "model" / "language";
constexpr std::string_view kHere = "<here>\n";
constexpr std::string_view kHead = "=== ";
constexpr std::string_view kSays = "--- ";

struct Case {
  std::string name;  // "uses: a partition key alone"
  std::string base;
  std::string lines;
  std::string says;
};

std::vector<Case> read_cases(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  std::string base;
  bool in_base = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kHead)) {
      in_base = line == "=== base";
      if (in_base) base.clear();
      if (!in_base) cases.push_back({.name = line.substr(kHead.size()), .base = base, .lines = {}, .says = {}});
    } else if (in_base) {
      base += line + "\n";
    } else if (line.starts_with(kSays)) {
      cases.back().says += line.substr(kSays.size()) + "\n";
    } else {
      cases.back().lines += line + "\n";
    }
  }
  return cases;
}

// The diagnostics as the file has them.
std::string said(const Case& example) {
  const auto here = example.base.find(kHere);
  const auto yaml = example.base.substr(0, here) + example.lines + example.base.substr(here + kHere.size());
  const auto first = 1 + std::count(example.base.begin(), example.base.begin() + static_cast<long>(here), '\n');
  const auto count = std::count(example.lines.begin(), example.lines.end(), '\n');
  const auto loaded = load_model(yaml, "model.yaml");
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
  const auto cases = read_cases(kFolder / GetParam());
  EXPECT_FALSE(cases.empty());
  for (const auto& example : cases) {
    SCOPED_TRACE(example.name);
    EXPECT_EQ(example.says.empty(), example.name.starts_with("uses: "));
    EXPECT_EQ(said(example), example.says);
  }
}

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Language, LanguageCases, testing::ValuesIn(case_files()),
                         [](const auto& file) { return std::filesystem::path(file.param).stem().string(); });

}  // namespace
}  // namespace stator::model
