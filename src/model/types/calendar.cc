#include "stator/model/types/calendar.h"

#include <fmt/format.h>

namespace stator::model {
namespace {

using namespace std::chrono;

// Takes what a text consists of off its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

  // Exactly `digits` digits.
  std::optional<int> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  // One of `characters`, or '\0'.
  char any_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

 private:
  std::string_view rest_;
};

std::optional<sys_days> read_date(Reader& reader) {
  const auto y = reader.number(4);
  if (!y || reader.any_of("-") == '\0') return std::nullopt;
  const auto m = reader.number(2);
  if (!m || reader.any_of("-") == '\0') return std::nullopt;
  const auto d = reader.number(2);
  if (!d) return std::nullopt;
  const auto date = year(*y) / month(static_cast<unsigned>(*m)) / day(static_cast<unsigned>(*d));
  if (!date.ok()) return std::nullopt;
  return sys_days(date);
}

// "10:00", each part below its bound.
std::optional<minutes> read_hours_and_minutes(Reader& reader) {
  const auto h = reader.number(2);
  if (!h || *h > 23 || reader.any_of(":") == '\0') return std::nullopt;
  const auto m = reader.number(2);
  if (!m || *m > 59) return std::nullopt;
  return hours(*h) + minutes(*m);
}

// ".123456" in milliseconds; none at all is zero.
std::optional<milliseconds> read_fraction(Reader& reader) {
  if (reader.any_of(".") == '\0') return milliseconds(0);
  constexpr int kMaxDigits = 9;
  int thousandths = 0;
  int digits = 0;
  for (; const auto digit = reader.number(1); ++digits) {
    if (digits < 3) thousandths = thousandths * 10 + *digit;
  }
  if (digits == 0 || digits > kMaxDigits) return std::nullopt;
  for (int i = digits; i < 3; ++i) thousandths *= 10;
  return milliseconds(thousandths);
}

// How far the local time is ahead of UTC.
std::optional<minutes> read_offset(Reader& reader) {
  const char sign = reader.any_of("Zz+-");
  if (sign == '\0') return std::nullopt;
  if (sign == 'Z' || sign == 'z') return minutes(0);
  const auto distance = read_hours_and_minutes(reader);
  if (!distance) return std::nullopt;
  return sign == '-' ? -*distance : *distance;
}

}  // namespace

std::optional<sys_days> parse_date(std::string_view text) {
  Reader reader(text);
  const auto date = read_date(reader);
  return reader.done() ? date : std::nullopt;
}

std::string format_date(sys_days date) {
  const year_month_day parts(date);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(parts.year()), static_cast<unsigned>(parts.month()),
                     static_cast<unsigned>(parts.day()));
}

std::optional<Moment> parse_timestamp(std::string_view text) {
  Reader reader(text);
  const auto date = read_date(reader);
  if (!date || reader.any_of("Tt") == '\0') return std::nullopt;
  const auto time = read_hours_and_minutes(reader);
  if (!time || reader.any_of(":") == '\0') return std::nullopt;
  const auto second = reader.number(2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = read_fraction(reader);
  if (!fraction) return std::nullopt;
  const auto offset = read_offset(reader);
  if (!offset || !reader.done()) return std::nullopt;
  const Moment moment = *date + *time + seconds(*second) + *fraction - *offset;
  // An offset can lead out of the years that four digits write.
  if (moment < sys_days(year(0) / 1 / 1) || moment >= sys_days(year(10000) / 1 / 1)) return std::nullopt;
  return moment;
}

std::string format_timestamp(Moment moment) {
  const auto date = floor<days>(moment);
  const hh_mm_ss time(moment - date);
  return fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", format_date(date), time.hours().count(), time.minutes().count(),
                     time.seconds().count(), time.subseconds().count());
}

}  // namespace stator::model
