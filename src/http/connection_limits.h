#pragma once

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/result.h"

namespace stator::http {

// "10.0.0.7", "10.0.0.0/8" or "fd00::/8": one address, or all that begin with the same bits.
class Network {
 public:
  static Result<Network> parse(std::string_view text);  // Errors: Usage
  bool contains(const boost::asio::ip::address& address) const;

 private:
  Network(const boost::asio::ip::address& address, unsigned bits) : address_(address), bits_(bits) {}
  boost::asio::ip::address address_;
  unsigned bits_;
};

// How many connections there may be, on all ports of a process together, and from one address.
//
// An IPv6 client has at least 64 bits to choose from, so its network counts as one address.  This machine itself, and
// proxies that are named, speak for many and are not limited by address.  Thread-safe.
class ConnectionLimits {
 public:
  struct Options {
    std::size_t total = 10'000;
    std::size_t per_address = SIZE_MAX;
    std::vector<Network> proxies = {};
  };
  explicit ConnectionLimits(Options options) : options_(std::move(options)) {}

  // At most so many are open at a time only to be told that they are too many.
  static constexpr std::size_t kRefusedAtATime = 64;

  // Counts a connection.  Empty, or why there may not be another one: it is counted all the same, until leave().
  std::string_view enter(const boost::asio::ip::address& address);
  void leave(const boost::asio::ip::address& address);
  // Whether one that may not be there can be told so; if so, until done_refusing().
  bool may_refuse();
  void done_refusing() { refused_.fetch_sub(1, std::memory_order_relaxed); }

  std::size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  // The address or network whose connections are counted together; unspecified when they are not counted.
  boost::asio::ip::address counted(const boost::asio::ip::address& address) const;

  const Options options_;
  std::atomic<std::size_t> open_ = 0;
  std::atomic<std::size_t> refused_ = 0;
  Mutex mutex_;
  std::map<boost::asio::ip::address, std::size_t> by_address_ GUARDED_BY(mutex_);
};

}  // namespace stator::http
