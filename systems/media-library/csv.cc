#include "stator/systems/media-library/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace stator::systems::media_library {
namespace {

constexpr std::string_view kSeparators = ",;\t";
constexpr std::string_view kNamesSeparator = "sep=";

std::string_view name_of(char separator) {
  return separator == ';' ? "a semicolon" : separator == '\t' ? "a tab" : "a comma";
}

// Whether the text would be a formula without the ' characters at its beginning.
bool guarded(std::string_view field) {
  const auto first = field.find_first_not_of('\'');
  return first != std::string_view::npos && std::string_view("=+-@\t").find(field[first]) != std::string_view::npos;
}

}  // namespace

// Looks at the first line, or as much of it as a row may have.
void CsvReader::find_separator() {
  std::array<std::size_t, kSeparators.size()> counts{};
  bool quoted = false;
  std::size_t end = 0;
  for (at_ = 0; at_ < kMostCsvRowBytes && here(); ++at_) {
    const char c = window_[at_];
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) break;
    const auto separator = quoted ? std::string_view::npos : kSeparators.find(c);
    if (separator != std::string_view::npos) ++counts[separator];
  }
  end = at_;
  at_ = 0;
  const auto most = std::ranges::max_element(counts) - counts.begin();
  separator_ = kSeparators[static_cast<std::size_t>(most)];
  auto line = std::string_view(window_).substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool names_it = line.size() == kNamesSeparator.size() + 1 && line.starts_with(kNamesSeparator) &&
                        kSeparators.find(line.back()) != std::string_view::npos;
  if (!names_it) return;
  separator_ = line.back();
  at_ = end;
  take('\n');
  ++line_;
}

Result<std::optional<CsvRow>> CsvReader::next() {
  if (!separator_) find_separator();
  while (true) {
    row_ = at_;  // what is before it is not needed again
    if (!here()) break;
    if (take('\n')) {
      ++line_;
      ++empty_lines_;
      continue;
    }
    auto row = read_row();
    if (failure_) break;
    const bool empty = row.problem.empty() && row.fields.size() == 1 && row.fields.front().empty();
    if (!empty) return std::optional(std::move(row));
    ++empty_lines_;
  }
  if (failure_) return *failure_;
  return std::optional<CsvRow>();
}

bool CsvReader::here() {
  if (at_ < window_.size()) return true;
  if (failure_) return false;
  const auto piece = source_.next();
  if (!piece) {
    failure_ = piece.error();
    return false;
  }
  window_.erase(0, row_);  // only here: for each row it would move the rest of the piece each time
  at_ -= row_;
  row_ = 0;
  window_ += *piece;
  return at_ < window_.size();
}

bool CsvReader::take(char c) {
  if (!here() || window_[at_] != c) return false;
  ++at_;
  return true;
}

CsvRow CsvReader::read_row() {
  CsvRow row{.line = line_, .fields = {}, .problem = {}};
  while (true) {
    auto field = read_field(row.problem);
    if (row.problem.empty() && row.fields.size() == kMostCsvFields) {
      row.problem = fmt::format("has more than {} fields", kMostCsvFields);
    }
    if (row.problem.empty() && at_ - row_ > kMostCsvRowBytes) {
      row.problem = fmt::format("has more than {} bytes", kMostCsvRowBytes);
    }
    if (!row.problem.empty()) {
      row.fields.clear();
      skip_line();
      break;
    }
    row.fields.push_back(std::move(field));
    if (!take(*separator_)) break;
  }
  take('\r');
  take('\n');
  ++line_;
  return row;
}

void CsvReader::skip_line() {
  while (here()) {
    const auto end = window_.find('\n', at_);
    if (end != std::string::npos) {
      at_ = end;
      return;
    }
    row_ = at_ = window_.size();
  }
}

std::string CsvReader::read_field(std::string& problem) {
  if (here() && window_[at_] == '"') return read_quoted(problem);
  std::string field;
  while (here()) {
    const std::array<char, 3> ends = {*separator_, '\r', '\n'};
    const auto end = std::min(window_.find_first_of(ends.data(), at_, ends.size()), window_.size());
    if (field.size() + (end - at_) > kMostCsvFieldBytes) {
      problem = fmt::format("has a field of more than {} bytes", kMostCsvFieldBytes);
      return {};
    }
    field.append(window_, at_, end - at_);
    at_ = end;
    if (at_ < window_.size()) break;
  }
  return field;
}

std::string CsvReader::read_quoted(std::string& problem) {
  const auto begin = at_++ - row_;
  const auto first_line = line_;
  std::string field;
  while (here()) {
    const auto end = std::min(window_.find('"', at_), window_.size());
    const auto run = std::string_view(window_).substr(at_, end - at_);
    if (field.size() + run.size() > kMostCsvFieldBytes) break;
    line_ += static_cast<std::size_t>(std::ranges::count(run, '\n'));
    field += run;
    at_ = end;
    if (!take('"')) continue;
    if (take('"')) {
      field += '"';
      continue;
    }
    const bool ends = !here() || ends_field(window_[at_]);
    if (!ends) problem = fmt::format("has something other than {} behind a closing quote", name_of(*separator_));
    return field;
  }
  // Only this line is lost: the quote was probably meant as a letter.
  problem = here() ? fmt::format("has a quote that is not closed within {} bytes", kMostCsvFieldBytes)
                   : std::string("has a quote that is not closed");
  at_ = row_ + begin;
  line_ = first_line;
  return {};
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
