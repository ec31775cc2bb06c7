#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// The few primitives that tokens are made of.
namespace stator::app {

std::string sha256(std::string_view text);  // 32 bytes
std::string sha256(
    std::span<const std::string_view> texts);  // of all, one behind the other, without putting them together
std::string hmac_sha256(std::string_view key, std::string_view text);

// AES-256 in counter mode; encrypts and decrypts.  `key` has 32 bytes, `initial` 16.
std::string aes256_ctr(std::string_view key, std::string_view initial, std::string_view text);

// From the kernel, fit for secrets.
std::string random_bytes(std::size_t count);

// RFC 4648 section 5, without padding.
std::string base64url(std::string_view bytes);
// Strict: nothing but the alphabet, no padding, no stray bits.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace stator::app
