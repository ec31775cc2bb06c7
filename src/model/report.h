#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "stator/model/diagnostic.h"

namespace stator::model {

// A word of the language that was looked for in a file.
struct KnownWord {
  enum class Kind : bool { Word, Value };
  Kind kind;                   // Value: one of a few that another word can have
  std::string_view construct;  // it has the word: "an entity"; or the value: "a type"
  std::string_view word;
  const Position* given;  // where the file has it; null: nowhere
};
// Hears of every word that the parser knows at a place while it reads it, so that tests can hold the whole language to
// something.
using WordListener = std::function<void(const KnownWord&)>;

// Collects the diagnostics of one model: of its text while it is read, and of its design while it is checked.
//
// Diagnostics of the text stand at a place.  Findings about the design have a subject, by which the author can accept
// them; the same finding about the same subject in the same words is kept once.  At most 1,000 of each are kept.  Those
// of the text come first, and both are in the order of the file.
class Report {
 public:
  explicit Report(std::string file, WordListener listener = nullptr)
      : file_(std::move(file)), listener_(std::move(listener)) {}

  void looked_for(const KnownWord& word) const {
    if (listener_) listener_(word);
  }

  // Of the text.  `fix` is a better text for the file, where one is known.
  void error(Position position, std::string_view code, std::string message, std::string fix = {});
  void warning(Position position, std::string_view code, std::string message, std::string subject,
               std::string fix = {});
  // "there is no attribute Titel", with the nearest of `known` as the fix.
  void unknown(Position position, std::string_view code, std::string message, std::string_view word,
               std::span<const std::string_view> known);

  // Of the design.
  struct About {
    std::string_view code;
    std::string subject;
    Position position;
  };
  void error(About about, std::string message, std::string fix, std::string witness = {});
  void warning(About about, std::string message, std::string fix, std::string witness = {});

  // Marks all findings of that code as accepted; of one subject, unless it is empty.  False when there are none.
  bool accept(std::string_view code, std::string_view subject, const std::string& because);

  // The text has been read.  What is reported from now on is about the design.
  void begin_design();

  bool failed() const { return failed_; }
  const std::string& file() const { return file_; }
  Diagnostics take() &&;
  // In the order in which they were added.
  Diagnostics take_as_added() && { return std::move(diagnostics_); }

 private:
  void add_to_text(Severity severity, Position position, std::string_view code, std::string message,
                   std::string subject, std::string fix);
  void add_finding(Severity severity, About about, std::string message, std::string fix, std::string witness);
  void add(Diagnostic diagnostic);

  std::string file_;
  WordListener listener_;
  Diagnostics diagnostics_;
  std::size_t of_text_ = 0;                                               // reported at a place, since the design began
  std::size_t design_begins_ = 0;                                         // in `diagnostics_`
  std::set<std::tuple<std::string, std::string, std::string>> findings_;  // code, subject, message
  bool failed_ = false;
};

// "a, b and c"; the end of many messages.
std::string spelled_out(std::span<const std::string_view> words, std::string_view last = "and");
std::string spelled_out(std::span<const std::string> words, std::string_view last = "and");

}  // namespace stator::model
