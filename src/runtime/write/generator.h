#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/model/model.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// Makes the values that no request gives: ids and times.  Thread-safe.
class Generator {
 public:
  Generator(const Clock& clock, Random& random) : clock_(clock), random_(random) {}  // both outlive it

  // "2026-01-15T10:00:00.000Z"
  std::string now() const;
  // Since 1970.
  std::int64_t milliseconds() const;
  // Seconds since 1970, as DynamoDB's TTL wants them.
  std::int64_t seconds_from_now(std::chrono::seconds later) const;
  std::string uuid() const { return random_.uuid(); }
  // The milliseconds, 10 bits of microseconds and 70 random bits, in Crockford's base32: text order is time order.
  std::string ulid() const;

  // Not for Generated::No.
  value::AttributeValue make(model::Generated kind) const;
  // now(), uuid() and ulid() of expressions.
  value::AttributeValue call(std::string_view function) const;

 private:
  const Clock& clock_;
  Random& random_;
};

}  // namespace stator::runtime
