#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "stator/http/message/message.h"

namespace stator::console {

// One file of the page, as the build has bundled it from console/.
struct Asset {
  std::string_view name;  // index.html, or a name with a hash of the content, which is served below /assets/
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view gzip;  // the compressed content
  std::size_t size;       // of the content
};

// The files inside this program; none when it was built without its console (STATOR_CONSOLE=OFF).
std::span<const Asset> assets();

// The answer to a GET of the page: index.html for `/` and for every path that is a state of the page, files below
// /assets/. Nullopt: the path belongs to something else.  Without assets, a page that says so.
std::optional<http::Response> page_answer(std::span<const Asset> assets, const http::Request& request);

}  // namespace stator::console
