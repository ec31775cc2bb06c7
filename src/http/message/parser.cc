#include "stator/http/message/parser.h"

#include <algorithm>

#include "stator/base/ascii.h"

namespace stator::http {
namespace {

constexpr std::size_t kMaxMethodBytes = 32;
constexpr std::string_view kMalformedRequestLine = "malformed request line";
constexpr std::string_view kTargetTooLong = "the request target is too long";
constexpr std::string_view kNotTls = "this port speaks plain HTTP, not TLS";
constexpr char kTlsHandshake = 0x16;  // how every TLS connection begins

bool is_target_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

void Parser::reset() {
  reset_message();
  has_host_ = expects_continue_ = head_request_ = false;
}

bool Parser::refuse_long_start_line() { return fail(414, kTargetTooLong); }

// Refuses at once bytes that can never become a request line, so that a client with the wrong protocol or without line
// ends learns it now rather than from a timeout.
bool Parser::check_unfinished_start_line(std::string_view text) {
  if (text.empty() || text == "\r") return true;
  if (text.front() == kTlsHandshake) return fail(400, kNotTls);
  const std::size_t token = token_length(text.substr(0, kMaxMethodBytes + 1));
  if (token == 0 || token > kMaxMethodBytes || (token < text.size() && text[token] != ' ')) {
    return fail(400, kMalformedRequestLine);
  }
  if (text.size() > limits_.target_bytes + kMaxMethodBytes + 16) return fail(414, kTargetTooLong);
  return true;
}

bool Parser::parse_start_line(const char* data, std::string_view line) {
  if (line.front() == kTlsHandshake) return fail(400, kNotTls);
  const std::size_t method_size = token_length(line.substr(0, kMaxMethodBytes + 1));
  const std::size_t last_space = line.rfind(' ');
  if (method_size == 0 || method_size > kMaxMethodBytes || method_size >= line.size() || line[method_size] != ' ' ||
      last_space == method_size) {
    return fail(400, kMalformedRequestLine);
  }
  const auto version = line.substr(last_space + 1);
  if (version == "HTTP/1.0") {
    http_1_0_ = true;
  } else if (version != "HTTP/1.1") {
    if (version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) && version[6] == '.' &&
        is_digit(version[7])) {
      return fail(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    return fail(400, kMalformedRequestLine);
  }
  method_ = slice(data, line.substr(0, method_size));
  head_request_ = line.substr(0, method_size) == "HEAD";
  stage_ = Stage::Headers;
  return parse_target(data, line.substr(method_size + 1, last_space - method_size - 1));
}

bool Parser::parse_target(const char* data, std::string_view target) {
  if (target.size() > limits_.target_bytes) return fail(414, kTargetTooLong);
  if (target.empty() || !is_target_text(target)) return fail(400, "malformed request target");
  target_ = slice(data, target);
  std::string_view rest = target;
  if (target.front() != '/') {
    const auto method = method_.in(data);
    if (method == "CONNECT") return fail(501, "CONNECT is not implemented");
    const std::size_t scheme = equal_ignoring_case(target.substr(0, 7), "http://")    ? 7
                               : equal_ignoring_case(target.substr(0, 8), "https://") ? 8
                                                                                      : 0;
    if (scheme != 0) {
      rest.remove_prefix(scheme);
      rest.remove_prefix(std::min(rest.find_first_of("/?"), rest.size()));
    } else if (!(target == "*" && method == "OPTIONS")) {
      return fail(400, "malformed request target");
    }
  }
  const std::size_t question = rest.find('?');
  path_ = slice(data, rest.substr(0, question));
  // "http://host" means the path "/", and the one in "//" serves as the text of it.
  if (path_.size == 0) path_ = slice(data, target.substr(target.find('/'), 1));
  query_ = question == std::string_view::npos ? Slice{} : slice(data, rest.substr(question + 1));
  return true;
}

bool Parser::parse_special_header(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 4:
      if (!equal_ignoring_case(name, "host")) return true;
      if (has_host_) return fail(400, "more than one Host header");
      has_host_ = true;
      return true;
    case 6:
      if (!equal_ignoring_case(name, "expect")) return true;
      if (!equal_ignoring_case(value, "100-continue")) return fail(417, "unknown expectation");
      expects_continue_ = true;
      return true;
    default: return MessageParser::parse_special_header(name, value);
  }
}

bool Parser::finish_head() {
  if (!http_1_0_ && !has_host_) return fail(400, "missing Host header");
  if (chunked_ && has_length_) return fail(400, "Content-Length and Transfer-Encoding exclude each other");
  if (chunked_ && http_1_0_) return fail(400, "HTTP/1.0 has no Transfer-Encoding");
  expects_continue_ = expects_continue_ && !http_1_0_;
  return begin_body(chunked_ ? Stage::ChunkSize : Stage::Body);
}

void Parser::request(const char* data, Request& request) {
  head(data, request);
  request.body = body(data);
}

void Parser::head(const char* data, Request& request) {
  request.method = method_.in(data);
  request.target = target_.in(data);
  request.path = path_.in(data);
  request.query = query_.in(data);
  request.headers = headers(data);
  request.body = {};
  request.keep_alive = keep_alive();
}

}  // namespace stator::http
