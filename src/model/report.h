#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/diagnostic.h"

namespace stator::model {

// What there is to tell about one file, collected while it is read.  Belongs to one load.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

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
  Diagnostics diagnostics_;
  bool failed_ = false;
};

// "a, b and c"; the end of many messages.
std::string spelled_out(std::span<const std::string_view> words, std::string_view last = "and");
std::string spelled_out(std::span<const std::string> words, std::string_view last = "and");

}  // namespace stator::model
