// The HTTP response parser on any bytes: it stays inside its buffer, keeps its limits, and reads the same response
// whether the bytes come in one piece or in many.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "stator/http/client/response_parser.h"

namespace {

using stator::http::ResponseParser;

constexpr stator::http::ParserLimits kLimits = {.header_bytes = 512, .header_count = 8, .body_bytes = 256};

void require(bool condition) {
  if (!condition) std::abort();
}

// The result of the parser for the bytes when the server closes behind them, as text.  `step` bytes are added at a
// time, each time in a buffer of exactly the size that is needed, so that the sanitizer sees every byte read beyond it.
std::string read(std::string_view wire, std::size_t step, ResponseParser::To to) {
  ResponseParser parser(kLimits);
  parser.reset(to);
  std::string pending;
  while (true) {
    std::size_t size = pending.size();
    const auto buffer = std::make_unique<char[]>(size);
    std::copy(pending.begin(), pending.end(), buffer.get());
    const auto status = parser.parse(buffer.get(), size);
    require(size <= pending.size());
    pending.assign(buffer.get(), size);
    if (status == ResponseParser::Status::Failed) {
      require(!parser.refusal().reason.empty());
      return "refused";
    }
    if (status == ResponseParser::Status::NeedMore && !wire.empty()) {
      const auto more = wire.substr(0, step);
      pending.append(more);
      wire.remove_prefix(more.size());
      continue;
    }
    if (status == ResponseParser::Status::NeedMore && !parser.finish()) return "waiting";
    const auto response = parser.response(buffer.get());
    require(parser.consumed() <= size && response.body.size() <= kLimits.body_bytes);
    require(response.headers.size() <= kLimits.header_count && response.status >= 200);
    std::string story = std::to_string(response.status) + (parser.reusable() ? " stays\n" : " leaves\n");
    for (const auto& [name, value] : response.headers) story.append(name).append(":").append(value).append("\n");
    return story + response.body;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view wire(reinterpret_cast<const char*>(data), size);
  for (const auto to : {ResponseParser::To::Other, ResponseParser::To::Head}) {
    const std::string whole = read(wire, size + 1, to);
    require(read(wire, 1, to) == whole);
    require(read(wire, 7, to) == whole);
  }
  return 0;
}
