#include "stator/cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace stator::cli {
namespace {

constexpr std::uint64_t kBarWidth = 30;

std::string amount(std::uint64_t done, std::uint64_t total, ProgressBar::Unit unit) {
  if (unit == ProgressBar::Unit::Bytes) return fmt::format("{} of {}", bytes_text(done), bytes_text(total));
  return fmt::format("{} of {}{}", done, total, unit == ProgressBar::Unit::Records ? " records" : "");
}

}  // namespace

ProgressBar::ProgressBar() : terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { end_line(); }

void ProgressBar::end_line() {
  if (open_) fmt::print(stderr, "\n");
  open_ = false;
}

void ProgressBar::show(std::string_view what, std::uint64_t done, std::uint64_t total, Unit unit) {
  total = std::max(done, total);
  const auto percent = total == 0 ? 100 : done * 100 / total;
  const bool begins = what != what_;
  if (begins) {
    end_line();
    what_ = what;
    tenths_ = 0;
  }
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    if (!begins && done < total && now - shown_ < kInterval) return;
    const auto filled = percent * kBarWidth / 100;
    fmt::print(stderr, "\r{:<18} [{}{}] {:>3} %  {}\033[K", what_, std::string(filled, '#'),
               std::string(kBarWidth - filled, '.'), percent, amount(done, total, unit));
    std::fflush(stderr);
    open_ = true;
    shown_ = now;
    return;
  }
  const auto tenths = percent / 10;
  if (!begins && tenths <= tenths_) return;
  tenths_ = tenths;
  fmt::print(stderr, "{}: {} %, {}\n", what_, percent, amount(done, total, unit));
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"KB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  auto value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace stator::cli
