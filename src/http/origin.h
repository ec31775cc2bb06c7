#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "stator/base/result.h"

namespace stator::http {

// The address of a server: the scheme, host and port of a URL.
struct Origin {
  bool tls = false;
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  std::uint16_t port = 0;

  // "https://dynamodb.eu-central-1.amazonaws.com", "http://127.0.0.1:8000/", "http://[::1]:8000".  A path, a query or a
  // user is refused, because nothing would be done with it.  Errors: Usage.
  static Result<Origin> parse(std::string_view url);

  std::string authority() const;  // the Host header: without the port if the scheme implies it
  std::string url() const;        // without a slash at its end
  bool loopback() const;          // localhost, 127.x.x.x or ::1

  friend auto operator<=>(const Origin&, const Origin&) = default;
};

}  // namespace stator::http
