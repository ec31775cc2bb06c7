#include "stator/app/rest/body_memory.h"

#include <algorithm>

#include "stator/http/body_reader.h"
#include "stator/http/message.h"
#include "stator/model/json_reader.h"

namespace stator::app {
namespace {

// As measured: creating an item of 90,000 numbers took 49 MB, one of 380 KB of text between 4 and 7.
constexpr std::size_t kBytesPerValue = 600;
constexpr std::size_t kBytesPerByte = 16;

}  // namespace

Result<std::string> inflate_body(std::string_view content_encoding, std::string_view body, std::size_t max_bytes,
                                 MemoryClaim& claim) {
  http::BodyReader reader(content_encoding, body, max_bytes);
  std::string out;
  while (true) {
    const auto piece = TRY(reader.next());
    if (piece.empty()) break;
    const auto needed = out.size() + piece.size() + http::kBodyPadding;
    if (needed > out.capacity()) {
      // What grows is there twice for a moment.
      const auto capacity = std::max(needed, 2 * out.capacity());
      if (capacity > MemoryBudget::kSmallBytes && !claim.resize(capacity + out.capacity())) {
        return Error{ErrorCode::Busy, "there is no memory left for the body"};
      }
      out.reserve(capacity);
    }
    out += piece;
  }
  return out;
}

std::size_t bytes_of_values(std::size_t json_bytes, std::size_t values) {
  return json_bytes * kBytesPerByte + values * kBytesPerValue;
}

std::size_t bytes_of_values(std::string_view json) {
  const auto count = [&](char c) { return static_cast<std::size_t>(std::count(json.begin(), json.end(), c)); };
  const auto values = 1 + count(',') + count('[') + count('{');
  return bytes_of_values(json.size(), std::min(values, model::kMostJsonValues));  // no more are built
}

}  // namespace stator::app
