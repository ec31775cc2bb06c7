#include "stator/http/message/parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stator/base/random.h"

namespace stator::http {
namespace {

using namespace std::string_literals;

struct Parsed {
  Parser::Status status = Parser::Status::NeedMore;
  int refused = 0;
  std::string method, target, path, query, body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool keep_alive = false;
  std::size_t left = 0;  // bytes behind the request

  friend bool operator==(const Parsed&, const Parsed&) = default;
};

// Parses the first request in `wire`, giving the parser `step` more bytes at a time, in a buffer that moves every time.
Parsed parse(std::string_view wire, std::size_t step = std::string_view::npos, ParserLimits limits = {}) {
  Parser parser(limits);
  std::string buffer;
  std::size_t given = 0;
  Parsed parsed;
  do {
    const auto more = wire.substr(given, step);
    given += more.size();
    std::string moved = buffer;
    moved += more;
    std::size_t size = moved.size();
    parsed.status = parser.parse(moved.data(), size);
    moved.resize(size);
    buffer = std::move(moved);
  } while (parsed.status == Parser::Status::NeedMore && given < wire.size());
  if (parsed.status == Parser::Status::Failed) parsed.refused = parser.refusal().status;
  if (parsed.status == Parser::Status::Complete) {
    Request request;
    parser.request(buffer.data(), request);
    parsed.method = request.method;
    parsed.target = request.target;
    parsed.path = request.path;
    parsed.query = request.query;
    parsed.body = request.body;
    parsed.keep_alive = request.keep_alive;
    for (const auto& header : request.headers) parsed.headers.emplace_back(header.name, header.value);
    parsed.left = buffer.size() - parser.consumed() + (wire.size() - given);
  }
  return parsed;
}

std::string get(std::string_view headers) { return "GET / HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n"; }
std::string chunked(std::string_view body) { return get("Transfer-Encoding: chunked\r\n") + std::string(body); }

TEST(Parser, ReadsARequestWithABody) {
  const auto parsed =
      parse("POST /a/b?x=1&y HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Padded: \t a b \t\r\ncontent-LENGTH: 5\r\n\r\nhello");
  ASSERT_EQ(parsed.status, Parser::Status::Complete);
  EXPECT_EQ(parsed.method, "POST");
  EXPECT_EQ(parsed.target, "/a/b?x=1&y");
  EXPECT_EQ(parsed.path, "/a/b");
  EXPECT_EQ(parsed.query, "x=1&y");
  EXPECT_EQ(parsed.body, "hello");
  EXPECT_TRUE(parsed.keep_alive);
  ASSERT_EQ(parsed.headers.size(), 4U);
  EXPECT_EQ(parsed.headers[1].second, "");
  EXPECT_EQ(parsed.headers[2].second, "a b");
}

TEST(Parser, LeavesTheNextRequestAlone) {
  const auto parsed = parse(get("Content-Length: 2\r\n") + "okGET /next");
  ASSERT_EQ(parsed.status, Parser::Status::Complete);
  EXPECT_EQ(parsed.body, "ok");
  EXPECT_EQ(parsed.left, 9U);
}

TEST(Parser, FindsTheRequestAgainInAMovedBuffer) {
  for (const auto& wire :
       {get("A: b\r\nContent-Length: 3\r\n") + "xyz", chunked("1\r\na\r\n2;e=1\r\nbc\r\n0\r\nT: x\r\n\r\n")}) {
    const auto whole = parse(wire);
    ASSERT_EQ(whole.status, Parser::Status::Complete);
    for (const std::size_t step : {1U, 2U, 3U, 7U}) EXPECT_EQ(parse(wire, step), whole) << "step " << step;
  }
}

TEST(Parser, UnderstandsEveryFormOfTarget) {
  struct Case {
    std::string_view line, path, query;
  };
  for (const auto& [line, path, query] : {
           Case{"GET / HTTP/1.1", "/", ""},
           Case{"GET /? HTTP/1.1", "/", ""},
           Case{"GET /a?b?c HTTP/1.1", "/a", "b?c"},
           Case{"GET http://host:1/p?q HTTP/1.1", "/p", "q"},
           Case{"GET HTTPS://host HTTP/1.1", "/", ""},
           Case{"GET http://host?q HTTP/1.1", "/", "q"},
           Case{"OPTIONS * HTTP/1.1", "*", ""},
       }) {
    const auto parsed = parse(std::string(line) + "\r\nHost: h\r\n\r\n");
    ASSERT_EQ(parsed.status, Parser::Status::Complete) << line;
    EXPECT_EQ(parsed.path, path) << line;
    EXPECT_EQ(parsed.query, query) << line;
  }
}

TEST(Parser, KnowsWhenTheConnectionStays) {
  struct Case {
    std::string_view version, header;
    bool keep_alive;
  };
  for (const auto& [version, header, keep_alive] : {
           Case{"HTTP/1.1", "", true},
           Case{"HTTP/1.1", "Connection: close\r\n", false},
           Case{"HTTP/1.1", "Connection: te, CLOSE\r\n", false},
           Case{"HTTP/1.1", "Connection: closed\r\n", true},
           Case{"HTTP/1.0", "", false},
           Case{"HTTP/1.0", "Connection: Keep-Alive\r\n", true},
           Case{"HTTP/1.0", "Connection: keep-alive, close\r\n", false},
       }) {
    const auto parsed = parse("GET / " + std::string(version) + "\r\nHost: h\r\n" + std::string(header) + "\r\n");
    ASSERT_EQ(parsed.status, Parser::Status::Complete);
    EXPECT_EQ(parsed.keep_alive, keep_alive) << version << " " << header;
  }
}

TEST(Parser, DecodesChunks) {
  struct Case {
    std::string_view chunks, body;
  };
  for (const auto& [chunks, body] : {
           Case{"0\r\n\r\n", ""},
           Case{"5\r\nhello\r\n0\r\n\r\n", "hello"},
           Case{"5;a=b;c=\"d\"\r\nhello\r\n006\r\n world\r\n0\r\nTrailer: dropped\r\n\r\n", "hello world"},
           Case{"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n"},  // data that looks like an end
           Case{"4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"},
       }) {
    const auto parsed = parse(chunked(chunks));
    ASSERT_EQ(parsed.status, Parser::Status::Complete) << chunks;
    EXPECT_EQ(parsed.body, body);
    EXPECT_EQ(parsed.headers.size(), 2U) << "trailers are not headers";
  }
}

TEST(Parser, NeedsLittleMoreRoomThanABodyOfTinyChunks) {
  std::string buffer = chunked("");
  const std::size_t head = buffer.size();
  Parser parser({});
  for (int i = 0; i < 1000; ++i) {
    buffer += "1;extension=long\r\nx\r\n";
    std::size_t size = buffer.size();
    ASSERT_EQ(parser.parse(buffer.data(), size), Parser::Status::NeedMore);
    buffer.resize(size);
    ASSERT_LE(buffer.size(), head + static_cast<std::size_t>(i) + 1);
  }
  buffer += "0\r\n\r\n";
  std::size_t size = buffer.size();
  ASSERT_EQ(parser.parse(buffer.data(), size), Parser::Status::Complete);
  Request request;
  parser.request(buffer.data(), request);
  EXPECT_EQ(request.body, std::string(1000, 'x'));
}

TEST(Parser, RefusesWhatServersCouldReadDifferently) {
  struct Case {
    std::string wire;
    int status;
  };
  const std::vector<Case> cases = {
      {"GET / HTTP/1.1\nHost: h\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", 400},
      {"\n", 400},
      {"GET /\r\n", 400},
      {"GET  / HTTP/1.1\r\n", 400},
      {"GET / HTTP/1.1 \r\n", 400},
      {" GET / HTTP/1.1\r\n", 400},
      {"G\0T / HTTP/1.1\r\n"s, 400},
      {"GET /\0 HTTP/1.1\r\n"s, 400},
      {"GET /a b HTTP/1.1\r\n", 400},
      {"GET /\x80 HTTP/1.1\r\n", 400},
      {"GET /\t HTTP/1.1\r\n", 400},
      {"GET a HTTP/1.1\r\n", 400},
      {"GET * HTTP/1.1\r\n", 400},
      {"CONNECT a:1 HTTP/1.1\r\n", 501},
      {"GET / HTTP/2.0\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\n", 505},
      {"GET / HTTP/1.2\r\n", 505},
      {"GET / http/1.1\r\n", 400},
      {"GET / HTTP/11\r\n", 400},
      {"\x16\x03\x01\x02", 400},
      {"\r\n\r\n\r\n", 400},
      {std::string(33, 'M') + " / HTTP/1.1\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},  // no Host
      {get("Host: h2\r\n"), 400},
      {get("No colon\r\n"), 400},
      {get("Space : x\r\n"), 400},
      {get(": x\r\n"), 400},
      {get("Fold: a\r\n b\r\n"), 400},
      {get("N\xc3\xa4me: x\r\n"), 400},
      {get("Nul: a\0b\r\n"s), 400},
      {get("Cr: a\rb\r\n"), 400},
      {get("Del: eight bytes \x7f\r\n"), 400},
      {get("Content-Length: 1\r\nContent-Length: 2\r\n"), 400},
      {get("Content-Length: -1\r\n"), 400},
      {get("Content-Length: +1\r\n"), 400},
      {get("Content-Length: 0x1\r\n"), 400},
      {get("Content-Length: 1 1\r\n"), 400},
      {get("Content-Length: 1, 1\r\n"), 400},
      {get("Content-Length:\r\n"), 400},
      {get("Content-Length: 99999999999999999999999999\r\n"), 413},
      {get("Content-Length: 18446744073709551616\r\n"), 413},
      {get("Content-Length: 18446744073709551615\r\n"), 413},
      {get("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
      {get("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 400},
      {get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {get("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {get("Transfer-Encoding: xchunked\r\n"), 501},
      {get("Transfer-Encoding:\r\n"), 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {get("Expect: a miracle\r\n"), 417},
      {chunked("\r\n"), 400},
      {chunked("g\r\n"), 400},
      {chunked("-1\r\n"), 400},
      {chunked("0x1\r\n"), 400},
      {chunked("1 \r\n"), 400},
      {chunked("1\n"), 400},
      {chunked("1\r\nab\r\n"), 400},
      {chunked("1\r\na\n"), 400},
      {chunked("1;\0\r\n"s), 400},
      {chunked("00000000000000001\r\n"), 400},
      {chunked("ffffffffffffffff\r\n"), 413},
      {chunked("1;" + std::string(300, 'x')), 400},
      {chunked("0\r\nbad trailer\r\n\r\n"), 400},
  };
  for (const auto& [wire, status] : cases) {
    const auto whole = parse(wire);
    EXPECT_EQ(whole.refused, status) << testing::PrintToString(wire);
    EXPECT_EQ(parse(wire, 1).status, Parser::Status::Failed) << "byte by byte: " << testing::PrintToString(wire);
  }
}

TEST(Parser, AcceptsWhatRealClientsSend) {
  EXPECT_EQ(parse("\r\n" + get("")).status, Parser::Status::Complete) << "an empty line before the request";
  EXPECT_EQ(parse(get("Content-Length: 0\r\nContent-Length: 0\r\n")).status, Parser::Status::Complete);
  EXPECT_EQ(parse(get("X: caf\xc3\xa9 in UTF-8\tand a tab\r\n")).status, Parser::Status::Complete);
  EXPECT_EQ(parse(get("Expect: 100-Continue\r\n")).status, Parser::Status::Complete);
  EXPECT_EQ(parse("GET / HTTP/1.0\r\n\r\n").status, Parser::Status::Complete) << "1.0 needs no Host";
}

TEST(Parser, KeepsItsLimits) {
  const ParserLimits limits{.header_bytes = 1000, .header_count = 3, .target_bytes = 100, .body_bytes = 10};
  const auto refused = [&](const std::string& wire) {
    const auto whole = parse(wire, std::string::npos, limits);
    EXPECT_EQ(parse(wire, 1, limits).refused, whole.refused);
    return whole.refused;
  };
  EXPECT_EQ(refused("GET /" + std::string(99, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
  EXPECT_EQ(refused("GET /" + std::string(100, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"), 414);
  EXPECT_EQ(refused("GET /" + std::string(2000, 'a')), 414);
  EXPECT_EQ(refused(get("A: 1\r\nB: 2\r\n")), 0);
  EXPECT_EQ(refused(get("A: 1\r\nB: 2\r\nC: 3\r\n")), 431);
  EXPECT_EQ(refused(get("A: " + std::string(1000, 'a') + "\r\n")), 431);
  EXPECT_EQ(refused(get("A: " + std::string(1000, 'a'))), 431);
  EXPECT_EQ(refused(get("Content-Length: 10\r\n") + "0123456789"), 0);
  EXPECT_EQ(refused(get("Content-Length: 11\r\n")), 413);
  EXPECT_EQ(refused(chunked("5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n")), 0);
  EXPECT_EQ(refused(chunked("5\r\n01234\r\n6\r\n")), 413);
  EXPECT_EQ(refused(chunked("0\r\nA: " + std::string(500, 'a') + "\r\nB: " + std::string(500, 'a') + "\r\n\r\n")), 431);
}

TEST(Parser, SaysWhenTheClientWaitsToBeAsked) {
  std::string wire = get("Content-Length: 1\r\nExpect: 100-continue\r\n");
  Parser parser({});
  std::size_t size = wire.size() - 2;
  EXPECT_EQ(parser.parse(wire.data(), size), Parser::Status::NeedMore);
  EXPECT_FALSE(parser.expects_continue()) << "the head is not complete";
  size = wire.size();
  EXPECT_EQ(parser.parse(wire.data(), size), Parser::Status::NeedMore);
  EXPECT_TRUE(parser.expects_continue());
  EXPECT_EQ(parser.expected_bytes(), wire.size() + 1);
}

// Cuts, repeats and changes bytes of valid requests: whatever comes out is read the same in one piece and in many.
TEST(Parser, DoesNotCareHowTheBytesArrive) {
  const std::vector<std::string> seeds = {
      get("A: b\r\nContent-Length: 3\r\n") + "xyz",
      chunked("1\r\na\r\n10;e=1\r\n0123456789abcdef\r\n0\r\nT: x\r\n\r\n"),
      "POST http://h/p?q HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
  };
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    std::string wire = seeds[random.below(seeds.size())];
    for (auto changes = random.below(4); changes > 0 && !wire.empty(); --changes) {
      const auto at = random.below(wire.size());
      switch (random.below(4)) {
        case 0: wire[at] = static_cast<char>(random.next()); break;
        case 1: wire.erase(at, random.below(4)); break;
        case 2: wire.insert(at, wire.substr(random.below(wire.size()), random.below(8))); break;
        default: wire.insert(at, 1, "\r\n \t:;\0"[random.below(7)]); break;
      }
    }
    const auto whole = parse(wire);
    const auto pieces = parse(wire, 1 + random.below(5));
    ASSERT_EQ(pieces.status, whole.status) << "seed " << seed << ": " << testing::PrintToString(wire);
    if (whole.status == Parser::Status::Complete) {
      ASSERT_EQ(pieces, whole) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace stator::http
