#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/result.h"

// Compressed bodies (RFC 9110 8.4), as the service takes and gives them.
namespace stator::http {

enum class ContentCoding : std::uint8_t { Identity, Gzip, Deflate };

// "gzip", "deflate"; empty for Identity.
std::string_view name_of(ContentCoding coding);

// The coding that an Accept-Encoding header asks for: the highest quality wins, then the first named; `*` stands for
// those not named, gzip first.  What is malformed is read as the service reads it.
ContentCoding accepted_coding(std::string_view accept_encoding);

// What a Content-Encoding header says; nullopt when it names none that is known.
std::optional<ContentCoding> content_coding_of(std::string_view content_encoding);

// What is wrong with a body of an unknown coding, and with one that is too large.
Error unknown_coding();
Error body_too_large(std::size_t max_bytes);

// The body behind a Content-Encoding header, followed by http::kBodyPadding readable bytes.  Never holds more than
// `max_bytes`, however small the body that claims to hold it.  Errors: LimitExceeded when it would; Internal when the
// coding is not known or the body is not of it, which is what the service answers.
Result<std::string> decode_content(std::string_view content_encoding, std::string_view body, std::size_t max_bytes);

// Quick rather than small: it runs on the thread that has the answer.
std::string encode_content(ContentCoding coding, std::string_view body);

}  // namespace stator::http
