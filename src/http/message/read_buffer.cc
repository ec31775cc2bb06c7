#include "stator/http/message/read_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "stator/http/message/message.h"

namespace stator::http {

ReadBuffer::ReadBuffer(MemoryBudget& budget) : claim_(&budget, MemoryPart::Bodies) {
  if (!resize(kIdleBytes)) throw std::bad_alloc();
}

ReadBuffer::~ReadBuffer() { std::free(data_); }

std::size_t ReadBuffer::capacity() const { return bytes_ - kBodyPadding; }

bool ReadBuffer::grow(std::size_t expected) {
  const std::size_t bytes = std::min(bytes_ * 4, std::max(expected + kBodyPadding, bytes_ + bytes_ / 2));
  const std::size_t before = claim_.bytes();
  if (!claim_.resize(bytes - kIdleBytes)) return false;
  if (resize(bytes)) return true;
  claim_.resize(before);
  return false;
}

void ReadBuffer::shrink(std::size_t kept) {
  const std::size_t bytes = std::max(kIdleBytes, kept + kBodyPadding);
  if (bytes < bytes_ && resize(bytes)) claim_.resize(bytes - kIdleBytes);
}

// realloc and not a vector: large blocks grow by moving pages rather than bytes, and nothing is cleared first.
bool ReadBuffer::resize(std::size_t bytes) {
  auto* data = static_cast<char*>(std::realloc(data_, bytes));
  if (data == nullptr) return false;
  std::memset(data + bytes - kBodyPadding, 0, kBodyPadding);
  data_ = data;
  bytes_ = bytes;
  return true;
}

}  // namespace stator::http
