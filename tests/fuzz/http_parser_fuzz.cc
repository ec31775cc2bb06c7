// The HTTP request parser on any bytes: it stays inside its buffer, keeps its limits, and reads the same requests
// whether the bytes come in one piece or in many.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "stator/http/message/parser.h"

namespace {

using stator::http::Parser;
using stator::http::Request;

constexpr stator::http::ParserLimits kLimits = {
    .header_bytes = 512, .header_count = 8, .target_bytes = 64, .body_bytes = 256};

void require(bool condition) {
  if (!condition) std::abort();
}

// Everything the parser makes of the bytes, as text.  `step` bytes are added at a time, each time in a buffer of
// exactly the size that is needed, so that the sanitizer sees every byte read beyond it.
std::string read_all(std::string_view wire, std::size_t step) {
  std::string story;
  Parser parser(kLimits);
  std::string pending;
  std::size_t given = 0;
  while (true) {
    std::size_t size = pending.size();
    const auto buffer = std::make_unique<char[]>(size);
    std::copy(pending.begin(), pending.end(), buffer.get());
    const auto status = parser.parse(buffer.get(), size);
    require(size <= pending.size());
    pending.assign(buffer.get(), size);
    if (status == Parser::Status::Failed) {
      require(parser.refusal().status >= 400 && !parser.refusal().reason.empty());
      return story + "refused";
    }
    if (status == Parser::Status::Complete) {
      Request request;
      parser.request(buffer.get(), request);
      require(parser.consumed() <= size && request.body.size() <= kLimits.body_bytes);
      require(request.headers.size() <= kLimits.header_count && request.target.size() <= kLimits.target_bytes);
      require(!request.path.empty() && !request.method.empty());
      story.append(request.method).append(" ").append(request.target).append(" ");
      story.append(request.path)
          .append(" ")
          .append(request.query)
          .append(request.keep_alive ? " stays\n" : " leaves\n");
      for (const auto& header : request.headers)
        story.append(header.name).append(":").append(header.value).append("\n");
      story.append(request.body).append("\n");
      pending.erase(0, parser.consumed());
      parser.reset();
      continue;
    }
    // Incomplete input is bounded too: a head, a body, and one line of chunk framing or the trailers.
    require(size <= 2 * kLimits.header_bytes + kLimits.body_bytes + 256 || pending.size() <= step);
    if (given == wire.size()) return story + "waiting";
    const auto more = wire.substr(given, step);
    pending.append(more);
    given += more.size();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view wire(reinterpret_cast<const char*>(data), size);
  const std::string whole = read_all(wire, size + 1);
  require(read_all(wire, 1) == whole);
  require(read_all(wire, 7) == whole);
  return 0;
}
