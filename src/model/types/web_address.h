#pragma once

#include <string>
#include <string_view>

#include "stator/base/result.h"

namespace stator::model {

inline constexpr std::size_t kMostHostBytes = 253;

// The domain of a shop in its one spelling: without scheme, user, `www.`, port and path, lower case, names beyond ASCII
// in their xn-- form.  "HTTPS://www.Müller.de:443/x" is "xn--mller-kva.de".  Errors: Validation.
Result<std::string> normal_domain(std::string_view text);

// A URL in its one spelling: scheme and host as above (but `www.` stays, it may be another page), default port, user
// and fragment gone, dot segments resolved, percent signs in upper case and only where they are needed, an empty path
// is "/".  The query stays in its order, because that can matter to the shop.  Errors: Validation: not http or https,
// no host, not a URL, longer than 8,000 characters as it was given or in its one spelling.
struct CanonicalUrl {
  std::string url;
  std::string host;  // normal, with `www.`
};
Result<CanonicalUrl> canonical_url(std::string_view text);

// Whether a host is the shop's: the domain itself, or a name below it.
bool belongs_to(std::string_view host, std::string_view domain);

}  // namespace stator::model
