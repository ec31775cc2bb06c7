// Feeds arbitrary bytes to everything of the REST service that reads them before anybody is known: tokens, key sets,
// page tokens and targets.  Never a crash, and nothing that was not signed is accepted.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stator/app/auth/crypto.h"
#include "stator/app/auth/jwt.h"
#include "stator/app/rest/request/target.h"
#include "stator/app/rest/routes/page_token.h"

namespace {

using namespace stator;
using namespace stator::app;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const ManualClock clock;
  static TokenVerifier verifier({.secret = "a secret of thirty-two characters"}, {}, clock);
  require(!verifier.verify(text));
  if (const auto keys = read_jwks(text)) require(!keys->empty());

  static const PageTokens tokens("secret");
  static const value::Item parameters;
  static const std::optional<std::string> subject;
  require(!tokens.open(text, {.system = "s", .pattern = "p", .parameters = parameters, .subject = subject}));

  if (const auto decoded = decode_percent(text)) require(decode_percent(encode_percent(*decoded)) == decoded);
  if (const auto bytes = decode_base64url(text)) require(base64url(*bytes) == text);
  if (const auto query = QueryParameters::parse(text)) require(query->all().size() <= 100);
  return 0;
}
