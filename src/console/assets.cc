#include "stator/console/assets.h"

#include <algorithm>
#include <array>
#include <string>

#include "stator/http/browser/page.h"
#include "stator/http/message/content_coding.h"

namespace stator::console {
namespace {

constexpr std::string_view kIndex = "index.html";
constexpr std::string_view kAssets = "/assets/";
// Paths of the server.  All other paths are states of the page, except files that browsers ask for at the top:
// /favicon.ico.  Below, a dot is part of a name: /tables/orders.v2.
constexpr std::array<std::string_view, 7> kReserved = {"/api",    "/assets",  "/session", "/console",
                                                       "/health", "/metrics", "/systems"};
constexpr std::string_view kWithoutConsole =
    "<!doctype html><html lang=\"en\"><title>Stator</title><h1>The console is not in this program</h1>"
    "<p>It was built without its console (<code>./run --no-console</code>). The DynamoDB API works. "
    "Build again with <code>./run</code> to have the console here.</p></html>\n";

// The page loads nothing from elsewhere and runs no script that is not a file of its own.
constexpr std::string_view kIndexHeaders =
    "Cache-Control: no-cache\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";
constexpr std::string_view kAssetHeaders = "Cache-Control: public, max-age=31536000, immutable\r\n";

bool is_state_of_the_page(std::string_view path) {
  const auto reserved = [&](std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  };
  if (!path.starts_with('/') || std::any_of(kReserved.begin(), kReserved.end(), reserved)) return false;
  return path.substr(0, path.find('/', 1)).find('.') == std::string_view::npos;
}

// `"a", W/"b"` names the etag, or is `*`.  Proxies weaken a tag when they compress.
bool names(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

http::Response answer(const Asset& asset, std::string_view headers, const http::Request& request) {
  http::Response response{.status = 200,
                          .content_type = asset.content_type,
                          .headers = std::string(headers) + "ETag: " + std::string(asset.etag) +
                                     "\r\nVary: Accept-Encoding\r\nX-Content-Type-Options: nosniff\r\n",
                          .body = {}};
  if (names(request.header("If-None-Match"), asset.etag)) {
    response.status = 304;
    response.content_type = {};
  } else if (http::accepted_coding(request.header("Accept-Encoding")) == http::ContentCoding::Gzip) {
    response.headers += "Content-Encoding: gzip\r\n";
    response.body = asset.gzip;
  } else if (auto content = http::decode_content("gzip", asset.gzip, asset.size)) {
    response.body = std::move(*content);
  } else {
    return {.status = 500, .content_type = {}, .headers = {}, .body = {}};
  }
  return response;
}

}  // namespace

std::optional<http::Response> page_answer(std::span<const Asset> assets, const http::Request& request) {
  const bool below = request.path.starts_with(kAssets);
  if (!below && !is_state_of_the_page(request.path)) return std::nullopt;
  if (assets.empty()) return below ? std::nullopt : std::optional(http::page_answer(kWithoutConsole));
  const auto name = below ? request.path.substr(kAssets.size()) : kIndex;
  if (below && name == kIndex) return std::nullopt;
  const auto found = std::find_if(assets.begin(), assets.end(), [&](const Asset& asset) { return asset.name == name; });
  if (found == assets.end()) return std::nullopt;
  return answer(*found, below ? kAssetHeaders : kIndexHeaders, request);
}

}  // namespace stator::console
