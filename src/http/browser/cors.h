#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "stator/http/message/message.h"

namespace stator::http {

// Views are of static storage.
struct CorsRules {
  // Web pages that may call: values of `Origin`, or "*" for all of them.  Empty: no CORS headers at all.
  std::vector<std::string> origins = {};
  std::string_view exposed_headers = {};  // of answers, that pages may read
  std::string_view server_methods = {};   // for `Allow`, when no page asks
  std::string_view page_methods = {};     // that pages may use
  bool any_method = false;                // pages may use any method that they ask for
  std::chrono::seconds preflight_age{};   // how long a browser keeps the answer to its question
  int preflight_status = 204;
};

// Tells browsers which web pages may call a server (CORS, in the Fetch standard).  A browser asks before it sends a
// request of a page, with OPTIONS; this is the preflight.  Immutable, so thread-safe.
class Cors {
 public:
  explicit Cors(CorsRules rules);

  // The header lines of an answer; empty when the request is of no page, or of one that may not call.
  std::string headers(const Request& request) const;

  // The answer to OPTIONS.  A page may send all headers that it asks for.
  Response preflight(const Request& request) const;

 private:
  const CorsRules rules_;
  const bool any_origin_;
};

}  // namespace stator::http
