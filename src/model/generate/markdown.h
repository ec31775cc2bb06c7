#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

namespace stator::model::generate {

// Text inside a table's cell: a bar would end it.
inline std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

inline std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

class MarkdownTable {
 public:
  MarkdownTable(std::string& out, const std::vector<std::string>& heads) : out_(out) {
    row(heads);
    out_ += "|";
    for (std::size_t i = 0; i < heads.size(); ++i) out_ += "---|";
    out_ += "\n";
  }
  void row(const std::vector<std::string>& cells) { out_ += fmt::format("| {} |\n", fmt::join(cells, " | ")); }

 private:
  std::string& out_;
};

}  // namespace stator::model::generate
