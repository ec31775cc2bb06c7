#include "stator/server/secrets/secret_file.h"

#include <fmt/format.h>

#include "stator/app/auth/crypto.h"

namespace stator::server {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kTextBytes = 43;  // of those in base64url
constexpr std::size_t kMaxSecretFileBytes = 1024;
constexpr auto kSecretFileName = "app_secret";

Result<std::string> check(std::string text, const PrivateFiles& files) {
  text.resize(std::min(text.size(), kTextBytes));
  if (text.size() < kTextBytes || !app::decode_base64url(text)) {
    return usage_error(
        fmt::format("{} does not hold a secret; remove it and a new one is made", files.path(kSecretFileName)));
  }
  return text;
}

}  // namespace

Result<std::string> load_or_make_secret(PrivateFiles& files) {
  if (auto text = TRY(files.read(kSecretFileName, kMaxSecretFileBytes))) return check(std::move(*text), files);
  std::string kept;
  TRY(files.change(kSecretFileName, kMaxSecretFileBytes, [&](const auto& text) -> Result<std::string> {
    // Another process may have made it meanwhile.
    kept = text ? *text : app::base64url(app::random_bytes(kSecretBytes)) + "\n";
    return kept;
  }));
  return check(std::move(kept), files);
}

Result<bool> has_secret(PrivateFiles& files) {
  return TRY(files.read(kSecretFileName, kMaxSecretFileBytes)).has_value();
}

}  // namespace stator::server
