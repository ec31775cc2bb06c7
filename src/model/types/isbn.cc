#include "stator/model/types/isbn.h"

#include <algorithm>

#include "stator/base/ascii.h"

namespace stator::model {
namespace {

// The thirteenth digit for twelve: weights 1 and 3 alternate, and the sum with the check digit is a multiple of 10.
char check_digit_13(std::string_view twelve) {
  int sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += (twelve[i] - '0') * (i % 2 == 0 ? 1 : 3);
  return static_cast<char>('0' + (10 - sum % 10) % 10);
}

// The tenth digit for nine: weights 10 down to 2, and the sum with the check digit is a multiple of 11; X stands for
// ten.
char check_digit_10(std::string_view nine) {
  int sum = 0;
  for (std::size_t i = 0; i < 9; ++i) sum += (nine[i] - '0') * static_cast<int>(10 - i);
  const int digit = (11 - sum % 11) % 11;
  return digit == 10 ? 'X' : static_cast<char>('0' + digit);
}

}  // namespace

std::optional<std::string> normal_isbn(std::string_view text) {
  std::string isbn;
  for (const char c : text) {
    if (c == '-' || c == ' ') continue;
    if (isbn.size() == 13) return std::nullopt;
    isbn += c == 'x' ? 'X' : c;
  }
  const auto digits = static_cast<std::size_t>(std::count_if(isbn.begin(), isbn.end(), is_digit));
  if (isbn.size() == 13 && digits == 13 && (isbn.starts_with("978") || isbn.starts_with("979")) &&
      isbn.back() == check_digit_13(isbn)) {
    return isbn;
  }
  const bool ten = isbn.size() == 10 && std::all_of(isbn.begin(), isbn.end() - 1, is_digit);
  if (ten && isbn.back() == check_digit_10(isbn)) return isbn;
  return std::nullopt;
}

std::string isbn13(std::string_view isbn) {
  if (isbn.size() != 10) return std::string(isbn);
  auto longer = "978" + std::string(isbn.substr(0, 9));
  longer += check_digit_13(longer);
  return longer;
}

}  // namespace stator::model
