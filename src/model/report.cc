#include "stator/model/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/suggest.h"

namespace stator::model {
namespace {

// Of the text, and as many of the design.  An author with more errors than this mends these first.
constexpr std::size_t kMaxDiagnostics = 1'000;

}  // namespace

void Report::add(Diagnostic diagnostic) {
  failed_ = failed_ || diagnostic.severity == Severity::Error;
  diagnostic.file = file_;
  diagnostics_.push_back(std::move(diagnostic));
}

void Report::add_to_text(Severity severity, Position position, std::string_view code, std::string message,
                         std::string subject, std::string fix) {
  failed_ = failed_ || severity == Severity::Error;
  if (of_text_ == kMaxDiagnostics) return;
  ++of_text_;
  add({.severity = severity,
       .code = std::string(code),
       .file = {},
       .position = position,
       .message = std::move(message),
       .witness = {},
       .fix = std::move(fix),
       .accepted = {},
       .subject = std::move(subject)});
}

void Report::add_finding(Severity severity, About about, std::string message, std::string fix, std::string witness) {
  failed_ = failed_ || severity == Severity::Error;
  if (findings_.size() == kMaxDiagnostics) return;
  if (!findings_.emplace(about.code, about.subject, message).second) return;
  add({.severity = severity,
       .code = std::string(about.code),
       .file = {},
       .position = about.position,
       .message = std::move(message),
       .witness = std::move(witness),
       .fix = std::move(fix),
       .accepted = {},
       .subject = std::move(about.subject)});
}

void Report::error(Position position, std::string_view code, std::string message, std::string fix) {
  add_to_text(Severity::Error, position, code, std::move(message), {}, std::move(fix));
}

void Report::warning(Position position, std::string_view code, std::string message, std::string subject,
                     std::string fix) {
  add_to_text(Severity::Warning, position, code, std::move(message), std::move(subject), std::move(fix));
}

void Report::unknown(Position position, std::string_view code, std::string message, std::string_view word,
                     std::span<const std::string_view> known) {
  const auto nearest = of_text_ < kMaxDiagnostics ? closest(word, known) : std::nullopt;
  error(position, code, std::move(message), nearest ? std::string(*nearest) : std::string());
}

void Report::error(About about, std::string message, std::string fix, std::string witness) {
  add_finding(Severity::Error, std::move(about), std::move(message), std::move(fix), std::move(witness));
}

void Report::warning(About about, std::string message, std::string fix, std::string witness) {
  add_finding(Severity::Warning, std::move(about), std::move(message), std::move(fix), std::move(witness));
}

bool Report::accept(std::string_view code, std::string_view subject, const std::string& because) {
  bool matches = false;
  for (auto& diagnostic : std::span(diagnostics_).subspan(design_begins_)) {
    if (diagnostic.code != code || (!subject.empty() && diagnostic.subject != subject)) continue;
    diagnostic.accepted = because;
    matches = true;
  }
  return matches;
}

void Report::begin_design() {
  design_begins_ = diagnostics_.size();
  of_text_ = 0;
}

Diagnostics Report::take() && {
  const auto design = diagnostics_.begin() + static_cast<std::ptrdiff_t>(design_begins_);
  const auto earlier = [](const Diagnostic& a, const Diagnostic& b) { return a.position < b.position; };
  std::stable_sort(diagnostics_.begin(), design, earlier);
  std::stable_sort(design, diagnostics_.end(), earlier);
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
