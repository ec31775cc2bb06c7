#include "stator/base/wake_later.h"

#include <utility>
#include <vector>

namespace stator {
namespace {

thread_local int depth = 0;
thread_local std::vector<UniqueFunction<void()>> waiting;

}  // namespace

WakeLater::WakeLater() { ++depth; }

WakeLater::~WakeLater() {
  if (--depth > 0) return;
  for (auto& wake : std::exchange(waiting, {})) wake();
}

void WakeLater::call(UniqueFunction<void()> wake) {
  if (depth == 0) return wake();
  waiting.push_back(std::move(wake));
}

}  // namespace stator
