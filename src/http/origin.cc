#include "stator/http/origin.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stator/http/message/message.h"

namespace stator::http {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool is_host_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
}

}  // namespace

Result<Origin> Origin::parse(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    return Error{ErrorCode::Usage,
                 fmt::format("'{}' is not an endpoint: {}; write http://host:port or https://host:port", url, why)};
  };
  Origin origin;
  auto rest = url;
  if (equal_ignoring_case(rest.substr(0, 8), "https://")) {
    origin.tls = true;
    rest.remove_prefix(8);
  } else if (equal_ignoring_case(rest.substr(0, 7), "http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong("it begins with neither http:// nor https://");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#@") != std::string_view::npos) return wrong("there is more than a host and a port");

  const bool bracketed = rest.starts_with('[');
  const auto host_end = bracketed ? rest.find(']') : rest.find(':');
  if (bracketed && host_end == std::string_view::npos) return wrong("a bracket is not closed");
  origin.host = bracketed ? rest.substr(1, host_end - 1) : rest.substr(0, host_end);
  if (bracketed ? !is_ipv6(origin.host) : !is_host_name(origin.host)) return wrong("the host is not one");
  rest.remove_prefix(std::min(rest.size(), bracketed ? host_end + 1 : host_end));

  origin.port = origin.tls ? kHttpsPort : kHttpPort;
  if (!rest.empty()) {
    const auto digits = rest.substr(1);
    const auto* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, origin.port);
    if (rest.front() != ':' || error != std::errc() || stopped != end || origin.port == 0) {
      return wrong("the port is not a number from 1 to 65535");
    }
  }
  return origin;
}

std::string Origin::authority() const {
  const auto name = is_ipv6(host) ? fmt::format("[{}]", host) : host;
  return port == (tls ? kHttpsPort : kHttpPort) ? name : fmt::format("{}:{}", name, port);
}

std::string Origin::url() const { return (tls ? "https://" : "http://") + authority(); }

bool Origin::loopback() const {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
  return equal_ignoring_case(host, "localhost");
}

}  // namespace stator::http
