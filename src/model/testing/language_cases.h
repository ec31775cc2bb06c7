#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

// For tests that run tests/model/language: every construct of the language used, and misused with the message that
// comes of it.
namespace stator::model {

struct LanguageCase {
  std::string name;  // "uses: a partition key alone"
  std::string base;
  std::string lines;
  std::string says;

  static constexpr std::string_view kHere = "<here>\n";

  bool uses() const { return name.starts_with("uses: "); }
  std::string yaml() const {
    const auto here = base.find(kHere);
    return base.substr(0, here) + lines + base.substr(here + kHere.size());
  }
  // The number of the case's own first line.
  long first_line() const {
    return 1 + std::count(base.begin(), base.begin() + static_cast<long>(base.find(kHere)), '\n');
  }
};

inline std::vector<LanguageCase> read_language_cases(const std::filesystem::path& file) {
  constexpr std::string_view kHead = "=== ";
  constexpr std::string_view kSays = "--- ";
  std::ifstream in(file);
  std::vector<LanguageCase> cases;
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

// The names of the files with cases.
inline std::vector<std::string> language_case_files(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace stator::model
