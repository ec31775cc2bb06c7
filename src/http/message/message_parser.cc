#include "stator/http/message/message_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "stator/base/ascii.h"
#include "stator/base/trim.h"

namespace stator::http {
namespace {

constexpr std::size_t kMaxChunkLineBytes = 256;  // a size and extensions that nobody uses
constexpr std::size_t kMaxChunkSizeDigits = 16;
constexpr std::size_t kMaxLeadingEmptyLines = 2;  // some clients send a CRLF too many behind a body
constexpr std::size_t kRetainedHeaderSlots = 32;  // an idle connection keeps no more than this
constexpr std::string_view kBodyTooLarge = "the body is too large";
constexpr std::string_view kBareLineFeed = "a line must end in CRLF, not in a bare LF";

// RFC 9110 5.6.2: what methods and header names are made of.
constexpr std::array<bool, 256> kTokenChars = [] {
  std::array<bool, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_token_char(char c) { return kTokenChars[static_cast<unsigned char>(c)]; }

bool is_text_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}

// No control characters but tabs.  Eight bytes at a time, since most of a head is header values.
bool is_text(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = kOnes * 0x80;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const std::uint64_t deletes = word ^ (kOnes * 0x7f);
    const std::uint64_t below_space = (word - kOnes * 0x20) & ~word;
    const std::uint64_t is_delete = (deletes - kOnes) & ~deletes;
    if (((below_space | is_delete) & kHighs) == 0) [[likely]]
      continue;
    if (!std::all_of(at, at + 8, is_text_char)) return false;
  }
  return std::all_of(at, at + left, is_text_char);
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::size_t token_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_token_char(text[n])) ++n;
  return n;
}

void MessageParser::reset_message() {
  // A new vector: assigning {} would keep the capacity.
  if (slices_.capacity() > kRetainedHeaderSlots) slices_ = std::vector<HeaderSlices>();
  if (headers_.capacity() > kRetainedHeaderSlots) headers_ = std::vector<Header>();
  headers_.clear();
  forget_head();
  position_ = scanned_ = head_bytes_ = trailer_bytes_ = chunk_left_ = expected_bytes_ = 0;
  refusal_ = {};
}

void MessageParser::forget_head() {
  stage_ = Stage::StartLine;
  http_1_0_ = saw_close_ = saw_keep_alive_ = chunked_ = has_length_ = false;
  empty_lines_ = 0;
  body_size_ = 0;
  slices_.clear();
}

bool MessageParser::fail(int status, std::string_view reason) {
  stage_ = Stage::Failed;
  refusal_ = {status, reason};
  return false;
}

// Takes the next CRLF-terminated line, without its end.
MessageParser::Line MessageParser::next_line(const char* data, std::size_t size, std::string_view& line) {
  const std::size_t from = std::max(position_, scanned_);
  const auto* feed = from < size ? static_cast<const char*>(std::memchr(data + from, '\n', size - from)) : nullptr;
  if (feed == nullptr) {
    scanned_ = size;
    return Line::Missing;
  }
  const auto end = static_cast<std::size_t>(feed - data);
  if (end == position_ || data[end - 1] != '\r') {
    fail(400, kBareLineFeed);
    return Line::Bad;
  }
  line = {data + position_, end - 1 - position_};
  position_ = scanned_ = end + 1;
  return Line::Found;
}

MessageParser::Status MessageParser::parse(char* data, std::size_t& size) {
  while (stage_ == Stage::StartLine || stage_ == Stage::Headers) {
    const bool in_start_line = stage_ == Stage::StartLine;
    std::string_view line;
    const auto found = next_line(data, size, line);
    if (found == Line::Bad) return Status::Failed;
    // Whether the head is too long must not depend on how much of it has arrived.
    if ((found == Line::Found ? position_ : size) > limits_.header_bytes) {
      if (in_start_line) {
        refuse_long_start_line();
      } else {
        fail(431, "the headers are too long");
      }
      return Status::Failed;
    }
    if (found == Line::Missing) {
      if (in_start_line && !check_unfinished_start_line({data + position_, size - position_})) return Status::Failed;
      expected_bytes_ = size + 1;
      return Status::NeedMore;
    }
    bool ok = true;
    if (in_start_line) {
      ok = line.empty() ? ++empty_lines_ <= kMaxLeadingEmptyLines || fail(400, "too many empty lines")
                        : parse_start_line(data, line);
    } else {
      ok = line.empty() ? finish_head() : parse_header(data, line);
    }
    if (!ok) return Status::Failed;
  }
  switch (stage_) {
    case Stage::Complete: return Status::Complete;
    case Stage::Failed: return Status::Failed;
    case Stage::UntilEnd:
      if (size - head_bytes_ > body_limit_) {
        fail(413, kBodyTooLarge);
        return Status::Failed;
      }
      position_ = size;
      body_size_ = size - head_bytes_;
      expected_bytes_ = size + 1;
      return Status::NeedMore;
    case Stage::Body:
      if (size < expected_bytes_) return Status::NeedMore;
      position_ = expected_bytes_;
      stage_ = Stage::Complete;
      return Status::Complete;
    default: return parse_chunks(data, size);
  }
}

bool MessageParser::split_header(std::string_view line, std::string_view& name, std::string_view& value) {
  const std::size_t name_size = token_length(line);
  if (name_size == 0 || name_size == line.size() || line[name_size] != ':') {
    if (line.front() == ' ' || line.front() == '\t') return fail(400, "folded header lines are not accepted");
    return fail(400, "malformed header name");
  }
  name = line.substr(0, name_size);
  value = trim(line.substr(name_size + 1));
  return is_text(value) || fail(400, "control character in a header value");
}

bool MessageParser::parse_header(const char* data, std::string_view line) {
  std::string_view name, value;
  if (!split_header(line, name, value)) return false;
  if (slices_.size() >= limits_.header_count) return fail(431, "too many headers");
  slices_.push_back({slice(data, name), slice(data, value)});
  return parse_special_header(name, value);
}

bool MessageParser::parse_special_header(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 10:
      if (equal_ignoring_case(name, "connection")) parse_connection_options(value);
      return true;
    case 14: return !equal_ignoring_case(name, "content-length") || parse_content_length(value);
    case 17:
      if (!equal_ignoring_case(name, "transfer-encoding")) return true;
      if (chunked_) return fail(400, "more than one Transfer-Encoding");
      if (!equal_ignoring_case(value, "chunked")) return fail(501, "the only known Transfer-Encoding is chunked");
      chunked_ = true;
      return true;
    default: return true;
  }
}

void MessageParser::parse_connection_options(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    const auto option = trim(value.substr(0, comma));
    if (equal_ignoring_case(option, "close")) saw_close_ = true;
    if (equal_ignoring_case(option, "keep-alive")) saw_keep_alive_ = true;
    value = comma == std::string_view::npos ? std::string_view{} : value.substr(comma + 1);
  }
}

bool MessageParser::parse_content_length(std::string_view value) {
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
    return fail(400, "malformed Content-Length");
  }
  std::size_t length = 0;
  for (const char c : value) {
    const auto digit = static_cast<std::size_t>(c - '0');
    if (length > (std::numeric_limits<std::size_t>::max() - digit) / 10) {
      return fail(413, kBodyTooLarge);
    }
    length = length * 10 + digit;
  }
  if (has_length_ && length != body_size_) return fail(400, "contradicting Content-Length headers");
  has_length_ = true;
  body_size_ = length;
  return true;
}

bool MessageParser::limit_body(std::size_t bytes) {
  body_limit_ = std::min(limits_.body_bytes, bytes);
  return body_size_ + chunk_left_ <= body_limit_ || fail(413, kBodyTooLarge);
}

bool MessageParser::begin_body(Stage body) {
  if (!limit_body(limits_.body_bytes)) return false;
  head_bytes_ = position_;
  expected_bytes_ = head_bytes_ + body_size_;
  stage_ = body;
  return true;
}

bool MessageParser::parse_chunk_size(std::string_view line) {
  std::size_t digits = 0;
  std::uint64_t chunk = 0;
  for (; digits < line.size() && hex_digit(line[digits]) >= 0; ++digits) {
    if (digits == kMaxChunkSizeDigits) return fail(400, "malformed chunk size");
    chunk = chunk * 16 + static_cast<std::uint64_t>(hex_digit(line[digits]));
  }
  const auto extensions = line.substr(digits);
  if (digits == 0 || (!extensions.empty() && extensions.front() != ';') || !is_text(extensions)) {
    return fail(400, "malformed chunk size");
  }
  if (chunk > body_limit_ - body_size_) return fail(413, kBodyTooLarge);
  chunk_left_ = chunk;
  stage_ = chunk == 0 ? Stage::Trailers : Stage::ChunkData;
  return true;
}

// Moves the data of each chunk behind that of the last, over the sizes in between.
MessageParser::Status MessageParser::parse_chunks(char* data, std::size_t& size) {
  bool more = true;
  while (more && stage_ != Stage::Complete && stage_ != Stage::Failed) {
    std::string_view line;
    switch (stage_) {
      case Stage::ChunkSize:
      case Stage::Trailers: {
        const auto found = next_line(data, size, line);
        if (found == Line::Bad) break;
        const std::size_t line_bytes = found == Line::Found ? line.size() + 2 : size - position_;
        if (stage_ == Stage::ChunkSize) {
          if (line_bytes > kMaxChunkLineBytes) {
            fail(400, "malformed chunk size");
          } else if (found == Line::Found) {
            parse_chunk_size(line);
          }
        } else if (trailer_bytes_ + line_bytes > limits_.header_bytes) {
          fail(431, "the trailers are too long");
        } else if (found == Line::Found) {
          trailer_bytes_ += line_bytes;
          std::string_view name, value;
          if (line.empty()) {
            stage_ = Stage::Complete;
          } else {
            split_header(line, name, value);
          }
        }
        more = found == Line::Found;
        break;
      }
      case Stage::ChunkData: {
        const std::size_t taken = std::min(chunk_left_, size - position_);
        std::memmove(data + head_bytes_ + body_size_, data + position_, taken);
        body_size_ += taken;
        position_ += taken;
        chunk_left_ -= taken;
        if (chunk_left_ == 0) {
          stage_ = Stage::ChunkDataEnd;
        } else {
          more = false;
        }
        break;
      }
      case Stage::ChunkDataEnd:
        if ((size > position_ && data[position_] != '\r') || (size > position_ + 1 && data[position_ + 1] != '\n')) {
          fail(400, "a chunk is longer than its size says");
        } else if (size - position_ < 2) {
          more = false;
        } else {
          position_ += 2;
          stage_ = Stage::ChunkSize;
        }
        break;
      default: break;
    }
  }
  if (stage_ == Stage::Failed) return Status::Failed;
  if (stage_ == Stage::Complete) return Status::Complete;

  // Close the gap, so that a body in many tiny chunks does not need a buffer many times its size.
  const std::size_t gap = position_ - (head_bytes_ + body_size_);
  std::memmove(data + position_ - gap, data + position_, size - position_);
  size -= gap;
  position_ -= gap;
  scanned_ = std::max(position_, scanned_ - std::min(scanned_, gap));
  expected_bytes_ = size + chunk_left_ + kMaxChunkLineBytes;
  return Status::NeedMore;
}

std::span<const Header> MessageParser::headers(const char* data) {
  headers_.clear();
  headers_.reserve(slices_.size());
  for (const auto& slices : slices_) headers_.push_back({slices.name.in(data), slices.value.in(data)});
  return headers_;
}

}  // namespace stator::http
