#pragma once

#include <atomic>
#include <cstddef>

namespace stator::http {

// Memory that all connections of a server share.  Thread-safe.
class Budget {
 public:
  explicit Budget(std::size_t limit) : limit_(limit) {}

  // False, and nothing taken, when that is more than is left.
  bool take(std::size_t bytes);
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
};

// The bytes a connection has received.  Small while idle; what it takes beyond that is on the shared budget.
// kBodyPadding bytes behind the capacity are readable.
class ReadBuffer {
 public:
  static constexpr std::size_t kIdleBytes = 4096;  // allocated, padding included

  explicit ReadBuffer(Budget& budget);  // the budget outlives the buffer
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

  Budget& budget_;
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace stator::http
