#include "stator/storage/postgres/key_parts.h"

#include <openssl/evp.h>

#include "stator/base/assert.h"

namespace stator::storage::postgres {

KeyParts::KeyParts(BytesView key) : head(key.substr(0, kHeadBytes)), tail(key.substr(head.size())) {
  if (tail.empty()) return;
  digest.resize(32);
  unsigned size = 0;
  const bool made = EVP_Digest(tail.data(), tail.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                               EVP_sha256(), nullptr) == 1;
  STATOR_ASSERT(made && size == digest.size(), "SHA-256 needs nothing that could be missing");
}

}  // namespace stator::storage::postgres
