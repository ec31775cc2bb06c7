#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace stator::cli {

// Shows on standard error how far something is: a bar on a terminal, and elsewhere a line for every tenth.
class ProgressBar {
 public:
  enum class Unit : std::uint8_t { Bytes, Records, Steps };

  ProgressBar();
  ~ProgressBar();  // ends the line of the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // For another `what`, a new bar begins.
  void show(std::string_view what, std::uint64_t done, std::uint64_t total, Unit unit);

 private:
  static constexpr std::chrono::milliseconds kInterval{100};

  void end_line();

  const bool terminal_;
  std::string what_;
  std::uint64_t tenths_ = 0;
  bool open_ = false;  // a bar is on the screen, and its line not ended
  std::chrono::steady_clock::time_point shown_{};
};

// "1.2 GB"
std::string bytes_text(std::uint64_t bytes);

}  // namespace stator::cli
