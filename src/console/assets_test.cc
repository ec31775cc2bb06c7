#include "stator/console/assets.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "stator/http/message/content_coding.h"

namespace stator::console {
namespace {

struct AssetsTest : ::testing::Test {
  static http::Response answer_from(std::span<const Asset> from, std::string_view path,
                                    const std::vector<http::Header>& headers = {}) {
    http::Request request{
        .method = "GET", .target = path, .path = path, .query = {}, .headers = headers, .body = {}, .keep_alive = true};
    auto answer = page_answer(from, request);
    return answer ? std::move(*answer) : http::Response{.status = 404, .content_type = {}, .headers = {}, .body = {}};
  }
  http::Response get(std::string_view path, const std::vector<http::Header>& headers = {}) const {
    return answer_from(assets, path, headers);
  }

  const std::string page = http::encode_content(http::ContentCoding::Gzip, "<p>page</p>");
  const std::string script = http::encode_content(http::ContentCoding::Gzip, "run()");
  const std::array<Asset, 2> assets = {
      Asset{.name = "index.html", .content_type = "text/html", .etag = "\"p1\"", .gzip = page, .size = 11},
      Asset{.name = "main-AB12.js", .content_type = "text/javascript", .etag = "\"s1\"", .gzip = script, .size = 5}};
};

TEST_F(AssetsTest, EveryStateOfThePageIsThePage) {
  for (const auto* path : {"/", "/tables", "/tables/a/items", "/sessions", "/tables/orders.v2"}) {
    EXPECT_EQ(get(path).body, "<p>page</p>") << path;
  }
  for (const auto* path : {"/favicon.ico", "/a.b/c", "/api/x", "/api", "/session", "/console/none", "/health",
                           "/metrics", "/systems/x", "/assets/", "/assets/index.html", "/assets/none.js"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
}

TEST_F(AssetsTest, ThePageIsAskedForAgainAndFilesNeverAre) {
  EXPECT_NE(get("/").headers.find("no-cache"), std::string::npos);
  EXPECT_NE(get("/").headers.find("Content-Security-Policy: default-src 'none'; script-src 'self';"),
            std::string::npos);
  const auto file = get("/assets/main-AB12.js");
  EXPECT_EQ(file.body, "run()");
  EXPECT_EQ(file.content_type, "text/javascript");
  EXPECT_NE(file.headers.find("immutable"), std::string::npos);
}

TEST_F(AssetsTest, AClientThatTakesGzipGetsTheBytesAsTheyAre) {
  const auto file = get("/assets/main-AB12.js", {{"Accept-Encoding", "gzip, deflate, br"}});
  EXPECT_EQ(file.body, script);
  EXPECT_NE(file.headers.find("Content-Encoding: gzip\r\n"), std::string::npos);
}

TEST_F(AssetsTest, WhoHasItAlreadyIsToldSo) {
  EXPECT_EQ(get("/", {{"If-None-Match", "W/\"p1\""}}).status, 304);
  EXPECT_EQ(get("/", {{"If-None-Match", "\"p0\""}}).status, 200);
}

TEST_F(AssetsTest, AProgramWithoutTheConsoleSaysSo) {
  EXPECT_NE(answer_from({}, "/tables").body.find("The console is not in this program"), std::string::npos);
  EXPECT_EQ(answer_from({}, "/assets/main-AB12.js").status, 404);
}

}  // namespace
}  // namespace stator::console
