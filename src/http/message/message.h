#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/memory_budget.h"

namespace stator::http {

// Bytes behind a request's body that may be read, though they mean nothing: a SIMD parser reads past the end.
inline constexpr std::size_t kBodyPadding = 64;

struct Header {
  std::string_view name, value;
};
// Of a message that owns its text.
using OwnedHeaders = std::vector<std::pair<std::string, std::string>>;

// One request.  Everything points into the connection's buffer and is valid until the response has been sent.
struct Request {
  std::string_view method, target, path, query;  // target as sent; path without the query, query without its '?'
  std::span<const Header> headers;
  std::string_view body;  // followed by kBodyPadding readable bytes
  bool keep_alive = true;
  std::string_view client = {};  // the address that it comes from, for logs; a proxy's, where there is one

  // The value of the first header of that name, compared without case; empty when there is none.
  std::string_view header(std::string_view name) const;
  // Whether there is more than one header of that name.
  bool repeats(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string_view content_type;  // static storage; empty: no such header
  std::string headers;            // further header lines, each "Name: value\r\n"
  std::string body;
  bool close = false;       // close the connection behind this answer
  MemoryClaim memory = {};  // memory of the body from the budget, until it has been sent
};

// "Not Found" for 404.
std::string_view reason_phrase(int status);

// ASCII letters compare without case.
bool equal_ignoring_case(std::string_view a, std::string_view b);

// "application/json" of "application/json; charset=utf-8".
std::string_view media_type(std::string_view content_type);

// The properties of the request that the head of a response depends on.
struct ResponseContext {
  std::string_view date_line;  // "Date: ...\r\n"
  bool http_1_0 = false;       // must be told that the connection stays open
  bool close = false;
  bool head_request = false;  // the length is announced and the body left out
};

// Appends the status line and the headers, up to and including the empty line.
void append_head(std::string& out, const Response& response, const ResponseContext& context);

// Whether the response's body follows its head on the wire.
bool sends_body(const Response& response, const ResponseContext& context);

}  // namespace stator::http
