#pragma once

#include <cstddef>

#include "stator/base/memory_budget.h"

namespace stator::http {

// The bytes a connection has received.  Small while idle; what it takes beyond that is on the shared budget.
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

  // Makes room for more, `expected` bytes in all as far as the caller knows, but no more than a few times what is
  // there, so that memory follows the bytes that arrive and not those that are announced.  False when the budget is
  // exhausted.
  bool grow(std::size_t expected);
  // Gives memory back, keeping the first `kept` bytes.
  void shrink(std::size_t kept);

 private:
  bool resize(std::size_t bytes);

  MemoryClaim claim_;  // for what is beyond kIdleBytes
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace stator::http
