#pragma once

#include <cstdint>
#include <string_view>

#include "stator/http/client/client.h"
#include "stator/http/message/message_parser.h"

namespace stator::http {

// An incremental parser of responses.  Interim ones (1xx) are skipped.
class ResponseParser final : public MessageParser {
 public:
  explicit ResponseParser(ParserLimits limits) : MessageParser(limits) {}

  enum class To : std::uint8_t { Head, Other };
  // Ready for the response to a request; a response to HEAD has no body, even if its headers announce one.
  void reset(To request);

  // The server has closed the connection.  Whether the response is Complete with that: one without a length ends there.
  bool finish();

  // The response, once Complete, copied out of `data`, the buffer as it is now.
  ClientResponse response(const char* data);
  // Another request may be sent on the connection.
  bool reusable() const { return keep_alive() && !ends_with_connection_; }

 private:
  bool parse_start_line(const char* data, std::string_view line) override;
  bool check_unfinished_start_line(std::string_view text) override;
  bool refuse_long_start_line() override;
  bool finish_head() override;

  To request_ = To::Other;
  int status_ = 0;
  bool ends_with_connection_ = false;
};

}  // namespace stator::http
