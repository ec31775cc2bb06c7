#include "stator/http/client/response_parser.h"

#include <algorithm>

#include "stator/base/ascii.h"

namespace stator::http {
namespace {

constexpr std::string_view kVersion = "HTTP/1.";  // and 0 or 1
constexpr std::string_view kNotHttp = "the answer is not HTTP/1.1";
constexpr int kSwitchingProtocols = 101;

}  // namespace

void ResponseParser::reset(To request) {
  reset_message();
  request_ = request;
  status_ = 0;
  ends_with_connection_ = false;
}

// HTTP/1.1 200 OK, where the reason may be missing.
bool ResponseParser::parse_start_line(const char* /*data*/, std::string_view line) {
  const bool well_formed = line.size() >= 12 && line.starts_with(kVersion) && (line[7] == '0' || line[7] == '1') &&
                           line[8] == ' ' && std::all_of(&line[9], &line[9] + 3, is_digit) &&
                           (line.size() == 12 || line[12] == ' ');
  if (!well_formed) return fail(400, kNotHttp);
  http_1_0_ = line[7] == '0';
  status_ = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  if (status_ < 100 || status_ == kSwitchingProtocols)
    return fail(400, "the answer has a status that nobody asked for");
  stage_ = Stage::Headers;
  return true;
}

bool ResponseParser::check_unfinished_start_line(std::string_view text) {
  const auto begun = text.substr(0, kVersion.size());
  return begun == "\r" || kVersion.starts_with(begun) || fail(400, kNotHttp);
}

bool ResponseParser::refuse_long_start_line() { return fail(400, kNotHttp); }

bool ResponseParser::finish_head() {
  if (status_ < 200) {
    forget_head();
    return true;
  }
  if (chunked_ && has_length_) return fail(400, "Content-Length and Transfer-Encoding exclude each other");
  if (chunked_ && http_1_0_) return fail(400, "HTTP/1.0 has no Transfer-Encoding");
  if (request_ == To::Head || status_ == 204 || status_ == 304) {
    body_size_ = 0;
    return begin_body(Stage::Body);
  }
  if (chunked_) return begin_body(Stage::ChunkSize);
  ends_with_connection_ = !has_length_;
  return begin_body(has_length_ ? Stage::Body : Stage::UntilEnd);
}

bool ResponseParser::finish() {
  if (stage_ == Stage::UntilEnd) stage_ = Stage::Complete;
  return stage_ == Stage::Complete;
}

ClientResponse ResponseParser::response(const char* data) {
  ClientResponse response{.status = status_, .headers = {}, .body = std::string(body(data))};
  for (const auto& header : headers(data)) response.headers.emplace_back(header.name, header.value);
  return response;
}

}  // namespace stator::http
