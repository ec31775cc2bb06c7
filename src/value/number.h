#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/bytes.h"
#include "stator/base/result.h"

namespace stator::value {

// A DynamoDB number: exact, up to 38 significant digits, magnitude 1E-130 to 9.99...E+125, or zero.
//
// Held as sign, coefficient and decimal exponent, with no trailing zeros in the coefficient, so that equal numbers have
// equal members.  A value type.
class Number {
 public:
  Number() = default;  // zero
  static Number from_int(std::int64_t value);

  // Reads decimal or scientific notation.  Errors: Validation, with DynamoDB's texts.
  static Result<Number> parse(std::string_view text);

  // Plain decimal digits without an exponent, the way DynamoDB prints it.
  std::string to_string() const;
  void append_to(std::string& out) const;

  // Errors: Validation, when the result is out of range or needs more than 38 digits.
  Result<Number> add(const Number& other) const;
  Result<Number> subtract(const Number& other) const;
  Result<Number> multiply(const Number& other) const;
  // Rounded to 38 digits, a half to the even one.  Errors: Validation, for a division by zero, too.
  Result<Number> divide(const Number& other) const;
  // The nearest whole number; of two the one further from zero.
  Number round() const;

  bool is_integer() const { return exponent_ >= 0; }
  bool is_zero() const { return coefficient_ == 0; }
  bool is_negative() const { return negative_; }
  std::optional<std::int64_t> to_int64() const;  // nullopt when it is not an integer of that range

  // Its part of an item's size, as DynamoDB counts it.
  std::size_t size_bytes() const;

  // Bytes whose unsigned order is numeric order, self-delimiting.  docs/formats/keys.md draws them.
  void append_ordered(Bytes& out) const;

  friend bool operator==(const Number&, const Number&) = default;
  friend std::strong_ordering operator<=>(const Number& a, const Number& b);

 private:
  __extension__ using Coefficient = unsigned __int128;

  // coefficient * 10^exponent, if it fits.
  static Result<Number> make(bool negative, Coefficient coefficient, int exponent);

  Coefficient coefficient_ = 0;  // below 10^38
  std::int16_t exponent_ = 0;    // value = coefficient * 10^exponent
  bool negative_ = false;
};

}  // namespace stator::value
