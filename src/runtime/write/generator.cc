#include "stator/runtime/write/generator.h"

#include "stator/base/assert.h"
#include "stator/model/types/calendar.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// The low `digits * 5` bits.
void append_base32(std::string& out, std::uint64_t bits, unsigned digits) {
  for (unsigned i = digits; i-- > 0;) out += kCrockford[(bits >> (5 * i)) & 31];
}

}  // namespace

std::string Generator::now() const {
  return model::format_timestamp(std::chrono::floor<std::chrono::milliseconds>(clock_.now()));
}

std::int64_t Generator::milliseconds() const {
  return std::chrono::floor<std::chrono::milliseconds>(clock_.now()).time_since_epoch().count();
}

std::int64_t Generator::seconds_from_now(std::chrono::seconds later) const {
  return (std::chrono::floor<std::chrono::seconds>(clock_.now()) + later).time_since_epoch().count();
}

std::string Generator::ulid() const {
  const auto now = clock_.now().time_since_epoch();
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(now);
  const auto within = std::chrono::floor<std::chrono::microseconds>(now - milliseconds);
  std::string text;
  append_base32(text, static_cast<std::uint64_t>(milliseconds.count()), 10);
  // The first two characters of the random part are microseconds, so values made one after another in a millisecond are
  // sorted.
  append_base32(text, static_cast<std::uint64_t>(within.count()), 2);
  append_base32(text, random_.next(), 6);
  append_base32(text, random_.next(), 8);
  return text;
}

value::AttributeValue Generator::make(model::Generated kind) const {
  switch (kind) {
    case model::Generated::Uuid: return value::AttributeValue::string(uuid());
    case model::Generated::Ulid: return value::AttributeValue::string(ulid());
    case model::Generated::Now: return value::AttributeValue::string(now());
    case model::Generated::No: break;
  }
  STATOR_ASSERT(false, "nothing to generate");
}

value::AttributeValue Generator::call(std::string_view function) const {
  if (function == "uuid") return value::AttributeValue::string(uuid());
  if (function == "ulid") return value::AttributeValue::string(ulid());
  return value::AttributeValue::string(now());
}

}  // namespace stator::runtime
