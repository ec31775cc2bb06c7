#include "stator/value/number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "stator/base/random.h"
#include "stator/value/test_ordered_number.h"

namespace stator::value {
namespace {

Number number(std::string_view text) {
  auto parsed = Number::parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
  return parsed.ok() ? *parsed : Number();
}

std::string error_of(const Result<Number>& result) { return result.ok() ? "no error" : result.error().message; }

std::string ordered(const Number& value) {
  Bytes bytes;
  value.append_ordered(bytes);
  return bytes;
}

constexpr auto kOverflow = "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr auto kUnderflow =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr auto kTooPrecise = "Attempting to store more than 38 significant digits in a Number";

const std::string k38Nines(38, '9');

// ------------------------------------------------------------------------------------------------------- the reference

// A number the slow way: every decimal place that a Number can have, as a digit of its own.
struct Places {
  static constexpr int kTop = 127;      // the place of 10^127, one more than any sum can reach
  static constexpr int kBottom = -168;  // and one below the last digit of the smallest number
  std::array<int, kTop - kBottom + 1> digits{};
  bool negative = false;

  int& at(int exponent) { return digits[static_cast<std::size_t>(kTop - exponent)]; }
  int at(int exponent) const { return digits[static_cast<std::size_t>(kTop - exponent)]; }
  bool is_zero() const {
    return std::all_of(digits.begin(), digits.end(), [](int digit) { return digit == 0; });
  }
  int highest() const {
    int exponent = kTop;
    while (at(exponent) == 0) --exponent;
    return exponent;
  }
  int lowest() const {
    int exponent = kBottom;
    while (at(exponent) == 0) ++exponent;
    return exponent;
  }

  std::string print() const {
    if (is_zero()) return "0";
    std::string text = negative ? "-" : "";
    for (int exponent = std::max(highest(), 0); exponent >= std::min(lowest(), 0); --exponent) {
      if (exponent == -1) text += '.';
      text += static_cast<char>('0' + at(exponent));
    }
    return text;
  }

  static int compare(const Places& a, const Places& b) {
    const int sign_a = a.is_zero() ? 0 : a.negative ? -1 : 1;
    const int sign_b = b.is_zero() ? 0 : b.negative ? -1 : 1;
    if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
    if (a.digits == b.digits) return 0;
    return (a.digits < b.digits) != (sign_a < 0) ? -1 : 1;
  }

  static Places add(const Places& a, const Places& b) {
    Places sum;
    if (a.negative == b.negative) {
      int carry = 0;
      for (int exponent = kBottom; exponent <= kTop; ++exponent) {
        const int total = a.at(exponent) + b.at(exponent) + carry;
        sum.at(exponent) = total % 10;
        carry = total / 10;
      }
      sum.negative = a.negative;
    } else {
      const Places& larger = a.digits < b.digits ? b : a;
      const Places& smaller = a.digits < b.digits ? a : b;
      int borrow = 0;
      for (int exponent = kBottom; exponent <= kTop; ++exponent) {
        const int total = larger.at(exponent) - smaller.at(exponent) - borrow;
        sum.at(exponent) = (total + 10) % 10;
        borrow = total < 0 ? 1 : 0;
      }
      sum.negative = larger.negative;
    }
    return sum;
  }

  // The expected answer of add() for this sum.
  std::string answer() const {
    if (is_zero()) return "0";
    if (highest() > 125 || highest() - lowest() + 1 > 38) return kOverflow;
    if (highest() < -130) return kUnderflow;
    return print();
  }
};

struct Sample {
  Places places;
  std::string text;  // one of many ways to write it
};

int pick(Random& random, int from, int to) {
  return from + static_cast<int>(random.below(static_cast<std::uint64_t>(to - from + 1)));
}

// `magnitudes` are the decimal exponents of the first digit to choose from.
Sample random_sample(Random& random, int lowest_magnitude, int highest_magnitude) {
  Sample sample;
  if (random.below(30) == 0) {
    sample.text = random.below(2) == 0 ? "0" : "-0.00";
    return sample;
  }
  const int length = random.below(4) == 0 ? 38 : pick(random, 1, 38);
  const int magnitude = pick(random, lowest_magnitude, highest_magnitude);
  const bool few_kinds = random.below(3) == 0;  // of digits, so that carries, borrows and equal prefixes are common
  std::string digits;
  for (int i = 0; i < length; ++i) {
    digits += static_cast<char>('0' + (few_kinds ? 9 * pick(random, 0, 1) : pick(random, 0, 9)));
  }
  if (digits.front() == '0') digits.front() = '1';
  sample.places.negative = random.below(2) == 0;
  for (int i = 0; i < length; ++i) sample.places.at(magnitude - i) = digits[static_cast<std::size_t>(i)] - '0';

  // d.ddd, .ddd or dddd with the exponent that belongs to it, or no exponent at all.
  sample.text = sample.places.negative ? "-" : random.below(4) == 0 ? "+" : "";
  if (random.below(3) == 0) {
    Places positive = sample.places;
    positive.negative = false;
    sample.text += std::string(random.below(3), '0') + positive.print();
    return sample;
  }
  const int point = pick(random, 0, length);
  sample.text += std::string(random.below(3), '0') + digits.substr(0, static_cast<std::size_t>(point));
  if (point < length || random.below(2) == 0) sample.text += '.' + digits.substr(static_cast<std::size_t>(point));
  sample.text += (random.below(2) == 0 ? "e" : "E") + std::to_string(magnitude - point + 1);
  return sample;
}

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= count; ++seed) all.push_back(seed);
  return all;
}

// ----------------------------------------------------------------------------------------------------- parse and print

TEST(NumberParse, PrintsPlainDecimals) {
  struct Case {
    std::string text, printed;
  };
  for (const auto& [text, printed] : {
           Case{"0", "0"},
           Case{"-0", "0"},
           Case{"+0", "0"},
           Case{"-0.000", "0"},
           Case{"000", "0"},
           Case{"0e125", "0"},
           Case{"0e-130", "0"},
           Case{"1", "1"},
           Case{"+1", "1"},
           Case{"-1", "-1"},
           Case{"001", "1"},
           Case{"1.0", "1"},
           Case{"1.", "1"},
           Case{".5", "0.5"},
           Case{"-.5", "-0.5"},
           Case{"0.50", "0.5"},
           Case{"1e3", "1000"},
           Case{"1E+3", "1000"},
           Case{"1e-3", "0.001"},
           Case{"-17.4E37", "-174" + std::string(36, '0')},
           Case{"100", "100"},
           Case{"100.010", "100.01"},
           Case{"12345678901234567890", "12345678901234567890"},
           Case{"18446744073709551616", "18446744073709551616"},
           Case{"0.1e126", "1" + std::string(125, '0')},
           Case{"1e125", "1" + std::string(125, '0')},
           Case{"1e-130", "0." + std::string(129, '0') + "1"},
           Case{"-1e-130", "-0." + std::string(129, '0') + "1"},
           Case{"9." + k38Nines.substr(1) + "e125", k38Nines + std::string(88, '0')},
           Case{"1." + k38Nines.substr(1) + "e-130", "0." + std::string(129, '0') + "1" + k38Nines.substr(1)},
           Case{k38Nines, k38Nines},
           Case{k38Nines + "000", k38Nines + "000"},
           Case{"3.1415926535897932384626433832795028841", "3.1415926535897932384626433832795028841"},
           Case{"1e0000000000000000000000003", "1000"},
           Case{std::string(1'000'000, '0') + "7." + std::string(1'000'000, '0'), "7"},
           Case{"0." + std::string(1'000, '0') + "7e1001", "7"},
           Case{"7" + std::string(1'000, '0') + "e-1000", "7"},
       }) {
    EXPECT_EQ(number(text).to_string(), printed) << text.substr(0, 100);
  }
}

TEST(NumberParse, RefusesWhatTheServiceRefusesInItsWords) {
  constexpr auto kNotNumeric = "The parameter cannot be converted to a numeric value";
  struct Case {
    std::string text, message;
  };
  for (const auto& [text, message] : {
           Case{"", kNotNumeric}, Case{"e126", std::string(kNotNumeric) + ": e126"}, Case{"1e126", kOverflow},
           Case{"-1e126", kOverflow}, Case{"11e125", kOverflow}, Case{"1" + std::string(126, '0'), kOverflow},
           Case{"1.0e100000000", kOverflow}, Case{"1e99999999999999999999999999999", kOverflow},
           Case{"1e-131", kUnderflow}, Case{"0.9e-130", kUnderflow},
           Case{"1e-99999999999999999999999999999", kUnderflow},
           Case{"3.14159265358979323846264338327950288419", kTooPrecise}, Case{k38Nines + "9", kTooPrecise},
           Case{"1" + std::string(37, '0') + ".1", kTooPrecise}, Case{std::string(1'000, '1') + "e-1000", kTooPrecise},
           Case{std::string(1'000, '1'), kOverflow},  // magnitude before precision
       }) {
    const auto result = Number::parse(text);
    EXPECT_EQ(error_of(result), message) << text.substr(0, 100);
    EXPECT_TRUE(!result.ok() && result.error().code == ErrorCode::Validation) << text.substr(0, 100);
  }
  for (const std::string text :
       {"-",   "+",   ".",     "-.", "dog", "-dog", "NaN",   "Infinity", "-Infinity", " 1",  "1 ",   "1 2",   "1,5",
        "--1", "+-1", "1.2.3", "1e", "1e+", "1e-",  "1e5.5", "1e5e5",    "e5",        ".e5", "0x10", "1_000", "１"}) {
    EXPECT_EQ(error_of(Number::parse(text)), std::string(kNotNumeric) + ": " + text);
  }
}

TEST(NumberParse, TakesTheExponentOfAZeroAsWritten) {
  EXPECT_TRUE(Number::parse("0.0e126").ok());
  EXPECT_EQ(error_of(Number::parse("0e126")), kOverflow);
  EXPECT_EQ(error_of(Number::parse("0e-131")), kUnderflow);
}

TEST(NumberParse, QuotesAtMostAKilobyteOfNonsense) {
  std::string text = "x";
  while (text.size() < 5'000'000) text += "é";
  const std::string message = error_of(Number::parse(text));
  EXPECT_LT(message.size(), 1200U);
  EXPECT_TRUE(message.ends_with("é"));  // cut between characters
}

TEST(NumberParse, AgreesWithTheReferenceOnRandomNumbers) {
  for (const auto seed : seeds(20'000)) {
    Random random(seed);
    const Sample sample = random_sample(random, -130, 125);
    ASSERT_EQ(number(sample.text).to_string(), sample.places.print()) << "seed " << seed << ": " << sample.text;
    ASSERT_EQ(number(sample.places.print()), number(sample.text)) << "seed " << seed;
  }
}

TEST(NumberFromInt, CoversTheWholeRange) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{1000}, std::int64_t{-120},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(Number::from_int(value), number(std::to_string(value)));
    EXPECT_EQ(Number::from_int(value).to_string(), std::to_string(value));
    EXPECT_EQ(Number::from_int(value).to_int64(), value);
  }
}

TEST(NumberToInt64, IsNothingForOtherNumbers) {
  for (const auto* text :
       {"0.5", "1.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e125", "1e-130", "99e18"}) {
    EXPECT_EQ(number(text).to_int64(), std::nullopt) << text;
  }
  EXPECT_EQ(number("9e18").to_int64(), 9'000'000'000'000'000'000);
}

// ---------------------------------------------------------------------------------------------------------- arithmetic

TEST(NumberAdd, IsExact) {
  struct Case {
    std::string a, b, sum;
  };
  for (const auto& [a, b, sum] : {
           Case{"1", "2", "3"},
           Case{"0", "0", "0"},
           Case{"5", "0", "5"},
           Case{"0.1", "0.2", "0.3"},
           Case{"1", "-1", "0"},
           Case{"99", "1", "100"},
           Case{"1", "10000000000000000000000", "10000000000000000000001"},
           Case{"-1", "10000000000000000000000", "9999999999999999999999"},
           Case{"1e38", "-1", k38Nines},
           Case{"-1e38", "1", "-" + k38Nines},
           Case{k38Nines, "1", "1" + std::string(38, '0')},
           Case{"9e125", "9e124", "99" + std::string(124, '0')},
           Case{"9e125", "9e125", kOverflow},
           Case{"-9e125", "-9e125", kOverflow},
           Case{"1e38", "1", kOverflow},  // 39 digits: the service speaks of an overflow
           Case{"1e50", "-1", kOverflow},
           Case{"2e38", "-1", kOverflow},
           Case{"1e125", "1e-130", kOverflow},
           Case{"1.1e-130", "-1e-130", kUnderflow},
       }) {
    const auto show = [](const Result<Number>& result) {
      return result.ok() ? result->to_string() : result.error().message;
    };
    EXPECT_EQ(show(number(a).add(number(b))), sum) << a << " + " << b;
    EXPECT_EQ(show(number(b).add(number(a))), sum) << b << " + " << a;
    EXPECT_EQ(show(number(a).subtract(Number().subtract(number(b)).value())), sum) << a << " - -" << b;
  }
}

TEST(NumberAdd, AgreesWithTheReferenceOnRandomNumbers) {
  for (const auto seed : seeds(20'000)) {
    Random random(seed);
    // Near each other, or few sums would fit into 38 digits.
    const int around = random.below(4) == 0 ? (random.below(2) == 0 ? 123 : -130) : pick(random, -128, 120);
    const Sample a = random_sample(random, around, std::min(125, around + 5));
    const Sample b = random_sample(random, around, std::min(125, around + 5));
    const auto sum = number(a.text).add(number(b.text));
    ASSERT_EQ(sum.ok() ? sum->to_string() : sum.error().message, Places::add(a.places, b.places).answer())
        << "seed " << seed << ": " << a.text << " + " << b.text;
  }
}

// --------------------------------------------------------------------------------------------------------------- order

TEST(NumberOrder, AgreesWithTheReferenceAndWithItsBytes) {
  for (const auto seed : seeds(20'000)) {
    Random random(seed);
    const bool near = random.below(2) == 0;
    const int around = pick(random, -130, 125);
    const Sample a = near ? random_sample(random, around, around) : random_sample(random, -130, 125);
    const Sample b = near ? random_sample(random, around, std::min(125, around + 1)) : random_sample(random, -130, 125);
    const int expected = Places::compare(a.places, b.places);
    const auto sign = [](auto order) { return order < 0 ? -1 : order > 0 ? 1 : 0; };
    ASSERT_EQ(sign(number(a.text) <=> number(b.text)), expected)
        << "seed " << seed << ": " << a.text << " ? " << b.text;
    ASSERT_EQ(sign(ordered(number(a.text)).compare(ordered(number(b.text)))), expected) << "seed " << seed;
  }
}

TEST(NumberOrder, HoldsBetweenAllExtremes) {
  std::vector<std::string> ascending = {"-9." + k38Nines.substr(1) + "e125",
                                        "-1e125",
                                        "-101",
                                        "-100.5",
                                        "-100",
                                        "-99",
                                        "-10",
                                        "-9",
                                        "-2",
                                        "-1.5",
                                        "-1.01",
                                        "-1",
                                        "-0.99",
                                        "-0.1",
                                        "-0.01",
                                        "-1e-129",
                                        "-1." + k38Nines.substr(1) + "e-130",
                                        "-1e-130"};
  std::vector<std::string> positive;
  for (auto negative = ascending.rbegin(); negative != ascending.rend(); ++negative)
    positive.push_back(negative->substr(1));
  ascending.push_back("0");
  ascending.insert(ascending.end(), positive.begin(), positive.end());
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(number(ascending[i]) < number(ascending[j]), i < j) << ascending[i] << " < " << ascending[j];
      EXPECT_EQ(ordered(number(ascending[i])) < ordered(number(ascending[j])), i < j)
          << ascending[i] << " < " << ascending[j];
    }
  }
}

TEST(NumberOrdered, WritesTheBytesOfItsPage) {
  struct Case {
    std::string text, bytes;
  };
  for (const auto& [text, bytes] : {
           Case{"-100", "3d fd"},
           Case{"-1.5", "3e fc 9b"},
           Case{"-1", "3e fd"},
           Case{"-1E-130", "7f fd"},
           Case{"0", "80 00"},
           Case{"1E-130", "80 02"},
           Case{"0.5", "c0 64"},
           Case{"1", "c1 02"},
           Case{"1.5", "c1 03 64"},
           Case{"10", "c1 14"},
           Case{"100", "c2 02"},
           Case{"12345.6", "c3 03 2f 5b 78"},
           Case{"1E125", "ff 14"},
       }) {
    EXPECT_EQ(hex(ordered(number(text))), bytes) << text;
  }
}

TEST(NumberOrdered, IsTakenOffTheFrontOfWhatFollows) {
  for (const auto seed : seeds(20'000)) {
    Random random(seed);
    const Number value = number(random_sample(random, -130, 125).text);
    const Bytes bytes = ordered(value);
    ASSERT_LE(bytes.size(), 21U);
    const Bytes rest(random.below(3), static_cast<char>(random.below(256)));
    const Bytes all = bytes + rest;
    BytesView view = all;
    const auto taken = take_ordered(view);
    ASSERT_TRUE(taken.has_value()) << "seed " << seed << ": " << hex(all);
    ASSERT_EQ(*taken, value) << "seed " << seed << ": " << hex(all);
    ASSERT_EQ(view, rest) << "seed " << seed;
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      BytesView prefix = BytesView(bytes).substr(0, cut);
      ASSERT_FALSE(take_ordered(prefix).has_value()) << "seed " << seed << ", cut at " << cut;
    }
  }
}

TEST(NumberOrdered, HasNoBytesThatItWouldNotWrite) {
  using namespace std::literals;
  const Bytes too_many = "\xc1"s + Bytes(19, '\x0b') + "\x0a"s;  // 5 05 05 ... in 39 digits
  for (const Bytes& bytes : {""s, "\x80"s, "\xc1"s, "\xc1\x03"s, "\xc1\x00"s, "\xc1\x01\x02"s, "\xc1\x03\x00"s,
                             "\xc1\xc8"s, "\xc1\xff"s, "\x3e\xff"s, "\x3e"s, "\xc1"s + Bytes(30, '\x03'), too_many}) {
    BytesView view = bytes;
    const auto taken = take_ordered(view);
    EXPECT_FALSE(taken.has_value()) << hex(bytes);
  }
}

TEST(NumberOrdered, AcceptsOnlyWhatItWouldWrite) {
  for (const auto seed : seeds(50'000)) {
    Random random(seed);
    Bytes bytes;
    for (std::uint64_t i = random.below(24); i > 0; --i)
      bytes.push_back(static_cast<char>(random.below(random.below(2) == 0 ? 256 : 200)));
    BytesView view = bytes;
    const auto taken = take_ordered(view);
    if (!taken) continue;
    ASSERT_EQ(hex(ordered(*taken)), hex(BytesView(bytes).substr(0, bytes.size() - view.size()))) << "seed " << seed;
  }
}

// --------------------------------------------------------------------------------------------- multiply, divide, round

TEST(NumberMultiply, IsExact) {
  struct Case {
    std::string a, b, product;
  };
  for (const auto& [a, b, product] : {
           Case{"0", "5", "0"},
           Case{"-0.5", "0.5", "-0.25"},
           Case{"-3", "-4", "12"},
           Case{"25", "4", "100"},
           Case{"1e60", "2e65", "2" + std::string(125, '0')},
           Case{"1e100", "1e-100", "1"},
           Case{"12345678901234567890", "1000000007", "12345678987654320198641975230"},
           Case{k38Nines, "1", k38Nines},
           Case{"9999999999999999999", "9999999999999999999", "99999999999999999980000000000000000001"},
           Case{"2e-130", "0.5", "0." + std::string(129, '0') + "1"},
       }) {
    EXPECT_EQ(number(a).multiply(number(b))->to_string(), product) << a << " * " << b;
    EXPECT_EQ(number(b).multiply(number(a))->to_string(), product) << b << " * " << a;
  }
}

TEST(NumberMultiply, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of(number(k38Nines).multiply(number("11"))), kTooPrecise);
  EXPECT_EQ(error_of(number(k38Nines).multiply(number(k38Nines))), kTooPrecise);
  EXPECT_EQ(error_of(number("1e63").multiply(number("1e63"))), kOverflow);
  EXPECT_EQ(error_of(number("1e-65").multiply(number("1e-66"))), kUnderflow);
}

TEST(NumberDivide, RoundsToThirtyEightDigits) {
  struct Case {
    std::string a, b, quotient;
  };
  for (const auto& [a, b, quotient] : {
           Case{"0", "3", "0"},
           Case{"6", "3", "2"},
           Case{"-7", "2", "-3.5"},
           Case{"1", "3", "0." + std::string(38, '3')},
           Case{"2", "3", "0." + std::string(37, '6') + "7"},
           Case{"1000", "8", "125"},
           Case{k38Nines, k38Nines, "1"},
           Case{k38Nines, "1", k38Nines},
           Case{"1", k38Nines, "0." + std::string(37, '0') + "1"},
           Case{"1e125", "1e100", "1" + std::string(25, '0')},
           // A half goes to the even digit.
           Case{"20000000000000000000000000000000000001", "2", "10000000000000000000000000000000000000"},
           Case{"20000000000000000000000000000000000003", "2", "10000000000000000000000000000000000002"},
       }) {
    const auto result = number(a).divide(number(b));
    EXPECT_EQ(result.ok() ? result->to_string() : result.error().message, quotient) << a << " / " << b;
  }
}

TEST(NumberDivide, RefusesZeroAndWhatIsOutOfRange) {
  EXPECT_EQ(error_of(number("1").divide(Number())), "Division by zero");
  EXPECT_EQ(error_of(number("1e100").divide(number("1e-30"))), kOverflow);
  EXPECT_EQ(error_of(number("1e-100").divide(number("1e31"))), kUnderflow);
}

TEST(NumberDivide, UndoesMultiplication) {
  for (const auto seed : seeds(20'000)) {
    Random random(seed);
    const auto a = number(random_sample(random, -30, 30).text);
    const auto b = number(random_sample(random, -30, 30).text);
    const auto product = a.multiply(b);
    if (!product.ok() || b.is_zero()) continue;
    ASSERT_EQ(product->divide(b)->to_string(), a.to_string()) << "seed " << seed;
  }
}

TEST(NumberRound, GivesTheNearestWholeNumber) {
  struct Case {
    std::string text, rounded;
  };
  for (const auto& [text, rounded] : {
           Case{"0", "0"},
           Case{"7", "7"},
           Case{"1e60", "1" + std::string(60, '0')},
           Case{"2.4", "2"},
           Case{"2.5", "3"},
           Case{"-2.5", "-3"},
           Case{"3.5", "4"},
           Case{"0.5", "1"},
           Case{"0.49", "0"},
           Case{"-0.4", "0"},
           Case{"99.5", "100"},
           Case{"1e-130", "0"},
           Case{"0." + k38Nines, "1"},
           Case{"0.0" + k38Nines, "0"},
       }) {
    EXPECT_EQ(number(text).round().to_string(), rounded) << text;
    EXPECT_TRUE(number(text).round().is_integer());
  }
  EXPECT_FALSE(number("0.5").is_integer());
}

// ---------------------------------------------------------------------------------------------------------------- size

TEST(NumberSize, CountsPairsOfDigitsFromTheDecimalPoint) {
  struct Case {
    std::string text;
    std::size_t size;
  };
  for (const auto& [text, size] : {
           Case{"0", 1},
           Case{"1", 2},
           Case{"-1", 3},
           Case{"10", 2},
           Case{"12", 2},
           Case{"100", 2},
           Case{"123", 3},
           Case{"1234", 3},
           Case{"1.5", 3},  // 01 . 50
           Case{"12.34", 3},
           Case{"1.234", 4},  // 01 . 23 40
           Case{"-1.234", 5},
           Case{"0.05", 2},
           Case{"0.5", 2},
           Case{"1e125", 2},
           Case{"1e-130", 2},
           Case{k38Nines, 20},
           Case{"9." + k38Nines.substr(1), 21},
           // Measured on the service, besides some of those above.
           Case{"12345", 4},
           Case{"1234567891", 6},
           Case{"1234567890123456789", 11},
           Case{"0042", 2},
           Case{"1010", 3},
           Case{"0.0000001", 2},
           Case{"1.200", 3},
           Case{"3.14159", 5},
           Case{"100.5", 4},
           Case{"0.15", 2},
           Case{"-0.15", 3},
           Case{"-12345", 5},
           Case{"-1E125", 3},
           Case{"-0", 1},
       }) {
    EXPECT_EQ(number(text).size_bytes(), size) << text;
  }
}

}  // namespace
}  // namespace stator::value
