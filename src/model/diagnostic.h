#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stator::model {

// A place in a model file.  Lines and columns count from 1; 0 is nowhere.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

enum class Severity : std::uint8_t { Error, Warning };

// Something to tell the author of a model.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code;      // "key-collision": stable, for tools, for `accept`, and for tests
  std::string file;      // as it was named
  Position position;     // of what is wrong
  std::string message;   // what is wrong, and why that matters
  std::string witness;   // a key, value or pair that shows it; may be empty
  std::string fix;       // what to write instead; may be empty
  std::string accepted;  // why the author accepts it; empty when it stands
  std::string subject;   // what it is about, as `accept` names it: "BOOK", "GSI1", "items_in_library", "BOOK.Title"
};

using Diagnostics = std::vector<Diagnostic>;

// True when a diagnostic is an error that is not accepted.
bool has_errors(const Diagnostics& diagnostics);

}  // namespace stator::model
