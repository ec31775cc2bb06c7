#include "stator/expr/cache.h"

#include <functional>
#include <utility>

namespace stator::expr {

namespace {

// A list node, a hash node and its bucket, about.
constexpr std::size_t kEntryOverheadBytes = 160;

}  // namespace

Cache::Cache(std::size_t max_bytes) : max_bytes_per_section_(max_bytes / (kKinds * kSectionsPerKind)) {}

Cache::Section& Cache::section_of(Kind kind, std::string_view text) {
  return sections_[static_cast<std::size_t>(kind) * kSectionsPerKind +
                   std::hash<std::string_view>{}(text) % kSectionsPerKind];
}

std::shared_ptr<const Tree> Cache::find(Kind kind, std::string_view text) {
  Section& section = section_of(kind, text);
  const MutexLock lock(section.mutex);
  const auto found = section.by_text.find(text);
  if (found == section.by_text.end()) return nullptr;
  section.entries.splice(section.entries.begin(), section.entries, found->second);
  return found->second->tree;
}

void Cache::insert(std::string_view text, std::shared_ptr<const Tree> tree) {
  const std::size_t bytes = tree->memory_bytes() + text.size() + kEntryOverheadBytes;
  if (bytes > max_bytes_per_section_) return;
  Section& section = section_of(tree->kind, text);
  const MutexLock lock(section.mutex);
  if (section.by_text.contains(text)) return;  // another thread parsed it meanwhile
  while (section.bytes + bytes > max_bytes_per_section_) {
    const Entry& oldest = section.entries.back();
    section.bytes -= oldest.bytes;
    section.by_text.erase(oldest.text);
    section.entries.pop_back();
  }
  section.entries.push_front({std::string(text), std::move(tree), bytes});
  section.by_text.emplace(section.entries.front().text, section.entries.begin());
  section.bytes += bytes;
}

std::size_t Cache::bytes() const {
  std::size_t total = 0;
  for (const Section& section : sections_) {
    const MutexLock lock(section.mutex);
    total += section.bytes;
  }
  return total;
}

}  // namespace stator::expr
