#pragma once

#include <string>

namespace stator::systems::shops {

// Whether names are registered directly below this domain, so that it has no owner: "com", "co.uk" and "github.io" are
// public suffixes, and so is every name without a dot.  `domain` is in its one spelling (normal_domain()).  The list is
// publicsuffix.org's, its private section included, as of the build.
bool is_public_suffix(const std::string& domain);

}  // namespace stator::systems::shops
