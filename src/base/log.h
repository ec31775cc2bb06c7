#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace stator::log {

enum class Level : std::uint8_t { Debug, Info, Warning, Error };
enum class Format : std::uint8_t { Text, Json };

// A name and a value that a reader, or a program, can search for.
struct Field {
  std::string_view name;
  std::string value;
  bool quoted = true;  // false: a number or a boolean, printed bare in JSON

  Field(std::string_view n, std::string_view v) : name(n), value(v) {}
  Field(std::string_view n, const std::string& v) : name(n), value(v) {}
  Field(std::string_view n, const char* v) : name(n), value(v) {}
  Field(std::string_view n, bool v) : name(n), value(v ? "true" : "false"), quoted(false) {}
  template <std::integral T>
  Field(std::string_view n, T v) : name(n), value(std::to_string(v)), quoted(false) {}
  template <std::floating_point T>
  Field(std::string_view n, T v) : name(n), value(std::to_string(v)), quoted(false) {}
};

// The one place the process logs to: standard error, one line per event, text on a terminal and JSON elsewhere.
// Thread-safe; a line is one write.
void configure(Level minimum, Format format);
Format default_format();  // Text when standard error is a terminal

void write(Level level, std::string_view event, std::initializer_list<Field> fields);

inline void debug(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Debug, event, fields);
}
inline void info(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Info, event, fields);
}
inline void warning(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Warning, event, fields);
}
inline void error(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Error, event, fields);
}

}  // namespace stator::log
