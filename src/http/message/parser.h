#pragma once

#include <string_view>

#include "stator/http/message/message.h"
#include "stator/http/message/message_parser.h"

namespace stator::http {

// An incremental parser of requests.
class Parser final : public MessageParser {
 public:
  explicit Parser(ParserLimits limits) : MessageParser(limits) {}

  // Ready for the next request.
  void reset();

  // Fills in the request, once Complete, pointing into `data`, the buffer as it is now.  Valid until the next reset().
  void request(const char* data, Request& request);

  // The head has been read, and the body has not.
  bool in_body() const { return stage_ >= Stage::Body && stage_ < Stage::Complete; }
  // The body comes in chunks, and may be of any length.
  bool has_unknown_length() const { return chunked_; }
  // The request without its body, while in_body().
  void head(const char* data, Request& request);
  // The head has been read, and the client waits for "100 Continue" before it sends the body.
  bool expects_continue() const { return expects_continue_ && in_body(); }
  bool head_request() const { return head_request_; }

 private:
  bool parse_start_line(const char* data, std::string_view line) override;
  bool check_unfinished_start_line(std::string_view text) override;
  bool refuse_long_start_line() override;
  bool parse_special_header(std::string_view name, std::string_view value) override;
  bool finish_head() override;
  bool parse_target(const char* data, std::string_view target);

  bool has_host_ = false;
  bool expects_continue_ = false;
  bool head_request_ = false;
  Slice method_, target_, path_, query_;
};

}  // namespace stator::http
