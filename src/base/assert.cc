#include "stator/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace stator {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "stator: assertion failed at %s:%d: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace stator
