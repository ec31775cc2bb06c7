#include "stator/systems/media-library/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace stator::systems::media_library {
namespace {

constexpr std::size_t kMostRows = 100'000;
constexpr std::size_t kMostFields = 100;

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  Result<std::vector<CsvRow>> read() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      auto row = TRY(read_row());
      if (row.size() == 1 && row.front().empty()) continue;
      if (rows.size() == kMostRows) return validation_error(fmt::format("more than {} rows", kMostRows));
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Result<CsvRow> read_row() {
    CsvRow row;
    while (true) {
      if (row.size() == kMostFields)
        return validation_error(fmt::format("line {}: more than {} fields", line_, kMostFields));
      row.push_back(TRY(read_field()));
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (at_ < text_.size() && text_[at_] == '\r') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') ++at_;
      ++line_;
      return row;
    }
  }

  Result<std::string> read_field() {
    if (at_ == text_.size() || text_[at_] != '"') {
      const auto end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      auto field = std::string(text_.substr(at_, end - at_));
      at_ = end;
      return field;
    }
    const auto first_line = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += '"';
        ++at_;
      } else {
        ++at_;
        if (at_ < text_.size() && text_.find_first_of(",\r\n", at_) != at_) {
          return validation_error(fmt::format("line {}: a comma or the line's end must follow a closing quote", line_));
        }
        return field;
      }
    }
    return validation_error(fmt::format("line {}: a quote is not closed", first_line));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRow>> read_csv(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // spreadsheets put a byte order mark in front
  return CsvReader(text).read();
}

void append_csv(std::string& out, const CsvRow& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    const bool formula = !row[i].empty() && std::string_view("=+-@").find(row[i].front()) != std::string_view::npos;
    const auto field = formula ? '\'' + row[i] : row[i];
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  out += "\r\n";
}

}  // namespace stator::systems::media_library
