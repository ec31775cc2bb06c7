#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "stator/model/generate/design_document.h"
#include "stator/model/generate/diagram.h"
#include "stator/model/generate/type_declarations.h"
#include "stator/model/testing/load_or_fail.h"

// The output of the generators for tests/model/everything.yaml, which has every construct of the language.
namespace stator::model::generate {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(STATOR_TOP) / "tests" / "model";

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  return lines;
}

// `lines` without the one at `left_out`, and without what is below it.
std::string without(const std::vector<std::string>& lines, std::size_t left_out) {
  const auto depth = [](const std::string& line) { return line.find_first_not_of(' '); };
  std::string text;
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    inside = i == left_out || (inside && depth(lines[i]) > depth(lines[left_out]));
    if (!inside) text += lines[i];
  }
  return text;
}

TEST(Everything, IsDescribed) {
  const auto model = load_or_fail(content(kFolder / "everything.yaml"));
  EXPECT_EQ(design_document(model), content(kFolder / "everything.md"))
      << "stator model docs tests/model/everything.yaml > tests/model/everything.md";
  EXPECT_EQ(typescript_types(model), content(kFolder / "everything.ts"))
      << "stator model types --language typescript tests/model/everything.yaml > tests/model/everything.ts";
}

TEST(Everything, IsInThePictureWhole) {
  EXPECT_EQ(diagram(load_or_fail(content(kFolder / "everything.yaml"))).find("…"), std::string::npos);
}

TEST(Everything, ThatCanBeLeftOutChangesTheDocument) {
  const auto yaml = content(kFolder / "everything.yaml");
  const auto lines = lines_of(yaml);
  const auto whole = design_document(load_or_fail(yaml));
  int told = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("#")) continue;
    const auto rest = load_model(without(lines, i), "model.yaml");
    if (!rest.model) continue;
    ++told;
    EXPECT_NE(design_document(*rest.model), whole)
        << "the document does not tell of line " << i + 1 << ": " << lines[i];
  }
  EXPECT_GT(told, 100);
}

}  // namespace
}  // namespace stator::model::generate
