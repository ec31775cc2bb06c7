#include "stator/systems/media-library/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace stator::systems::media_library {
namespace {

constexpr std::string_view kFieldEnds = ",\r\n";

// Confined to one text.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  std::vector<CsvRow> read(std::size_t most) {
    std::vector<CsvRow> rows;
    while (at_ < text_.size() && rows.size() <= most) {
      auto row = read_row();
      const bool empty = row.problem.empty() && row.fields.size() == 1 && row.fields.front().empty();
      if (!empty) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  CsvRow read_row() {
    CsvRow row{.line = line_, .fields = {}, .problem = {}};
    while (true) {
      auto field = read_field(row.problem);
      if (row.problem.empty() && row.fields.size() == kMostCsvFields) {
        row.problem = fmt::format("has more than {} fields", kMostCsvFields);
      }
      if (!row.problem.empty()) {
        row.fields.clear();
        at_ = std::min(text_.find('\n', at_), text_.size());
        break;
      }
      row.fields.push_back(std::move(field));
      if (at_ == text_.size() || text_[at_] != ',') break;
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    return row;
  }

  std::string read_field(std::string& problem) {
    if (at_ < text_.size() && text_[at_] == '"') return read_quoted(problem);
    const auto end = std::min(text_.find_first_of(kFieldEnds, at_), text_.size());
    auto field = std::string(text_.substr(at_, end - at_));
    at_ = end;
    return field;
  }

  std::string read_quoted(std::string& problem) {
    const auto begin = at_++;
    const auto first_line = line_;
    std::string field;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
        continue;
      }
      ++at_;
      const bool doubled = at_ < text_.size() && text_[at_] == '"';
      if (!doubled) {
        const bool ends = at_ == text_.size() || kFieldEnds.find(text_[at_]) != std::string_view::npos;
        if (!ends) problem = "has something other than a comma behind a closing quote";
        return field;
      }
      field += '"';
    }
    // Only this line is lost: the quote was probably meant as a letter.
    problem = "has a quote that is not closed";
    at_ = begin;
    line_ = first_line;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

// What follows any number of ' and would be a formula without them.
bool guarded(std::string_view field) {
  const auto first = field.find_first_not_of('\'');
  return first != std::string_view::npos && std::string_view("=+-@\t").find(field[first]) != std::string_view::npos;
}

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, std::size_t most) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // spreadsheets put a byte order mark in front
  return CsvReader(text).read(most);
}

void append_csv(std::string& out, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    const auto field = guarded(fields[i]) ? '\'' + fields[i] : fields[i];
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

std::string_view plain_field(std::string_view field) {
  return field.starts_with('\'') && guarded(field) ? field.substr(1) : field;
}

}  // namespace stator::systems::media_library
