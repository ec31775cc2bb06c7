#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/memory_budget.h"
#include "stator/base/result.h"
#include "stator/http/message/message.h"

// Compressed bodies (RFC 9110 8.4), as the service takes and gives them.
namespace stator::http {

enum class ContentCoding : std::uint8_t { Identity, Gzip, Deflate };

// "gzip", "deflate"; empty for Identity.
std::string_view name_of(ContentCoding coding);

// The coding that an Accept-Encoding header asks for: the highest quality wins, then the first named; `*` stands for
// the codings that are not named, gzip first.  A malformed header is read as the service reads it.
ContentCoding accepted_coding(std::string_view accept_encoding);

// The coding in a Content-Encoding header; Identity without one, and nullopt when it names no known coding.
std::optional<ContentCoding> content_coding_of(std::string_view content_encoding);

// The errors of a body of an unknown coding, and of one that is too large as it is sent or once it is inflated.
Error unknown_coding();
Error body_too_large(std::size_t max_bytes);
Error inflated_too_large(std::size_t max_bytes);

// The body behind a Content-Encoding header, followed by http::kBodyPadding readable bytes.  Never holds more than
// `max_bytes`, even if a small body inflates to more.  `claim` grows with the decoded body; null: not counted. Errors:
// LimitExceeded when the body has more than `max_bytes`; Busy when there is no memory for it; Internal, as in the
// service, when the coding is not known or the body is not of it.
Result<std::string> decode_content(std::string_view content_encoding, std::string_view body, std::size_t max_bytes,
                                   MemoryClaim* claim = nullptr);

// Quick rather than small: it runs on the thread that has the answer.
std::string encode_content(ContentCoding coding, std::string_view body);

// Encodes an answer of more than `above` bytes as an Accept-Encoding header asks, and adds Content-Encoding to its
// headers. False: the answer stays as it is.
bool compress(Response& response, std::string_view accept_encoding, std::size_t above);

}  // namespace stator::http
