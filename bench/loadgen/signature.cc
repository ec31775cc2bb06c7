#include "stator/bench/signature.h"

#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <ctime>
#include <utility>

namespace stator::bench {
namespace {

constexpr std::string_view kRegionAndService = "/us-east-1/dynamodb/aws4_request";

std::string hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256(std::string_view text) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

std::string hmac(std::string_view key, std::string_view text) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), reinterpret_cast<unsigned char*>(hash.data()), &size);
  return hash;
}

std::string time_now() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

}  // namespace

Signer::Signer(std::string access_key, std::string secret_key)
    : access_key_(std::move(access_key)), secret_key_(std::move(secret_key)) {}

std::string Signer::headers(std::string_view host, std::string_view path, std::string_view target,
                            std::string_view body) {
  const auto time = time_now();
  if (const auto day = time.substr(0, 8); day != day_) {
    day_ = day;
    key_ = hmac(hmac(hmac(hmac("AWS4" + secret_key_, day_), "us-east-1"), "dynamodb"), "aws4_request");
  }
  const auto scope = day_ + std::string(kRegionAndService);
  const std::string names = "host;x-amz-date;x-amz-target";
  std::string request = "POST\n";
  request.append(path).append("\n\nhost:").append(host).append("\nx-amz-date:").append(time);
  request.append("\nx-amz-target:").append(target).append("\n\n").append(names).append("\n").append(hex(sha256(body)));
  const auto signature = hex(hmac(key_, "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + hex(sha256(request))));
  return "X-Amz-Date: " + time + "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + access_key_ + "/" + scope +
         ", SignedHeaders=" + names + ", Signature=" + signature + "\r\n";
}

}  // namespace stator::bench
