#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stator/http/message.h"

namespace stator::http {

struct ParserLimits {
  std::size_t header_bytes = 16 << 10;  // request line and headers, and again the trailers of a chunked body
  std::size_t header_count = 100;
  std::size_t target_bytes = 8 << 10;
  std::size_t body_bytes = 17 << 20;  // decoded
};

// Why a request was refused.
struct Refusal {
  int status = 0;
  std::string_view reason;  // static storage
};

// An incremental HTTP/1.x request parser (RFC 9112).
//
// It works in place on the caller's buffer and keeps offsets only, so the buffer may move between calls.  It is strict
// where servers that disagree can be played against each other: lines end in CRLF, a request has one length
// (Content-Length and Transfer-Encoding together are refused), no folded headers, no space before a colon, no control
// characters.  A chunked body is decoded in place; its extensions and trailers are checked and dropped.
//
// Confined to one connection.
class Parser {
 public:
  enum class Status : std::uint8_t {
    NeedMore,  // call again when more bytes have arrived
    Complete,  // request() and consumed() are valid
    Failed,    // refusal() says why; only reset() is allowed then
  };

  explicit Parser(ParserLimits limits) : limits_(limits) {}

  // Ready for the next request.
  void reset();

  // Goes on with the request whose bytes are data[0, size).  `data` holds the same bytes as in the last call, and more.
  // Decoding a chunked body removes bytes: `size` is then smaller on return.
  Status parse(char* data, std::size_t& size);

  // Fills in the request, once Complete, pointing into `data`, the buffer as it is now.  Valid until the next reset().
  void request(const char* data, Request& request);

  // Bytes of the buffer that belong to the request, once Complete; the next one begins behind them.
  std::size_t consumed() const { return position_; }
  const Refusal& refusal() const { return refusal_; }

  // While NeedMore: the buffer size at which the request can be complete, as far as is known.
  std::size_t expected_bytes() const { return expected_bytes_; }
  // The head has been read, and the client waits for "100 Continue" before it sends the body.
  bool expects_continue() const { return expects_continue_ && stage_ >= Stage::Body && stage_ != Stage::Failed; }
  bool http_1_0() const { return http_1_0_; }
  bool head_request() const { return head_request_; }

 private:
  enum class Stage : std::uint8_t {
    RequestLine,
    Headers,
    Body,  // of known length
    ChunkSize,
    ChunkData,
    ChunkDataEnd,  // the CRLF behind a chunk's data
    Trailers,
    Complete,
    Failed,
  };
  // Offsets from the start of the request, so that a moved buffer costs nothing.
  struct Slice {
    std::uint32_t offset = 0, size = 0;
    std::string_view in(const char* data) const { return {data + offset, size}; }
  };
  struct HeaderSlices {
    Slice name, value;
  };
  enum class Line : std::uint8_t { Found, Missing, Bad };

  Line next_line(const char* data, std::size_t size, std::string_view& line);
  bool parse_request_line(const char* data, std::string_view line);
  bool parse_target(const char* data, std::string_view target);
  bool parse_header(const char* data, std::string_view line);
  bool parse_special_header(std::string_view name, std::string_view value);
  bool split_header(std::string_view line, std::string_view& name, std::string_view& value);
  bool finish_head();
  bool parse_chunk_size(std::string_view line);
  Status parse_chunks(char* data, std::size_t& size);
  bool check_unfinished_request_line(std::string_view text);
  void parse_connection_options(std::string_view value);
  bool parse_content_length(std::string_view value);
  static Slice slice(const char* data, std::string_view part) {
    return {static_cast<std::uint32_t>(part.data() - data), static_cast<std::uint32_t>(part.size())};
  }
  bool fail(int status, std::string_view reason);

  ParserLimits limits_;
  Stage stage_ = Stage::RequestLine;
  bool http_1_0_ = false;
  bool keep_alive_ = true;
  bool saw_close_ = false, saw_keep_alive_ = false;
  bool chunked_ = false;
  bool has_host_ = false, has_length_ = false;
  bool expects_continue_ = false;
  bool head_request_ = false;

  std::size_t position_ = 0;  // everything before it has been understood
  std::size_t scanned_ = 0;   // no line feed in [position_, scanned_)
  std::size_t head_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  std::size_t empty_lines_ = 0;  // before the request line
  std::size_t body_size_ = 0;    // decoded so far, or the announced length
  std::size_t chunk_left_ = 0;
  std::size_t expected_bytes_ = 0;

  Slice method_, target_, path_, query_;
  std::vector<HeaderSlices> slices_;
  std::vector<Header> headers_;
  Refusal refusal_;
};

}  // namespace stator::http
