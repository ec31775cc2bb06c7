#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"

// The parts of a request's target, decoded.
namespace stator::app {

// %XX decoded.  Strict: nullopt for a stray '%', and if the result is not UTF-8.
std::optional<std::string> decode_percent(std::string_view text);
// As one segment of a path.
std::string encode_percent(std::string_view text);

// "/books/{bookId}" is "books", "{bookId}"; "/" is nothing.  Nothing is decoded.
std::vector<std::string_view> split_path(std::string_view path);

// The parameters of a query string, each once.
class QueryParameters {
 public:
  // '+' is a space.  Errors: Validation, for bad encoding and for a name given twice.
  static Result<QueryParameters> parse(std::string_view query);

  const std::string* find(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

}  // namespace stator::app
