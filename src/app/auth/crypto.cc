#include "stator/app/auth/crypto.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "stator/base/assert.h"
#include "stator/base/random.h"
#include "stator/http/signature/sigv4_canonical.h"

namespace stator::app {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kDigestBytes = 32;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

constexpr auto kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

}  // namespace

std::string sha256(std::string_view text) {
  const auto digest = http::sigv4::sha256(text);
  return {digest.begin(), digest.end()};
}

std::string sha256(std::span<const std::string_view> texts) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::string digest(kDigestBytes, '\0');
  bool done = EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  for (const auto text : texts) done = done && EVP_DigestUpdate(context.get(), text.data(), text.size()) == 1;
  done = done && EVP_DigestFinal_ex(context.get(), bytes_of(digest), nullptr) == 1;
  STATOR_ASSERT(done, "SHA-256 of bytes in memory cannot fail");
  return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string digest(kDigestBytes, '\0');
  const bool done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
                         bytes_of(digest), nullptr) != nullptr;
  STATOR_ASSERT(done, "HMAC of bytes in memory cannot fail");
  return digest;
}

std::string aes256_ctr(std::string_view key, std::string_view initial, std::string_view text) {
  STATOR_ASSERT(key.size() == 32 && initial.size() == 16, "AES-256 has keys of 32 bytes and blocks of 16");
  std::string out(text.size(), '\0');
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                &EVP_CIPHER_CTX_free);
  int written = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, bytes_of(key), bytes_of(initial)) == 1 &&
      EVP_EncryptUpdate(context.get(), bytes_of(out), &written, bytes_of(text), static_cast<int>(text.size())) == 1;
  STATOR_ASSERT(done && static_cast<std::size_t>(written) == text.size(), "counter mode cannot fail");
  return out;
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  fill_with_entropy({bytes_of(out), out.size()});
  return out;
}

std::string base64url(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) out += kAlphabet[bits >> (held - 6) & 63U];
  }
  if (held > 0) out += kAlphabet[bits << (6 - held) & 63U];
  return out;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 255U);
    }
  }
  if ((bits & ((1U << held) - 1U)) != 0) return std::nullopt;
  return out;
}

}  // namespace stator::app
