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

bool MemoryBudget::take(MemoryPart part, std::size_t bytes) {
  auto& of_part = parts_[static_cast<std::size_t>(part)];
  const std::size_t allowed = bytes > kSmallBytes ? limit_ - limit_ / 8 : limit_;
  const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t of_part_before = of_part.fetch_add(bytes, std::memory_order_relaxed);
  const bool fits = before + bytes <= allowed && (part != MemoryPart::Bodies || of_part_before + bytes <= limit_ / 2);
  if (fits) return true;
  give_back(part, bytes);
  refusals_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void MemoryBudget::give_back(MemoryPart part, std::size_t bytes) {
  parts_[static_cast<std::size_t>(part)].fetch_sub(bytes, std::memory_order_relaxed);
  used_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace stator
