#pragma once

#include <cstddef>

#include "stator/base/memory_budget.h"

namespace stator::http {

// The bytes a connection has received.  Small while idle; larger buffers are counted on the shared budget.
// kBodyPadding bytes behind the capacity are readable.
class ReadBuffer {
 public:
  static constexpr std::size_t kIdleBytes = 4096;  // allocated, padding included

  explicit ReadBuffer(MemoryBudget& budget);  // the budget outlives the buffer
  ~ReadBuffer();
  ReadBuffer(const ReadBuffer&) = delete;
  ReadBuffer& operator=(const ReadBuffer&) = delete;

  char* data() { return data_; }
  std::size_t capacity() const;

  // Makes room for more, `expected` bytes in all as far as the caller knows, but at most a few times the bytes that
  // have arrived: announced bytes alone take no memory.  False when the budget is exhausted.
  bool grow(std::size_t expected);
  // Gives memory back, keeping the first `kept` bytes.
  void shrink(std::size_t kept);

 private:
  bool resize(std::size_t bytes);

  MemoryClaim claim_;  // for the bytes beyond kIdleBytes
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace stator::http
