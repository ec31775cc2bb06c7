// Every bound of ServerOptions, and what a client sees who meets it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "stator/base/test_eventually.h"
#include "stator/http/message/read_buffer.h"
#include "stator/http/server.h"
#include "stator/http/test_client.h"

namespace stator::http {
namespace {

using namespace std::chrono_literals;
using testing::echo;
using testing::FunctionHandler;
using testing::post;
using testing::start;
using testing::TestClient;
using testing::text;

class HttpLimits : public ::testing::Test {
 protected:
  // The answer to `bytes`, after which the connection must be closed.
  int refused(Server& server, std::string_view bytes) {
    TestClient client(server.port());
    client.send(bytes);
    const auto answer = client.read();
    if (!answer) return 0;
    EXPECT_EQ(answer->headers.at("Connection"), "close");
    EXPECT_TRUE(answer->body.ends_with("\n"));
    EXPECT_TRUE(client.ended());
    return answer->status;
  }

  FunctionHandler handler_{echo};
};

TEST_F(HttpLimits, RefusesWhatIsTooLargeOrMalformed) {
  const auto server =
      start(handler_, {.header_bytes = 2000, .header_count = 5, .target_bytes = 300, .body_bytes = 1000});
  EXPECT_EQ(refused(*server, "GET /" + std::string(500, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"), 414);
  EXPECT_EQ(refused(*server, post("", "A: " + std::string(2500, 'a') + "\r\n")), 431);
  EXPECT_EQ(refused(*server, post("", "A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n")), 431);
  EXPECT_EQ(refused(*server, post(std::string(1001, 'a'))), 413);
  EXPECT_EQ(refused(*server, "GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(refused(*server, post("", "Transfer-Encoding: gzip\r\n")), 501);
  EXPECT_EQ(refused(*server, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n"),
            413);
  EXPECT_EQ(refused(*server, "hello\r\n"), 400);
  EXPECT_EQ(server->statistics().requests, 0U);
  EXPECT_EQ(server->statistics().requests_refused, 8U);
}

TEST_F(HttpLimits, LetsAClientReadTheRefusalOfABodyItIsStillSending) {
  const auto server = start(handler_);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(refused(*server, post(std::string(20 << 20, 'x'))), 413);
}

TEST_F(HttpLimits, AnswersWhatCameBeforeARefusal) {
  const auto server = start(handler_);
  TestClient client(server->port());
  client.send(post("good") + "bad\r\n");
  EXPECT_EQ(client.read()->body, "POST / good");
  EXPECT_EQ(client.read()->status, 400);
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpLimits, LetsTheHandlerWordARefusal) {
  class Wording final : public Handler {
    void handle(const Request& request, Responder responder) override { echo(request, std::move(responder)); }
    Response refuse(int status, std::string_view reason) override {
      auto response = text("no: " + std::string(reason));
      response.status = status + 1;
      return response;
    }
  } handler;
  const auto server = start(handler);
  const auto answer = TestClient(server->port()).ask("nonsense\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->body, "no: malformed request line");
}

TEST_F(HttpLimits, RefusesConnectionsBeyondTheLimit) {
  const auto server = start(handler_, {.connections = 3, .tick = 10ms});
  std::vector<TestClient> clients;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(clients.emplace_back(server->port()).ask(post(""))->status, 200);
  EXPECT_EQ(refused(*server, post("")), 503);
  EXPECT_EQ(server->statistics().connections_refused, 1U);
  EXPECT_EQ(clients[0].ask(post(""))->status, 200) << "those inside are served";
  clients.clear();
  ASSERT_TRUE(eventually([&] { return server->statistics().connections_open == 0; }));
  EXPECT_EQ(TestClient(server->port()).ask(post(""))->status, 200) << "there is room again";
}

TEST_F(HttpLimits, BoundsWhatAllConnectionsBufferTogether) {
  const auto server = start(handler_, {.buffered_bytes = 2 << 20});  // bodies get half of it
  const std::string announced = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 600000\r\n\r\n";
  TestClient first(server->port());
  first.send(announced + std::string(599'999, 'x'));
  ASSERT_TRUE(eventually([&] { return server->statistics().bytes_received >= 599'999; }));
  EXPECT_EQ(refused(*server, announced + std::string(600'000, 'y')), 503);
  EXPECT_EQ(first.ask("x")->status, 200);
  EXPECT_EQ(server->statistics().buffered_bytes, 0U);
  EXPECT_EQ(TestClient(server->port()).ask(announced + std::string(600'000, 'y'))->status, 200);
}

TEST_F(HttpLimits, TakesMemoryForBytesThatCameAndNotForThoseAnnounced) {
  const auto server = start(handler_);
  std::vector<TestClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back(server->port()).send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16000000\r\n\r\nxxx");
  }
  ASSERT_TRUE(eventually([&] { return server->statistics().bytes_received >= 50 * 50; }));
  EXPECT_EQ(server->statistics().buffered_bytes, 0U);
}

TEST_F(HttpLimits, ClosesIdleConnections) {
  const auto server = start(handler_, {.idle_timeout = 50ms, .tick = 10ms});
  TestClient fresh(server->port());
  EXPECT_TRUE(fresh.ended());
  TestClient used(server->port());
  EXPECT_EQ(used.ask(post(""))->status, 200);
  EXPECT_TRUE(used.ended());
  EXPECT_EQ(server->statistics().timeouts, 2U);
}

TEST_F(HttpLimits, GivesUpOnARequestThatTricklesIn) {
  const auto server = start(handler_, {.request_timeout = 100ms, .tick = 10ms});
  TestClient client(server->port());
  const std::string request = post(std::string(10'000, 'x'));
  std::size_t sent = 0;
  EXPECT_TRUE(eventually([&] {
    return !client.send(request.substr(sent++ % 1000, 1)) || server->statistics().timeouts > 0;
  })) << "each byte would be progress, but the whole takes too long";
  const auto answer = client.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
}

TEST_F(HttpLimits, LetsAHandlerRefuseARequestByItsHead) {
  struct Doorkeeper final : Handler {
    void handle(const Request& request, Responder responder) override {
      responder.send(text(std::string(request.path)));
    }
    Admission admit(const Request& head) override {
      EXPECT_TRUE(head.body.empty());
      if (head.header("Authorization").empty())
        return {.refusal = Response{.status = 401, .content_type = {}, .headers = {}, .body = {}}};
      return {.refusal = {}, .body_bytes = head.path == "/small" ? 10'000U : SIZE_MAX};
    }
  };
  Doorkeeper doorkeeper;
  const auto server = start(doorkeeper);
  const std::string body(20'000, 'x');
  const auto ask = [&](std::string_view path, std::string_view headers, std::string_view sent) {
    TestClient client(server->port());
    client.send(fmt::format("POST {} HTTP/1.1\r\nHost: h\r\n{}\r\n{}", path, headers, sent));
    return client.read()->status;
  };
  EXPECT_EQ(ask("/", "Content-Length: 20000\r\n", "x"), 401) << "without waiting for the rest";
  EXPECT_EQ(ask("/", "Content-Length: 20000\r\nExpect: 100-continue\r\n", ""), 401) << "and without asking for it";
  EXPECT_EQ(ask("/small", "Authorization: me\r\nContent-Length: 20000\r\n", "x"), 413);
  EXPECT_EQ(ask("/small", "Authorization: me\r\nTransfer-Encoding: chunked\r\n", "2711\r\nx"), 413);
  EXPECT_EQ(ask("/large", "Authorization: me\r\nContent-Length: 20000\r\n", body), 200);
}

TEST_F(HttpLimits, WantsABodyToKeepComing) {
  const auto server = start(handler_, {.request_timeout = 60s, .body_timeout = 50ms, .tick = 10ms});
  TestClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\nx");
  const auto answer = client.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
}

TEST_F(HttpLimits, TellsAHandlerThatItsClientHasGone) {
  std::promise<Responder> came;
  FunctionHandler slow([&](const Request&, Responder responder) { came.set_value(std::move(responder)); });
  const auto server = start(slow, {.tick = 10ms});
  auto client = std::make_optional<TestClient>(server->port());
  client->send(post(""));
  auto arrived = came.get_future();
  ASSERT_EQ(arrived.wait_for(30s), std::future_status::ready);
  auto responder = arrived.get();
  EXPECT_FALSE(responder.watch().has_gone());
  client.reset();
  EXPECT_TRUE(eventually([&] { return responder.watch().has_gone(); }));
}

// A client that was not answered has closed its connection, and has asked another server.
TEST_F(HttpLimits, DropsRequestsOfClientsThatWentWhileTheProcessStoodStill) {
  std::promise<void> reached, ended;
  std::atomic<int> late = 0;
  FunctionHandler handler([&](const Request& request, Responder responder) {
    if (request.path == "/stop") {
      reached.set_value();
      ended.get_future().wait();
    } else if (request.path == "/late") {
      ++late;
    }
    responder.send(text("done"));
  });
  const auto server = start(handler, {.threads = 1, .tick = 10ms, .standstill = 50ms});
  const auto get = [](std::string_view path) { return fmt::format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", path); };
  TestClient first(server->port()), stays(server->port()), waits(server->port());
  first.send(get("/stop"));
  reached.get_future().wait();
  {
    TestClient goes(server->port());
    goes.send(get("/late"));
  }
  waits.send(get("/late"));
  waits.finish_sending();  // looks as if it had gone
  stays.send(get("/"));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() - began > 100ms; }));
  ended.set_value();
  EXPECT_EQ(first.read()->status, 200);
  EXPECT_EQ(stays.read()->status, 200);
  EXPECT_EQ(waits.read()->status, 503);
  TestClient next(server->port());
  EXPECT_EQ(next.ask(get("/"))->status, 200);
  EXPECT_EQ(late, 0);
}

TEST_F(HttpLimits, GivesAHandlerAllTheTimeItNeeds) {
  std::promise<Responder> came;
  FunctionHandler slow([&](const Request&, Responder responder) { came.set_value(std::move(responder)); });
  const auto server = start(slow, {.idle_timeout = 20ms, .request_timeout = 20ms, .write_timeout = 20ms, .tick = 5ms});
  TestClient client(server->port());
  client.send(post(""));
  auto arrived = came.get_future();
  ASSERT_EQ(arrived.wait_for(30s), std::future_status::ready);
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(TestClient(server->port()).ended()) << "so that the time of any bound is over";
  arrived.get().send(text("patience"));
  const auto answer = client.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "patience");
}

TEST_F(HttpLimits, GivesUpOnAClientThatDoesNotReadItsAnswer) {
  FunctionHandler large([](const Request&, Responder responder) { responder.send(text(std::string(64 << 20, 'x'))); });
  const auto server = start(large, {.write_timeout = 100ms, .tick = 10ms});
  TestClient client(server->port(), 4096);
  client.send(post(""));
  ASSERT_TRUE(eventually([&] { return server->statistics().timeouts > 0; }));
  ASSERT_TRUE(eventually([&] { return server->statistics().connections_open == 0; }));
  EXPECT_FALSE(client.read()) << "the answer is cut short";
}

TEST_F(HttpLimits, CutsOffAnAnswerThatIsNotTakenWhenMemoryIsShort) {
  FunctionHandler large([](const Request& request, Responder responder) {
    responder.send(text(std::string(request.path == "/large" ? 64 << 20 : 10, 'x')));
  });
  const auto server = start(large, {.buffered_bytes = 1 << 20});
  TestClient client(server->port(), 4096);
  client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_FALSE(client.read());
  EXPECT_EQ(server->statistics().buffered_bytes, 0U);
  EXPECT_EQ(TestClient(server->port()).ask(post(""))->status, 200);
}

TEST_F(HttpLimits, WaitsForAClientThatReadsSlowlyButSteadily) {
  FunctionHandler large([](const Request&, Responder responder) { responder.send(text(std::string(8 << 20, 'x'))); });
  const auto server = start(large, {.write_timeout = 2s, .tick = 10ms});
  TestClient client(server->port(), 64 << 10);
  const auto answer = client.ask(post(""));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body.size(), 8U << 20);
}

TEST_F(HttpLimits, StopsReadingFromAClientThatDoesNotReadItsAnswers) {
  // Each small request asks for a large answer; nobody reads any.
  std::atomic<int> handled = 0;
  FunctionHandler large([&](const Request&, Responder responder) {
    ++handled;
    responder.send(text(std::string(1 << 20, 'x')));
  });
  const auto server = start(large, {.write_timeout = 200ms, .tick = 10ms});
  TestClient client(server->port(), 4096);
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += post("");
  client.send(requests);
  ASSERT_TRUE(eventually([&] { return server->statistics().timeouts > 0; }));
  EXPECT_LT(handled, 50);
}

TEST(ReadBuffer, GrowsInStepsAndShrinks) {
  MemoryBudget budget(1 << 20);
  {
    ReadBuffer buffer(budget);
    EXPECT_EQ(budget.used(), 0U);
    buffer.data()[0] = 'x';
    ASSERT_TRUE(buffer.grow(1 << 20));
    EXPECT_LE(buffer.capacity(), 4 * ReadBuffer::kIdleBytes);
    EXPECT_EQ(buffer.data()[0], 'x');
    while (buffer.grow(1 << 20)) {
    }
    EXPECT_LE(budget.used(), 1U << 20);
    EXPECT_EQ(budget.used(), buffer.capacity() + kBodyPadding - ReadBuffer::kIdleBytes);
    buffer.shrink(10'000);
    EXPECT_GE(buffer.capacity(), 10'000U);
    EXPECT_LT(budget.used(), 10'000U);
    buffer.shrink(0);
    EXPECT_EQ(budget.used(), 0U);
    EXPECT_EQ(buffer.data()[0], 'x');
    ASSERT_TRUE(buffer.grow(0));
  }
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace stator::http
