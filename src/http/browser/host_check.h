#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/http/message/message.h"

namespace stator::http {

struct HostRules {
  // Accepted names in `Host` beside this machine's loopback addresses; without a port, compared without case.
  std::vector<std::string> allowed_hosts = {};
  // Web pages that may call: values of `Origin`, or "*" for all of them.
  std::vector<std::string> cors_origins = {};
  // Takes any `Host`: for a listener that other machines reach by names that we cannot know.
  bool any_host = false;
};

// Keeps web pages out of a server that trusts its callers because they are on this machine.
//
// A browser on this machine runs pages of strangers.  Such a page sends requests to 127.0.0.1 under its own `Origin`,
// or makes its own name resolve to 127.0.0.1 (DNS rebinding) and then sends that name as `Host`.  So `Host` must be a
// name of a loopback address (localhost, *.localhost, 127.0.0.0/8, ::1) or one that the rules add, and `Origin` must be
// missing, the listener's own, or one of the rules.  The port in `Host` does not matter.  A request without `Host`,
// which HTTP/1.0 allows, is not from a page unless it has an `Origin`.
//
// Immutable, so thread-safe.
class HostCheck {
 public:
  explicit HostCheck(HostRules rules);

  // Why the request is refused, in printable ASCII, and which setting would let it in; nothing when it is fine.
  std::optional<std::string> objection(const Request& request) const;

 private:
  bool accepts_host(std::string_view host) const;
  bool accepts_origin(std::string_view origin, std::string_view host) const;

  const HostRules rules_;
  const bool any_origin_;
};

// Whether a value of `Host`, its port included, names a loopback address.
bool names_loopback(std::string_view host);

}  // namespace stator::http
