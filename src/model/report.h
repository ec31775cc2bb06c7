#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/diagnostic.h"

namespace stator::model {

// A word of the language that was looked for in a file.
struct KnownWord {
  enum class Kind : bool { Word, Value };
  Kind kind;                   // Value: one of a few that another word can have
  std::string_view construct;  // whose word it is, "an entity"; or whose value, "a type"
  std::string_view word;
  const Position* given;  // where the file has it; null: nowhere
};
// Hears of every word that the loader knows at a place while it reads it, so that tests can hold the whole language to something.
using WordListener = std::function<void(const KnownWord&)>;

// What there is to tell about one file, collected while it is read.  Belongs to one load.
class Report {
 public:
  explicit Report(std::string file, WordListener listener = nullptr)
      : file_(std::move(file)), listener_(std::move(listener)) {}

  void looked_for(const KnownWord& word) const {
    if (listener_) listener_(word);
  }

  // `fix` is what to write instead, where that is known.
  void error(Position position, std::string_view code, std::string message, std::string fix = {});
  void warning(Position position, std::string_view code, std::string message, std::string subject);
  // "there is no attribute Titel", with the nearest of `known` as the fix.
  void unknown(Position position, std::string_view code, std::string message, std::string_view word,
               std::span<const std::string_view> known);

  bool failed() const { return failed_; }
  const std::string& file() const { return file_; }
  // In the order of the file.
  Diagnostics take() &&;

 private:
  void add(Diagnostic diagnostic);

  std::string file_;
  WordListener listener_;
  Diagnostics diagnostics_;
  bool failed_ = false;
};

// "a, b and c"; the end of many messages.
std::string spelled_out(std::span<const std::string_view> words, std::string_view last = "and");
std::string spelled_out(std::span<const std::string> words, std::string_view last = "and");

}  // namespace stator::model
