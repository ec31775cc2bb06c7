#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/http/message/message.h"

// AWS Signature Version 4: the computations that a signer and a verifier share.
namespace stator::http::sigv4 {

inline constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view kTerminator = "aws4_request";

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view text);

// Cuts the part before the next separator off the front.
std::string_view take_until(std::string_view& text, std::string_view separators);

// The parameters of a query, decoded.
using Parameters = std::vector<std::pair<std::string, std::string>>;
Parameters parse_query(std::string_view query);
const std::string* find_parameter(const Parameters& parameters, std::string_view name);

// 20150830T123600Z
std::string iso_basic(std::chrono::sys_seconds time);

// The text that is hashed and signed.  `signed_headers`: the names of headers, in lower case with semicolons between
// them.
std::string canonical_request(const Request& request, const Parameters& parameters, std::string_view signed_headers);

// The key that signs on one day, for one region and one service; it does not tell the secret.
Digest derive_signing_key(std::string_view secret, std::string_view date, std::string_view region,
                          std::string_view service);

// The signature, as it is sent.  `scope` is date/region/service/aws4_request.
std::string sign(const Digest& signing_key, std::chrono::sys_seconds time, std::string_view scope,
                 std::string_view canonical_request);

}  // namespace stator::http::sigv4
