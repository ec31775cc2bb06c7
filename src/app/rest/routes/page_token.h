#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::app {

// The request that a page token is valid for; every other request refuses it.
struct PageBinding {
  std::string_view system;
  std::string_view pattern;
  const value::Item& parameters;
  const std::optional<std::string>& subject;  // of the caller
};

// Turns the end of a page into a text that callers can store and send back, but can neither read nor change, because
// keys can contain values that the caller may not see.
//
//   base64url( tag[16]  AES-256-CTR(tag, {"d": done, "k": keys} in DynamoDB's JSON) )
//   tag: the front of HMAC-SHA256 over the binding and the text, so that equal pages have equal tokens
//
// Tokens live as long as the secret.  Thread-safe.
class PageTokens {
 public:
  explicit PageTokens(std::string_view secret);

  std::string seal(const runtime::PageEnd& end, const PageBinding& binding) const;
  // Errors: Validation, for a token that seal() has not made for this binding.
  Result<runtime::PageEnd> open(std::string_view token, const PageBinding& binding) const;

 private:
  std::string tag_of(std::string_view text, const PageBinding& binding) const;

  const std::string tag_key_, text_key_;
};

}  // namespace stator::app
