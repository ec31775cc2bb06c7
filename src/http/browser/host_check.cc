#include "stator/http/browser/host_check.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace stator::http {
namespace {

constexpr std::size_t kShownBytes = 100;  // of what the client sent, in a refusal

// The text of the client, made safe for messages: quotes, control characters and non-ASCII characters become '?'.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, kShownBytes));
  std::ranges::replace_if(out, [](char c) { return c < 0x20 || c >= 0x7F || c == '"' || c == '\\' || c == '`'; }, '?');
  if (text.size() > kShownBytes) out += "...";
  return out;
}

// "localhost" of "localhost:8000", "[::1]" of "[::1]:8000".
std::string_view without_port(std::string_view host) {
  if (!host.starts_with('[')) return host.substr(0, host.find(':'));
  const auto address = host.substr(0, host.find(']') + 1);
  return address.size() == host.size() || host[address.size()] == ':' ? address : host;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && equal_ignoring_case(text.substr(text.size() - end.size()), end);
}

}  // namespace

bool names_loopback(std::string_view host) {
  // Nearly all requests, and so without looking for the port.
  constexpr std::size_t kSize = std::string_view("127.0.0.1").size();
  static_assert(kSize == std::string_view("localhost").size());
  if ((host.size() == kSize || (host.size() > kSize && host[kSize] == ':')) &&
      (std::memcmp(host.data(), "127.0.0.1", kSize) == 0 || std::memcmp(host.data(), "localhost", kSize) == 0)) {
    return true;
  }
  auto name = without_port(host);
  if (name.starts_with('[') && name.ends_with(']')) {
    in6_addr address{};
    return inet_pton(AF_INET6, std::string(name.substr(1, name.size() - 2)).c_str(), &address) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&address);
  }
  in_addr v4{};
  if (inet_pton(AF_INET, std::string(name).c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  if (name.ends_with('.')) name.remove_suffix(1);  // the root of all names
  // RFC 6761 6.3: these never leave the machine.
  return equal_ignoring_case(name, "localhost") || ends_with_ignoring_case(name, ".localhost");
}

HostCheck::HostCheck(HostRules rules)
    : rules_(std::move(rules)),
      any_origin_(std::ranges::find(rules_.cors_origins, std::string_view("*")) != rules_.cors_origins.end()) {}

bool HostCheck::accepts_host(std::string_view host) const {
  if (rules_.any_host || names_loopback(host)) return true;
  const auto name = without_port(host);
  return std::ranges::any_of(rules_.allowed_hosts,
                             [&](const std::string& allowed) { return equal_ignoring_case(allowed, name); });
}

bool HostCheck::accepts_origin(std::string_view origin, std::string_view host) const {
  if (any_origin_) return true;
  const auto scheme_end = origin.find("://");
  // A page of our own.  Its name is one of ours, or the request would have been refused for its Host.
  if (scheme_end != std::string_view::npos && !host.empty() &&
      equal_ignoring_case(origin.substr(scheme_end + 3), host) &&
      (equal_ignoring_case(origin.substr(0, scheme_end), "http") ||
       equal_ignoring_case(origin.substr(0, scheme_end), "https"))) {
    return true;
  }
  return std::ranges::find(rules_.cors_origins, origin) != rules_.cors_origins.end();
}

std::optional<std::string> HostCheck::objection(const Request& request) const {
  // Every request comes through here, so the headers are looked at once, and by their length first.
  std::string_view host;
  const Header* origin = nullptr;
  bool two_origins = false;
  for (const auto& header : request.headers) {
    const auto size = header.name.size();
    if (size == 4 && (std::memcmp(header.name.data(), "Host", 4) == 0 || equal_ignoring_case(header.name, "Host"))) {
      host = header.value;
    } else if (size == 6 && equal_ignoring_case(header.name, "Origin")) {
      two_origins = origin != nullptr;
      origin = &header;
    }
  }
  if (!host.empty() && !accepts_host(host)) {
    const auto name = shown(without_port(host));
    return fmt::format(
        "Host {0} is not a name of this machine. If it is meant to be one, start the server with --allowed-hosts {0} "
        "(the setting "
        "allowed_hosts).",
        name);
  }
  if (two_origins) return "The request has more than one Origin header.";
  if (origin != nullptr && !accepts_origin(origin->value, host)) {
    return fmt::format(
        "Web pages of the origin {0} may not call this server. If they are meant to, start it with --cors-origins {0} "
        "(the setting "
        "cors_origins).",
        shown(origin->value));
  }
  return std::nullopt;
}

}  // namespace stator::http
