#include "stator/http/message/message.h"

#include <charconv>

#include "stator/base/ascii.h"

namespace stator::http {
namespace {

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

// RFC 9110 6.4.1: these have no content, whatever the handler says.
bool status_without_content(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

std::string_view media_type(std::string_view content_type) {
  auto type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

std::string_view Request::header(std::string_view name) const {
  for (const auto& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

bool Request::repeats(std::string_view name) const {
  bool found = false;
  for (const auto& header : headers) {
    if (!equal_ignoring_case(header.name, name)) continue;
    if (found) return true;
    found = true;
  }
  return false;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

void append_head(std::string& out, const Response& response, const ResponseContext& context) {
  if (response.status == 200) [[likely]] {
    out += "HTTP/1.1 200 OK\r\n";
  } else {
    out += "HTTP/1.1 ";
    append_number(out, static_cast<std::size_t>(response.status));
    out += ' ';
    out += reason_phrase(response.status);
    out += "\r\n";
  }
  out += context.date_line;
  if (!response.content_type.empty()) {
    out += "Content-Type: ";
    out += response.content_type;
    out += "\r\n";
  }
  if (!status_without_content(response.status)) {
    out += "Content-Length: ";
    append_number(out, response.body.size());
    out += "\r\n";
  }
  out += response.headers;
  if (context.close) {
    out += "Connection: close\r\n";
  } else if (context.http_1_0) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
}

bool sends_body(const Response& response, const ResponseContext& context) {
  return !context.head_request && !status_without_content(response.status);
}

}  // namespace stator::http
