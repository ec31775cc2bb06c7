#include "stator/server/secret_file.h"

#include <fmt/format.h>

#include "stator/app/auth/crypto.h"
#include "stator/server/private_file.h"

namespace stator::server {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kTextBytes = 43;  // of those in base64url
constexpr std::size_t kMaxSecretFileBytes = 1024;
constexpr auto kSecretFileName = "app_secret";

Result<std::string> check(std::string text, const std::string& data_folder) {
  text.resize(std::min(text.size(), kTextBytes));
  if (text.size() < kTextBytes || !app::decode_base64url(text)) {
    return Error{ErrorCode::Usage, fmt::format("{}/{} does not hold a secret; remove it and a new one is made",
                                               data_folder, kSecretFileName)};
  }
  return text;
}

}  // namespace

Result<std::string> load_or_make_secret(const std::string& data_folder) {
  auto folder = TRY(PrivateFolder::open_or_make(data_folder));
  if (auto text = TRY(folder.read(kSecretFileName, kMaxSecretFileBytes))) return check(std::move(*text), data_folder);
  TRY(folder.lock());
  // Another process may have made it meanwhile.
  if (auto text = TRY(folder.read(kSecretFileName, kMaxSecretFileBytes))) return check(std::move(*text), data_folder);
  auto secret = app::base64url(app::random_bytes(kSecretBytes));
  TRY(folder.replace(kSecretFileName, secret + "\n"));
  return secret;
}

}  // namespace stator::server
