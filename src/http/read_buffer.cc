#include "stator/http/read_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "stator/http/message.h"

namespace stator::http {

bool Budget::take(std::size_t bytes) {
  const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes <= limit_) return true;
  give_back(bytes);
  return false;
}

ReadBuffer::ReadBuffer(Budget& budget) : budget_(budget) {
  if (!resize(kIdleBytes)) throw std::bad_alloc();
}

ReadBuffer::~ReadBuffer() {
  budget_.give_back(bytes_ - kIdleBytes);
  std::free(data_);
}

std::size_t ReadBuffer::capacity() const { return bytes_ - kBodyPadding; }

bool ReadBuffer::grow(std::size_t expected) {
  const std::size_t bytes = std::min(bytes_ * 4, std::max(expected + kBodyPadding, bytes_ + bytes_ / 2));
  const std::size_t more = bytes - bytes_;
  if (!budget_.take(more)) return false;
  if (resize(bytes)) return true;
  budget_.give_back(more);
  return false;
}

void ReadBuffer::shrink(std::size_t kept) {
  const std::size_t bytes = std::max(kIdleBytes, kept + kBodyPadding);
  const std::size_t before = bytes_;
  if (bytes < before && resize(bytes)) budget_.give_back(before - bytes);
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
