#include "stator/base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

#include "stator/base/clock.h"

namespace stator::log {
namespace {

std::atomic<Level> minimum_level{Level::Info};
std::atomic<Format> output_format{Format::Json};

std::string_view level_name(Level level) {
  switch (level) {
    case Level::Debug: return "debug";
    case Level::Info: return "info";
    case Level::Warning: return "warning";
    case Level::Error: return "error";
  }
  return "error";
}

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

std::string timestamp() {
  const auto now = SystemClock().now();
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(now);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds.time_since_epoch().count()), millis);
}

std::string json_line(Level level, std::string_view event, std::initializer_list<Field> fields) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","event":)", timestamp(), level_name(level));
  append_json_string(line, event);
  for (const auto& field : fields) {
    line.push_back(',');
    append_json_string(line, field.name);
    line.push_back(':');
    if (field.quoted) {
      append_json_string(line, field.value);
    } else {
      line += field.value;
    }
  }
  line += "}\n";
  return line;
}

std::string text_line(Level level, std::string_view event, std::initializer_list<Field> fields) {
  std::string line = fmt::format("{} {:<7} {}", timestamp(), level_name(level), event);
  for (const auto& field : fields) {
    line += fmt::format(" {}=", field.name);
    if (field.quoted && field.value.find_first_of(" \"\n\t") != std::string::npos) {
      append_json_string(line, field.value);
    } else {
      line += field.value;
    }
  }
  line.push_back('\n');
  return line;
}

}  // namespace

void configure(Level minimum, Format format) {
  minimum_level = minimum;
  output_format = format;
}

Format default_format() { return isatty(STDERR_FILENO) ? Format::Text : Format::Json; }

void write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (level < minimum_level) return;
  const auto line = output_format == Format::Json ? json_line(level, event, fields) : text_line(level, event, fields);
  // Nobody can be told that the log itself cannot be written.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace stator::log
