#include "stator/http/content_coding.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>

#include "stator/base/assert.h"
#include "stator/http/message.h"

namespace stator::http {
namespace {

constexpr std::size_t kFirstOutputBytes = 16 << 10;
// zlib: 15 bits of window; 16 more mean gzip's header and trailer instead of its own.
constexpr int kZlibWindow = 15;
constexpr int kGzipWindow = 15 + 16;

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

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

Error undecodable(std::string_view coding) {
  return {ErrorCode::Internal, fmt::format("The request's body is not valid {}", coding)};
}

// Wraps z_stream's C life.
class Inflater {
 public:
  explicit Inflater(int window) {
    if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

Result<std::string> inflate_all(ContentCoding coding, std::string_view body, std::size_t max_bytes) {
  Inflater inflater(coding == ContentCoding::Gzip ? kGzipWindow : kZlibWindow);
  auto& stream = inflater.stream();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::string out;
  std::size_t size = 0;
  while (true) {
    if (size == out.size()) {
      // One byte beyond the limit tells a body that fills it from one that passes it.
      if (size > max_bytes) {
        return Error{ErrorCode::LimitExceeded, fmt::format("the request's body is larger than {} bytes", max_bytes)};
      }
      out.resize(std::min(std::max(kFirstOutputBytes, size * 2), max_bytes + 1));
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = static_cast<uInt>(out.size() - size);
    const int status = inflate(&stream, Z_NO_FLUSH);
    size = out.size() - stream.avail_out;
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0 && size <= max_bytes) break;
      // gzip allows several members in a row; anything else behind the end is damage.
      const bool another = stream.avail_in > 0 && coding == ContentCoding::Gzip;
      if (stream.avail_in > 0 && (!another || inflateReset(&stream) != Z_OK)) return undecodable(name_of(coding));
    } else if (status != Z_OK && !(status == Z_BUF_ERROR && stream.avail_out == 0)) {
      return undecodable(name_of(coding));
    }
  }
  out.resize(size);
  out.reserve(size + kBodyPadding);
  return out;
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

Result<std::string> decode_content(std::string_view content_encoding, std::string_view body, std::size_t max_bytes) {
  const auto coding = coding_of(trim(content_encoding));
  if (!coding) return Error{ErrorCode::Internal, "The request's Content-Encoding is not supported"};
  if (*coding != ContentCoding::Identity) return inflate_all(*coding, body, max_bytes);
  std::string copy;
  copy.reserve(body.size() + kBodyPadding);
  return copy.append(body);
}

std::string encode_content(ContentCoding coding, std::string_view body) {
  z_stream stream{};
  const int window = coding == ContentCoding::Gzip ? kGzipWindow : kZlibWindow;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
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

}  // namespace stator::http
