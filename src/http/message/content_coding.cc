#include "stator/http/message/content_coding.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <new>

#include "stator/base/assert.h"
#include "stator/base/trim.h"
#include "stator/http/message/inflation.h"
#include "stator/http/message/message.h"

namespace stator::http {
namespace {

constexpr std::size_t kFirstOutputBytes = 16 << 10;

// Takes the text up to the separator off the front.
std::string_view take_until(std::string_view& text, char separator) {
  const auto at = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

std::optional<ContentCoding> coding_of(std::string_view name) {
  if (equal_ignoring_case(name, "gzip")) return ContentCoding::Gzip;
  if (equal_ignoring_case(name, "deflate")) return ContentCoding::Deflate;
  if (equal_ignoring_case(name, "identity")) return ContentCoding::Identity;
  return std::nullopt;
}

// From 0 to 1.  The service takes the first "q=" wherever it stands, and what is no number for 1.
double quality_of(std::string_view parameters) {
  const auto at = parameters.find("q=");
  if (at == parameters.npos) return 1;
  parameters.remove_prefix(at + 2);
  const auto text = trim(take_until(parameters, ';'));
  double quality = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return 1;
  return std::clamp(quality, 0.0, 1.0);
}

// Makes room for `bytes` and the padding.  While a text grows, it is there twice.
Result<void> make_room(std::string& out, std::size_t bytes, MemoryClaim* claim) {
  const auto held = bytes + kBodyPadding + out.capacity();
  if (claim != nullptr && held > MemoryBudget::kSmallBytes && !claim->resize(held)) {
    return Error{ErrorCode::Busy, "there is no memory left for the body"};
  }
  out.reserve(bytes + kBodyPadding);
  return {};
}

Result<std::string> inflate_all(ContentCoding coding, std::string_view body, std::size_t max_bytes,
                                MemoryClaim* claim) {
  Inflation inflation(coding, body);
  std::string out;
  for (std::size_t size = 0;;) {
    if (size == out.size()) {
      // One byte beyond the limit tells a body that fills it from one that passes it.
      if (size > max_bytes) return inflated_too_large(max_bytes);
      const auto larger = std::min(std::max(kFirstOutputBytes, size * 2), max_bytes + 1);
      TRY(make_room(out, larger, claim));
      out.resize(larger);
    }
    const auto read = TRY(inflation.read(out.data() + size, out.size() - size));
    size += read;
    if (read > 0) continue;
    out.resize(size);
    return out;
  }
}

}  // namespace

std::string_view name_of(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::Identity: return "";
    case ContentCoding::Gzip: return "gzip";
    case ContentCoding::Deflate: return "deflate";
  }
  return "";
}

ContentCoding accepted_coding(std::string_view accept_encoding) {
  constexpr double kNotNamed = -1;
  struct Candidate {
    ContentCoding coding;
    double quality;
  };
  // In the order in which they were named.
  Candidate candidates[2] = {};
  std::size_t count = 0;
  double others = kNotNamed;
  while (!accept_encoding.empty()) {
    auto parameters = take_until(accept_encoding, ',');
    const auto name = trim(take_until(parameters, ';'));
    const double quality = quality_of(parameters);
    if (name == "*") others = std::max(others, quality);
    const auto coding = coding_of(name);
    if (!coding || *coding == ContentCoding::Identity) continue;
    const auto end = candidates + count;
    const auto known = std::find_if(candidates, end, [&](const Candidate& c) { return c.coding == *coding; });
    if (known == end) {
      candidates[count++] = {*coding, quality};
    } else {
      known->quality = std::max(known->quality, quality);
    }
  }
  for (const auto coding : {ContentCoding::Gzip, ContentCoding::Deflate}) {
    const auto end = candidates + count;
    const bool named = std::any_of(candidates, end, [&](const Candidate& c) { return c.coding == coding; });
    if (!named && others != kNotNamed) candidates[count++] = {coding, others};
  }
  const auto better = [](const Candidate& a, const Candidate& b) { return a.quality < b.quality; };
  const auto best = std::max_element(candidates, candidates + count, better);  // the first of equals
  return count == 0 || best->quality <= 0 ? ContentCoding::Identity : best->coding;
}

std::optional<ContentCoding> content_coding_of(std::string_view content_encoding) {
  const auto name = trim(content_encoding);
  return name.empty() ? ContentCoding::Identity : coding_of(name);
}

Error unknown_coding() { return {ErrorCode::Internal, "The request's Content-Encoding is not supported"}; }

Error body_too_large(std::size_t max_bytes) {
  return {ErrorCode::LimitExceeded, fmt::format("the request's body is larger than {} bytes", max_bytes)};
}

Error inflated_too_large(std::size_t max_bytes) {
  auto error = body_too_large(max_bytes);
  error.message += " once inflated";
  return error;
}

Result<std::string> decode_content(std::string_view content_encoding, std::string_view body, std::size_t max_bytes,
                                   MemoryClaim* claim) {
  const auto coding = content_coding_of(content_encoding);
  if (!coding) return unknown_coding();
  if (*coding != ContentCoding::Identity) return inflate_all(*coding, body, max_bytes, claim);
  if (body.size() > max_bytes) return body_too_large(max_bytes);
  std::string copy;
  TRY(make_room(copy, body.size(), claim));
  return copy.append(body);
}

std::string encode_content(ContentCoding coding, std::string_view body) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits(coding), MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(body.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  STATOR_ASSERT(status == Z_STREAM_END, "deflateBound is room enough");
  return out;
}

bool compress(Response& response, std::string_view accept_encoding, std::size_t above) {
  if (response.body.size() <= above) return false;
  const auto coding = accepted_coding(accept_encoding);
  if (coding == ContentCoding::Identity) return false;
  response.body = encode_content(coding, response.body);
  response.headers += fmt::format("Content-Encoding: {}\r\n", name_of(coding));
  return true;
}

}  // namespace stator::http
