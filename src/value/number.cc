#include "stator/value/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include <boost/multiprecision/cpp_int.hpp>

#include "stator/base/ascii.h"
#include "stator/base/assert.h"

namespace stator::value {
namespace {

using Coefficient = unsigned __int128;
using Wide = boost::multiprecision::uint256_t;  // holds the product of two coefficients

constexpr int kMaxDigits = 38;
constexpr int kMaxMagnitude = 125;  // the decimal exponent of the first digit
constexpr int kMinMagnitude = -130;

// A message repeats what the client sent, but not all of 16 MB of it.
constexpr std::size_t kMaxQuotedBytes = 1024;

constexpr auto kPowersOfTen = [] {
  std::array<Coefficient, kMaxDigits + 1> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

Coefficient power_of_ten(int exponent) { return kPowersOfTen[static_cast<std::size_t>(exponent)]; }

// How many decimal digits `coefficient` has; 1 for zero.
int count_digits(Coefficient coefficient) {
  const auto high = static_cast<std::uint64_t>(coefficient >> 64);
  const auto low = static_cast<std::uint64_t>(coefficient);
  const int bits = high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low | 1);
  const int at_least = bits * 1233 >> 12;  // 1233 / 4096 is log10(2), close enough for 128 bits
  return at_least + (at_least <= kMaxDigits && coefficient >= power_of_ten(at_least) ? 1 : 0) +
         (coefficient == 0 ? 1 : 0);
}

// Writes the digits of `coefficient` and returns how many.
int write_digits(Coefficient coefficient, char (&out)[kMaxDigits + 2]) {
  constexpr int kLowDigits = 19;
  const auto high = static_cast<std::uint64_t>(coefficient >> 64);
  if (high == 0) {
    return static_cast<int>(std::to_chars(out, std::end(out), static_cast<std::uint64_t>(coefficient)).ptr - out);
  }
  const auto upper = static_cast<std::uint64_t>(coefficient / power_of_ten(kLowDigits));
  auto lower = static_cast<std::uint64_t>(coefficient % power_of_ten(kLowDigits));
  char* const at = std::to_chars(out, std::end(out), upper).ptr;
  for (int i = kLowDigits; i-- > 0; lower /= 10) at[i] = static_cast<char>('0' + lower % 10);
  return static_cast<int>(at - out) + kLowDigits;
}

Error overflow() {
  return validation_error("Number overflow. Attempting to store a number with magnitude larger than supported range");
}
Error underflow() {
  return validation_error("Number underflow. Attempting to store a number with magnitude smaller than supported range");
}
Error too_many_digits() { return validation_error("Attempting to store more than 38 significant digits in a Number"); }

Error not_a_number(std::string_view text) {
  std::string message = "The parameter cannot be converted to a numeric value";
  if (text.empty()) return validation_error(std::move(message));
  if (text.size() > kMaxQuotedBytes) {
    std::size_t end = kMaxQuotedBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // cut between characters
    text = text.substr(0, end);
  }
  message.append(": ").append(text);
  return validation_error(std::move(message));
}

// Removes the zeros at the end of a coefficient, and adds their number to `exponent`.
template <typename Integer>
void trim_zeros(Integer& coefficient, int& exponent) {
  while (coefficient % 10 == 0) {
    coefficient /= 10;
    ++exponent;
  }
}

// The digits of a number as they are read, first to last: those from the first to the last that is not zero become the
// coefficient.  Remembers where those two were, so that runs of zeros cost nothing but the reading.
class DigitReader {
 public:
  void push(char c) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (digit != 0) {
      if (first_nonzero_ < 0) first_nonzero_ = last_nonzero_ = count_;
      append(count_ - last_nonzero_, digit);
      last_nonzero_ = count_;
    }
    ++count_;
  }

  std::int64_t count() const { return count_; }
  bool is_zero() const { return first_nonzero_ < 0; }
  std::int64_t first_nonzero() const { return first_nonzero_; }
  std::int64_t last_nonzero() const { return last_nonzero_; }
  std::int64_t significant() const { return last_nonzero_ - first_nonzero_ + 1; }
  Coefficient coefficient() const { return wide_ != 0 ? wide_ : narrow_; }

 private:
  void append(std::int64_t shift, unsigned digit) {
    const std::int64_t digits = count_ - first_nonzero_ + 1;
    if (digits <= kNarrowDigits) {
      narrow_ = narrow_ * static_cast<std::uint64_t>(power_of_ten(static_cast<int>(shift))) + digit;
    } else if (digits <= kMaxDigits) {
      wide_ = coefficient() * power_of_ten(static_cast<int>(shift)) + digit;
    }
  }

  static constexpr int kNarrowDigits = 18;  // fit into 64 bits, where multiplying is cheap
  std::uint64_t narrow_ = 0;
  Coefficient wide_ = 0;  // takes over from narrow_ once it is not zero
  std::int64_t count_ = 0;
  std::int64_t first_nonzero_ = -1;
  std::int64_t last_nonzero_ = -1;
};

}  // namespace

Result<Number> Number::make(bool negative, Coefficient coefficient, int exponent) {
  if (coefficient == 0) return Number();
  trim_zeros(coefficient, exponent);
  const int digits = count_digits(coefficient);
  const int magnitude = digits - 1 + exponent;
  if (digits > kMaxDigits || magnitude > kMaxMagnitude) return overflow();
  if (magnitude < kMinMagnitude) return underflow();
  Number number;
  number.coefficient_ = coefficient;
  number.exponent_ = static_cast<std::int16_t>(exponent);
  number.negative_ = negative;
  return number;
}

Number Number::from_int(std::int64_t value) {
  Number number;
  if (value == 0) return number;
  number.negative_ = value < 0;
  auto magnitude = static_cast<std::uint64_t>(value);
  if (value < 0) magnitude = 0 - magnitude;
  while (magnitude % 10 == 0) {
    magnitude /= 10;
    ++number.exponent_;
  }
  number.coefficient_ = magnitude;
  return number;
}

Result<Number> Number::parse(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;

  DigitReader digits;
  for (; at != end && is_digit(*at); ++at) digits.push(*at);
  const std::int64_t integer_digits = digits.count();
  if (at != end && *at == '.') {
    for (++at; at != end && is_digit(*at); ++at) digits.push(*at);
  }
  if (digits.count() == 0) return not_a_number(text);

  std::int64_t exponent = 0;
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    const bool negative_exponent = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (at == end) return not_a_number(text);
    constexpr std::int64_t kFarOutOfRange = 1'000'000'000'000;  // more than any text has digits to compensate
    for (; at != end && is_digit(*at); ++at) exponent = std::min(exponent * 10 + (*at - '0'), kFarOutOfRange);
    if (negative_exponent) exponent = -exponent;
  }
  if (at != end) return not_a_number(text);

  if (digits.is_zero()) {
    // The service takes the exponent that a zero is written with seriously: 0e126 is an overflow, 0.0e126 is not.
    const std::int64_t magnitude = exponent - (digits.count() - integer_digits);
    if (magnitude > kMaxMagnitude) return overflow();
    if (magnitude < kMinMagnitude) return underflow();
    return Number();
  }
  const std::int64_t magnitude = exponent + integer_digits - 1 - digits.first_nonzero();
  if (magnitude > kMaxMagnitude) return overflow();
  if (magnitude < kMinMagnitude) return underflow();
  if (digits.significant() > kMaxDigits) return too_many_digits();

  Number number;
  number.coefficient_ = digits.coefficient();
  number.exponent_ = static_cast<std::int16_t>(exponent + integer_digits - 1 - digits.last_nonzero());
  number.negative_ = negative;
  return number;
}

std::string Number::to_string() const {
  std::string text;
  append_to(text);
  return text;
}

void Number::append_to(std::string& out) const {
  char digits[kMaxDigits + 2];
  const int count = write_digits(coefficient_, digits);
  if (negative_) out.push_back('-');
  if (exponent_ >= 0) {
    out.append(digits, static_cast<std::size_t>(count));
    out.append(static_cast<std::size_t>(exponent_), '0');
    return;
  }
  const int integer_digits = count + exponent_;
  if (integer_digits > 0) {
    out.append(digits, static_cast<std::size_t>(integer_digits));
    out.push_back('.');
    out.append(digits + integer_digits, static_cast<std::size_t>(-exponent_));
  } else {
    out.append("0.");
    out.append(static_cast<std::size_t>(-integer_digits), '0');
    out.append(digits, static_cast<std::size_t>(count));
  }
}

Result<Number> Number::add(const Number& other) const {
  if (is_zero()) return other;
  if (other.is_zero()) return *this;
  const Number& upper = exponent_ >= other.exponent_ ? *this : other;  // the one whose last digit stands further left
  const Number& lower = exponent_ >= other.exponent_ ? other : *this;

  // Brought to the exponent of `lower`, `upper` has `digits` digits.  The sum needs all places down to the last one of
  // `lower`, which is not zero, so it can fit into 38 digits only when `upper` nearly does: 1E38 - 1 is 38 nines, but
  // what starts at 2E38 stays above 1E38 whatever is subtracted.  The service calls a sum that does not fit an
  // overflow.
  const int shift = upper.exponent_ - lower.exponent_;
  const int upper_digits = count_digits(upper.coefficient_);
  const int digits = upper_digits + shift;
  if (digits > kMaxDigits + 1) return overflow();
  if (digits == kMaxDigits + 1 && upper.coefficient_ >= 2 * power_of_ten(upper_digits - 1)) return overflow();
  const Coefficient shifted = upper.coefficient_ * power_of_ten(shift);  // below 2E38, which 128 bits hold

  if (upper.negative_ == lower.negative_) return make(upper.negative_, shifted + lower.coefficient_, lower.exponent_);
  if (shifted >= lower.coefficient_) return make(upper.negative_, shifted - lower.coefficient_, lower.exponent_);
  return make(lower.negative_, lower.coefficient_ - shifted, lower.exponent_);
}

Result<Number> Number::subtract(const Number& other) const {
  Number negated = other;
  if (!negated.is_zero()) negated.negative_ = !negated.negative_;
  return add(negated);
}

Result<Number> Number::multiply(const Number& other) const {
  if (is_zero() || other.is_zero()) return Number();
  Wide product = Wide(coefficient_) * Wide(other.coefficient_);
  int exponent = exponent_ + other.exponent_;
  trim_zeros(product, exponent);
  if (product >= Wide(power_of_ten(kMaxDigits))) return too_many_digits();
  return make(negative_ != other.negative_, static_cast<Coefficient>(product), exponent);
}

Result<Number> Number::divide(const Number& other) const {
  if (other.is_zero()) return validation_error("Division by zero");
  if (is_zero()) return Number();
  // The dividend is widened until the quotient has all its digits, or one too many.
  const Wide limit(power_of_ten(kMaxDigits));
  const int shift = kMaxDigits - count_digits(coefficient_) + count_digits(other.coefficient_);
  Wide dividend(coefficient_);
  for (int left = shift; left > 0; left -= kMaxDigits) dividend *= Wide(power_of_ten(std::min(left, kMaxDigits)));
  Wide divisor(other.coefficient_);
  int exponent = exponent_ - other.exponent_ - shift;
  if (dividend >= divisor * limit) {
    divisor *= 10;
    ++exponent;
  }
  Wide quotient;
  Wide remainder;
  boost::multiprecision::divide_qr(dividend, divisor, quotient, remainder);
  remainder *= 2;
  if (remainder > divisor || (remainder == divisor && quotient % 2 == 1)) ++quotient;
  return make(negative_ != other.negative_, static_cast<Coefficient>(quotient), exponent);
}

Number Number::round() const {
  if (is_integer()) return *this;
  if (-exponent_ > kMaxDigits) return Number();
  const Coefficient unit = power_of_ten(-exponent_);
  const Coefficient whole = coefficient_ / unit + (coefficient_ % unit >= unit / 2 ? 1 : 0);
  auto rounded = make(negative_, whole, 0);
  STATOR_ASSERT(rounded.ok(), "a number without its fraction is no longer than it was");
  return *rounded;
}

std::optional<std::int64_t> Number::to_int64() const {
  if (exponent_ < 0 || exponent_ > 18) return std::nullopt;  // 10^19 is out of range, and so is all above
  constexpr Coefficient kLimit = Coefficient{1} << 63;
  if (coefficient_ > kLimit) return std::nullopt;
  const Coefficient magnitude = coefficient_ * power_of_ten(exponent_);
  if (magnitude > kLimit - (negative_ ? 0 : 1)) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(magnitude);
  return static_cast<std::int64_t>(negative_ ? 0 - bits : bits);
}

std::size_t Number::size_bytes() const {
  // The service counts like its storage, which holds two digits per byte, paired from the decimal point: 10 takes one
  // byte, 100 one, 1.5 two.  One more for the exponent, and one more for a minus sign.
  if (is_zero()) return 1;
  const int digits = count_digits(coefficient_);
  const int first = digits - 1 + exponent_;
  const int pairs = (first >> 1) - (exponent_ >> 1) + 1;
  return static_cast<std::size_t>(1 + pairs + (negative_ ? 1 : 0));
}

// Ordered bytes: the number in base 100, its exponent first.
//
//   exponent:u8  pair:u8 ...
//
// The number is written as pairs of digits, paired from the decimal point outwards, without zero pairs at either end.
// `exponent` is 0xC1 plus the power of 100 that the first pair stands for: 0x80 (100^-65) to 0xFF (100^62), which is
// the range of a Number exactly.  A pair p (0 to 99) that another follows is 2p + 1, the last one is 2p: so the bytes
// end themselves, and what ends early sorts before what goes on.  Of a negative number every byte is inverted.  Zero is
// 80 00.
//
// On disk, inside keys: this layout keeps its meaning.
void Number::append_ordered(Bytes& out) const {
  if (is_zero()) {
    out.append("\x80\x00", 2);
    return;
  }
  char digits[kMaxDigits + 2];
  const int count = write_digits(coefficient_, digits);
  const int first = count - 1 + exponent_;
  const auto inverted = static_cast<unsigned char>(negative_ ? 0xFF : 0x00);

  unsigned char bytes[kMaxDigits / 2 + 2];
  std::size_t size = 0;
  bytes[size++] = static_cast<unsigned char>((0xC1 + (first >> 1)) ^ inverted);
  int at = (first & 1) != 0 ? 0 : -1;  // an even power of ten leads: its digit is the second of its pair
  for (; at < count; at += 2) {
    const int tens = at >= 0 ? digits[at] - '0' : 0;
    const int ones = at + 1 < count ? digits[at + 1] - '0' : 0;
    const int more = at + 2 < count ? 1 : 0;
    bytes[size++] = static_cast<unsigned char>((2 * (10 * tens + ones) + more) ^ inverted);
  }
  out.append(reinterpret_cast<const char*>(bytes), size);
}

std::strong_ordering operator<=>(const Number& a, const Number& b) {
  const auto sign = [](const Number& n) { return n.is_zero() ? 0 : n.negative_ ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  if (a.is_zero()) return std::strong_ordering::equal;

  const Number& smaller = a.negative_ ? b : a;  // of two negative numbers the one that is larger without its sign
  const Number& larger = a.negative_ ? a : b;
  const int smaller_digits = count_digits(smaller.coefficient_);
  const int larger_digits = count_digits(larger.coefficient_);
  if (const auto order = smaller_digits + smaller.exponent_ <=> larger_digits + larger.exponent_; order != 0)
    return order;
  const int digits = std::max(smaller_digits, larger_digits);
  const Coefficient left = smaller.coefficient_ * power_of_ten(digits - smaller_digits);
  const Coefficient right = larger.coefficient_ * power_of_ten(digits - larger_digits);
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

}  // namespace stator::value
