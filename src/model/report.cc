#include "stator/model/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/suggest.h"

namespace stator::model {
namespace {

// Whoever has more to mend than this mends these first.
constexpr std::size_t kMaxDiagnostics = 1'000;

}  // namespace

void Report::add(Diagnostic diagnostic) {
  failed_ = failed_ || diagnostic.severity == Severity::Error;
  if (diagnostics_.size() >= kMaxDiagnostics) return;
  diagnostics_.push_back(std::move(diagnostic));
}

void Report::error(Position position, std::string_view code, std::string message, std::string fix) {
  add({.severity = Severity::Error,
       .code = std::string(code),
       .file = file_,
       .position = position,
       .message = std::move(message),
       .witness = {},
       .fix = std::move(fix),
       .accepted = {},
       .subject = {}});
}

void Report::warning(Position position, std::string_view code, std::string message, std::string subject) {
  add({.severity = Severity::Warning,
       .code = std::string(code),
       .file = file_,
       .position = position,
       .message = std::move(message),
       .witness = {},
       .fix = {},
       .accepted = {},
       .subject = std::move(subject)});
}

void Report::unknown(Position position, std::string_view code, std::string message, std::string_view word,
                     std::span<const std::string_view> known) {
  const auto nearest = diagnostics_.size() < kMaxDiagnostics ? closest(word, known) : std::nullopt;
  error(position, code, std::move(message), nearest ? std::string(*nearest) : std::string());
}

Diagnostics Report::take() && {
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.position < b.position; });
  return std::move(diagnostics_);
}

std::string spelled_out(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    text += words[i];
  }
  return text;
}

std::string spelled_out(std::span<const std::string> words, std::string_view last) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  return spelled_out(views, last);
}

}  // namespace stator::model
