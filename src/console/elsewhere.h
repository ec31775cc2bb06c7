#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

#include "stator/http/message/message.h"

namespace stator::console {

// Reads another DynamoDB endpoint, so that its tables can be copied: the page itself talks only to its server.
//
//   POST /console/remote/<Operation>   {"endpoint": "http://...", "region": "...", "accessKeyId": "...",
//                                       "secretAccessKey": "...", "request": {...}}
//
// The answer is the endpoint's own.  Only operations that a copy needs, all of which read.  Nothing of it is kept.
// Thread-safe.
class Elsewhere {
 public:
  static constexpr std::string_view kPath = "/console/remote";
  static constexpr std::size_t kMostBodyBytes = std::size_t{64} << 10;
  static constexpr int kAtOnce = 2;  // of the threads that answer for the console; an endpoint may be slow

  // Waits for the endpoint, at most a minute.
  http::Response read(const http::Request& request);

 private:
  std::atomic<int> under_way_ = 0;
};

}  // namespace stator::console
