#pragma once

#include <string>
#include <string_view>

namespace stator::bench {

// Signs requests as Signature Version 4 does, for servers that check it.  Used by one thread.
class Signer {
 public:
  Signer(std::string access_key, std::string secret_key);

  // The headers X-Amz-Date and Authorization of a POST, each with its line end.
  std::string headers(std::string_view host, std::string_view path, std::string_view target, std::string_view body);

 private:
  const std::string access_key_, secret_key_;
  std::string day_, key_;  // the signing key is good for a day
};

}  // namespace stator::bench
