#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"

struct evp_pkey_st;

namespace stator::app {

enum class Algorithm : std::uint8_t { Hs256, Rs256, Es256 };

// One public key that tokens are signed with.
struct PublicKey {
  std::string id;  // "kid"; may be empty
  Algorithm algorithm = Algorithm::Rs256;
  std::shared_ptr<evp_pkey_st> key;

  // Whether `signature`, as a JWT has it, is one of `text` by this key.
  bool verifies(std::string_view text, std::string_view signature) const;
};

// The keys of a JSON Web Key Set (RFC 7517): RSA keys of 2048 bits and more for RS256, P-256 keys for ES256.  Keys for
// other uses and of other kinds are left out; symmetric keys have no place in a public file, and are left out, too.
// Bounds: 100 keys, 1 MB.  Errors: Validation, when it is not a set, or holds no key that can be used.
Result<std::vector<PublicKey>> read_jwks(std::string_view json);

}  // namespace stator::app
