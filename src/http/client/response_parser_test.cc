#include "stator/http/client/response_parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/random.h"

namespace stator::http {
namespace {

using Status = ResponseParser::Status;
using To = ResponseParser::To;

// The result of parsing `wire`, given `step` bytes at a time in a buffer that moves, when the server closes behind it:
// "200 a:b|body", "waiting" when it is cut short, or the reason why it is refused.
std::string read(std::string_view wire, std::size_t step = std::string_view::npos, To to = To::Other,
                 ParserLimits limits = {}) {
  ResponseParser parser(limits);
  parser.reset(to);
  std::string buffer;
  auto status = Status::NeedMore;
  while (status == Status::NeedMore && !wire.empty()) {
    std::string moved = buffer + std::string(wire.substr(0, step));
    wire.remove_prefix(std::min(step, wire.size()));
    auto size = moved.size();
    status = parser.parse(moved.data(), size);
    moved.resize(size);
    buffer = std::move(moved);
  }
  if (status == Status::Failed) return std::string(parser.refusal().reason);
  const bool whole = status == Status::Complete || parser.finish();
  if (!whole) return "waiting";
  const auto response = parser.response(buffer.data());
  std::string text = std::to_string(response.status);
  for (const auto& [name, value] : response.headers) text += fmt::format(" {}:{}", name, value);
  return text + "|" + response.body + (parser.reusable() ? "" : " (last)");
}

TEST(ResponseParser, ReadsAResponseInWhateverPiecesItComes) {
  struct Case {
    std::string_view wire, expected;
  };
  for (const auto& [wire, expected] : {
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 Content-Length:5|hello"},
           Case{"HTTP/1.1 400 Bad Request\r\nA: b\r\nContent-Length: 0\r\n\r\n", "400 A:b Content-Length:0|"},
           Case{"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200 Content-Length:0|"},
           Case{"HTTP/1.1 204 No Content\r\n\r\n", "204|"},
           Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: t\r\n\r\n",
                "200 Transfer-Encoding:chunked|abcde"},
           Case{"HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!",
                "200 Content-Length:1|!"},
           Case{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n!",
                "200 Connection:close Content-Length:1|! (last)"},
           Case{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n!", "200 Content-Length:1|! (last)"},
           Case{"HTTP/1.1 200 OK\r\n\r\nall that comes", "200|all that comes (last)"},
           Case{"HTTP/1.1 200 OK\r\n\r\n", "200| (last)"},
       }) {
    SCOPED_TRACE(wire);
    for (const std::size_t step : {1U, 2U, 3U, 7U, 1000U}) EXPECT_EQ(read(wire, step), expected) << step;
  }
}

TEST(ResponseParser, KnowsThatAnAnswerToHeadHasNoBody) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 1000, To::Head), "200 Content-Length:500|");
}

TEST(ResponseParser, WaitsForWhatIsAnnounced) {
  for (const auto* wire :
       {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}) {
    EXPECT_EQ(read(wire), "waiting") << wire;
  }
}

TEST(ResponseParser, RefusesWhatIsNotAResponse) {
  for (const auto* wire :
       {"GET / HTTP/1.1\r\n", "\x15\x03\x01", "HTTP/2 200 OK\r\n", "HTTP/1.1 abc\r\n", "HTTP/1.1 20\r\n"}) {
    EXPECT_EQ(read(wire), "the answer is not HTTP/1.1") << wire;
  }
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "Content-Length and Transfer-Encoding exclude each other");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            "contradicting Content-Length headers");
  EXPECT_EQ(read("HTTP/1.1 101 Switching Protocols\r\n\r\n"), "the answer has a status that nobody asked for");
}

TEST(ResponseParser, KeepsItsLimits) {
  const ParserLimits limits{.header_bytes = 100, .header_count = 3, .body_bytes = 10};
  for (const std::size_t step : {1U, 1000U}) {
    const auto refused = [&](const std::string& wire) { return read(wire, step, To::Other, limits); };
    EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"), "the body is too large");
    EXPECT_EQ(refused("HTTP/1.1 200 OK\r\n\r\n12345678901"), "the body is too large");
    EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n"), "the body is too large");
    EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nA: a\r\nB: b\r\nC: c\r\nD: d\r\n"), "too many headers");
    EXPECT_EQ(refused("HTTP/1.1 200 OK\r\nA: " + std::string(100, 'a')), "the headers are too long");
    EXPECT_EQ(refused("HTTP/1.1 200 " + std::string(100, 'a')), "the answer is not HTTP/1.1");
    std::string interim;
    for (int i = 0; i < 10; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
    EXPECT_EQ(refused(interim), "the answer is not HTTP/1.1");
  }
}

// Cuts, repeats and changes bytes of valid responses: whatever comes out is read the same in one piece and in many.
TEST(ResponseParser, DoesNotCareHowTheBytesArrive) {
  const std::vector<std::string> seeds = {
      "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\nxyz",
      "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n10;e=1\r\n0123456789abcdef\r\n0\r\nT: "
      "x\r\n\r\n",
      "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.0 200\r\nConnection: keep-alive\r\n\r\nuntil the end",
  };
  const ParserLimits limits{.header_bytes = 120, .header_count = 4, .body_bytes = 20};
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
    const auto to = random.below(4) == 0 ? To::Head : To::Other;
    // Which of several faults is met first may differ.
    const auto outcome = [&](std::size_t step) {
      const auto text = read(wire, step, to, limits);
      return text == "waiting" || text.starts_with('2') || text.starts_with('4') ? text : "refused";
    };
    ASSERT_EQ(outcome(1 + random.below(5)), outcome(wire.size() + 1))
        << "seed " << seed << ": " << ::testing::PrintToString(wire);
  }
}

}  // namespace
}  // namespace stator::http
