#pragma once

namespace stator {

[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace stator

// For states that no input can cause.  Stays on in release and stops the process: a database that goes on with a broken
// invariant destroys data.
#define STATOR_ASSERT(condition, why)                                  \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::stator::assertion_failed(#condition, why, __FILE__, __LINE__); \
  } while (false)
