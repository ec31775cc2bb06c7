#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::app {

// What a page token is good for, and nothing else.
struct PageBinding {
  std::string_view system;
  std::string_view pattern;
  const value::Item& parameters;
  const std::optional<std::string>& subject;  // of the caller
};

// Turns the end of a page into text that callers can keep and give back, but neither read nor change: keys are not
// theirs to see.
//
//   base64url( tag[16]  AES-256-CTR(tag, {"d": done, "k": keys} in DynamoDB's JSON) )
//   tag: the front of HMAC-SHA256 over the binding and the text, so that equal pages have equal tokens
//
// Tokens live as long as the secret.  Thread-safe.
class PageTokens {
 public:
  explicit PageTokens(std::string_view secret);

  std::string seal(const runtime::PageEnd& end, const PageBinding& binding) const;
  // Errors: Validation, when it was not made by seal() for this binding.
  Result<runtime::PageEnd> open(std::string_view token, const PageBinding& binding) const;

 private:
  std::string tag_of(std::string_view text, const PageBinding& binding) const;

  const std::string tag_key_, text_key_;
};

}  // namespace stator::app
