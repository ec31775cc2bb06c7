#include "stator/base/memory_budget.h"

namespace stator {

std::string_view name_of(MemoryPart part) {
  switch (part) {
    case MemoryPart::Bodies: return "bodies";
    case MemoryPart::Values: return "values";
    case MemoryPart::Answers: return "answers";
  }
  return {};
}

namespace {

// By comparing and exchanging: one that does not fit must not stand in the way of another that does, not even for a
// moment.
bool add_up_to(std::atomic<std::size_t>& sum, std::size_t bytes, std::size_t most) {
  auto before = sum.load(std::memory_order_relaxed);
  do {
    if (bytes > most || before > most - bytes) return false;
  } while (!sum.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  return true;
}

}  // namespace

bool MemoryBudget::take(MemoryPart part, std::size_t bytes, std::size_t total) {
  auto& of_part = parts_[static_cast<std::size_t>(part)];
  const std::size_t most = total > kSmallBytes ? limit_ - limit_ / 8 : limit_;
  if (add_up_to(of_part, bytes, part == MemoryPart::Bodies ? limit_ / 2 : limit_)) {
    if (add_up_to(used_, bytes, most)) return true;
    of_part.fetch_sub(bytes, std::memory_order_relaxed);
  }
  refusals_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void MemoryBudget::give_back(MemoryPart part, std::size_t bytes) {
  parts_[static_cast<std::size_t>(part)].fetch_sub(bytes, std::memory_order_relaxed);
  used_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace stator
