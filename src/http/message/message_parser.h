#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stator/http/message/message.h"

namespace stator::http {

struct ParserLimits {
  std::size_t header_bytes = 16 << 10;  // start line and headers, and again the trailers of a chunked body
  std::size_t header_count = 100;
  std::size_t target_bytes = 8 << 10;  // of a request
  std::size_t body_bytes = 17 << 20;   // decoded
};

// Why a message was refused.
struct MessageRefusal {
  int status = 0;           // of the server's answer
  std::string_view reason;  // static storage
};

// The common part of HTTP/1.x requests and responses (RFC 9112): lines, headers, and a body of known length or in
// chunks.
//
// It works in place on the caller's buffer and keeps offsets only, so the buffer may move between calls.  It is strict
// where programs that disagree can be played against each other: lines end in CRLF, a message has one length
// (Content-Length and Transfer-Encoding together are refused), no folded headers, no space before a colon, no control
// characters.  A chunked body is decoded in place; its extensions and trailers are checked and dropped.
//
// Confined to one connection.
class MessageParser {
 public:
  enum class Status : std::uint8_t {
    NeedMore,  // call again when more bytes have arrived
    Complete,  // the message and consumed() are valid
    Failed,    // refusal() says why; only reset() is allowed then
  };

  // Goes on with the message in data[0, size).  `data` holds the same bytes as in the last call, and more.
  // Decoding a chunked body removes bytes: `size` is then smaller on return.
  Status parse(char* data, std::size_t& size);

  // Bytes of the buffer that belong to the message, once Complete; the next one begins behind them.
  std::size_t consumed() const { return position_; }
  const MessageRefusal& refusal() const { return refusal_; }

  // Accepts no larger body than this.  False, and Failed, when the message announces more or has brought more already.
  bool limit_body(std::size_t bytes);

  // While NeedMore: the buffer size at which the message can be complete, as far as is known.
  std::size_t expected_bytes() const { return expected_bytes_; }
  bool http_1_0() const { return http_1_0_; }

 protected:
  enum class Stage : std::uint8_t {
    StartLine,
    Headers,
    Body,      // of known length
    UntilEnd,  // the body is all that comes
    ChunkSize,
    ChunkData,
    ChunkDataEnd,  // the CRLF behind a chunk's data
    Trailers,
    Complete,
    Failed,
  };
  // Offsets from the start of the message, so that a moved buffer costs nothing.
  struct Slice {
    std::uint32_t offset = 0, size = 0;
    std::string_view in(const char* data) const { return {data + offset, size}; }
  };
  static Slice slice(const char* data, std::string_view part) {
    return {static_cast<std::uint32_t>(part.data() - data), static_cast<std::uint32_t>(part.size())};
  }

  explicit MessageParser(ParserLimits limits) : limits_(limits) {}
  ~MessageParser() = default;
  MessageParser(const MessageParser&) = default;
  MessageParser& operator=(const MessageParser&) = default;

  // The start line, which differs.  All three fail() and return false when it is wrong.
  virtual bool parse_start_line(const char* data, std::string_view line) = 0;
  virtual bool check_unfinished_start_line(std::string_view text) = 0;
  virtual bool refuse_long_start_line() = 0;
  // The headers that decide where a message ends and whether another may follow.
  virtual bool parse_special_header(std::string_view name, std::string_view value);
  // Behind the last header.  Calls begin_body(), or fails.
  virtual bool finish_head() = 0;

  void reset_message();
  void forget_head();  // for another start line behind this head
  bool begin_body(Stage body);
  bool fail(int status, std::string_view reason);
  bool keep_alive() const { return !saw_close_ && (!http_1_0_ || saw_keep_alive_); }
  std::span<const Header> headers(const char* data);  // once Complete; valid until the next reset_message()
  std::string_view body(const char* data) const { return {data + head_bytes_, body_size_}; }

  ParserLimits limits_;
  Stage stage_ = Stage::StartLine;
  bool http_1_0_ = false;
  bool chunked_ = false, has_length_ = false;
  std::size_t body_size_ = 0;  // decoded so far, or the announced length
  std::size_t body_limit_ = 0;

 private:
  struct HeaderSlices {
    Slice name, value;
  };
  enum class Line : std::uint8_t { Found, Missing, Bad };

  Line next_line(const char* data, std::size_t size, std::string_view& line);
  bool parse_header(const char* data, std::string_view line);
  bool split_header(std::string_view line, std::string_view& name, std::string_view& value);
  bool parse_chunk_size(std::string_view line);
  Status parse_chunks(char* data, std::size_t& size);
  void parse_connection_options(std::string_view value);
  bool parse_content_length(std::string_view value);

  bool saw_close_ = false, saw_keep_alive_ = false;
  std::size_t position_ = 0;  // everything before it has been understood
  std::size_t scanned_ = 0;   // no line feed in [position_, scanned_)
  std::size_t head_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::size_t empty_lines_ = 0;  // before the start line
  std::size_t chunk_left_ = 0;
  std::size_t expected_bytes_ = 0;

  std::vector<HeaderSlices> slices_;
  std::vector<Header> headers_;
  MessageRefusal refusal_;
};

// RFC 9110 5.6.2: the number of characters at the front that methods and header names can have.
std::size_t token_length(std::string_view text);

}  // namespace stator::http
