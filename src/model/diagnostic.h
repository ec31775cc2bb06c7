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

// A message for the author of a model.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code;      // "key-collision": stable, for tools, for `accept`, and for tests
  std::string file;      // as it was named
  Position position;     // of the mistake
  std::string message;   // the mistake, and why it matters
  std::string witness;   // a key, value or pair that shows it; may be empty
  std::string fix;       // a better text for the file; may be empty
  std::string accepted;  // why the author accepts it; empty when it stands
  std::string subject;   // named by `accept`: "BOOK", "GSI1", "items_in_library", "BOOK.Title"
};

using Diagnostics = std::vector<Diagnostic>;

// True when a diagnostic is an error that is not accepted.
bool has_errors(const Diagnostics& diagnostics);

}  // namespace stator::model
