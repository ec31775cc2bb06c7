#include "stator/http/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/base/test_eventually.h"
#include "stator/http/test_client.h"

namespace stator::http {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::echo;
using testing::FunctionHandler;
using testing::post;
using testing::start;
using testing::TestClient;
using testing::text;

// Keeps responders until the test takes them.
class HeldHandler final : public Handler {
 public:
  void handle(const Request& request, Responder responder) override {
    MutexLock lock(mutex_);
    held_.push_back(std::move(responder));
    requests_.push_back(&request);
    arrived_.notify_all();
  }
  Responder take() {
    MutexLock lock(mutex_);
    wait_until_filled(held_);
    auto responder = std::move(held_.front());
    held_.erase(held_.begin());
    return responder;
  }
  const Request& last_request() {
    MutexLock lock(mutex_);
    wait_until_filled(requests_);
    return *requests_.back();
  }

 private:
  template <typename List>
  void wait_until_filled(const List& list) REQUIRES(mutex_) {
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (list.empty()) {
      if (std::chrono::steady_clock::now() > patience) throw std::runtime_error("no request came");
      arrived_.wait_for(mutex_, 1s);
    }
  }

  Mutex mutex_;
  CondVar arrived_;
  std::vector<Responder> held_ GUARDED_BY(mutex_);
  std::vector<const Request*> requests_ GUARDED_BY(mutex_);
};

TEST(HttpServer, AnswersOnOneConnectionAgainAndAgain) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  TestClient client(server->port());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.ask(post("body " + std::to_string(i)));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "POST / body " + std::to_string(i));
    EXPECT_EQ(answer->headers.at("Content-Type"), "text/plain");
    EXPECT_FALSE(answer->headers.contains("Connection"));
  }
  EXPECT_EQ(server->statistics().requests, 3U);
  EXPECT_EQ(server->statistics().connections_open, 1U);
}

TEST(HttpServer, TellsTheDate) {
  FunctionHandler handler(echo);
  ManualClock clock(WallTime{std::chrono::seconds{784'111'777}});
  const auto server = start(handler, {.clock = &clock});
  const auto answer = TestClient(server->port()).ask(post(""));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->headers.at("Date"), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpServer, GivesTheHandlerTheWholeRequest) {
  FunctionHandler handler([](const Request& request, Responder responder) {
    EXPECT_EQ(request.path, "/p");
    EXPECT_EQ(request.query, "q=1");
    EXPECT_EQ(request.header("x-AMZ-target"), "DynamoDB_20120810.GetItem");
    EXPECT_EQ(request.header("absent"), "");
    EXPECT_EQ(request.headers.size(), 2U);
    Response response = text("");
    response.status = 404;
    response.headers = "X-One: 1\r\nX-Two: 2\r\n";
    responder.send(std::move(response));
  });
  const auto server = start(handler);
  const auto answer = TestClient(server->port())
                          .ask("GET /p?q=1 HTTP/1.1\r\nHost: h\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->headers.at("X-One"), "1");
  EXPECT_EQ(answer->headers.at("X-Two"), "2");
}

TEST(HttpServer, LeavesReadableBytesBehindTheBody) {
  FunctionHandler handler([](const Request& request, Responder responder) {
    // Under the address sanitizer, this fails if they are not.
    const std::string behind(request.body.data() + request.body.size(), kBodyPadding);
    responder.send(text(std::to_string(behind.size())));
  });
  const auto server = start(handler);
  TestClient client(server->port());
  for (std::size_t size : {0U, 1U, 3900U, 3960U, 4000U, 4032U, 4096U, 16384U, 100'000U}) {
    const auto answer = client.ask(post(std::string(size, 'x')));
    ASSERT_TRUE(answer) << size;
    EXPECT_EQ(answer->body, "64");
  }
}

TEST(HttpServer, ClosesWhenTheClientWishes) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  TestClient polite(server->port());
  auto answer = polite.ask(post("", "Connection: close\r\n"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->headers.at("Connection"), "close");
  EXPECT_TRUE(polite.ended());

  TestClient old(server->port());
  answer = old.ask("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->headers.at("Connection"), "close");
  EXPECT_TRUE(old.ended());

  TestClient old_and_staying(server->port());
  for (int i = 0; i < 2; ++i) {
    answer = old_and_staying.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->headers.at("Connection"), "keep-alive");
  }
}

TEST(HttpServer, ClosesWhenTheHandlerWishes) {
  FunctionHandler handler([](const Request&, Responder responder) {
    Response response = text("bye");
    response.close = true;
    responder.send(std::move(response));
  });
  const auto server = start(handler);
  TestClient client(server->port());
  // The second request is not answered, and does not reset the first answer away.
  const auto answer = client.ask(post("") + post(""));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "bye");
  EXPECT_EQ(answer->headers.at("Connection"), "close");
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, AnnouncesButDoesNotSendTheBodyOfAHeadRequest) {
  FunctionHandler handler([](const Request& request, Responder responder) {
    auto response = text("12345");
    if (request.path == "/none") response.status = 204;
    responder.send(std::move(response));
  });
  const auto server = start(handler);
  TestClient client(server->port());
  client.send(
      "HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET /none HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n");
  auto answer = client.read(/*to_head_request=*/true);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->headers.at("Content-Length"), "5");
  answer = client.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204);
  EXPECT_FALSE(answer->headers.contains("Content-Length"));
  answer = client.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "12345");
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  TestClient client(server->port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += post(std::to_string(i));
  client.send(requests);
  for (int i = 0; i < 1000; ++i) {
    const auto answer = client.read();
    ASSERT_TRUE(answer) << i;
    ASSERT_EQ(answer->body, "POST / " + std::to_string(i));
  }
}

TEST(HttpServer, AnswersPipelinedRequestsInOrderFromOtherThreads) {
  std::vector<std::jthread> threads;
  FunctionHandler handler([&](const Request& request, Responder responder) {
    std::string body(request.body);
    threads.emplace_back([body, responder = std::move(responder)]() mutable { responder.send(text(body)); });
  });
  const auto server = start(handler, {.threads = 1});
  TestClient client(server->port());
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += post(std::to_string(i));
  client.send(requests);
  for (int i = 0; i < 100; ++i) {
    const auto answer = client.read();
    ASSERT_TRUE(answer) << i;
    ASSERT_EQ(answer->body, std::to_string(i));
  }
  server->stop(0ms);  // joins the I/O thread, which writes to `threads`
}

TEST(HttpServer, HandlesOneRequestOfAConnectionAtATime) {
  HeldHandler handler;
  const auto server = start(handler);
  TestClient client(server->port());
  client.send(post("1") + post("2"));
  auto first = handler.take();
  EXPECT_EQ(server->statistics().requests, 1U);
  EXPECT_EQ(handler.last_request().body, "1");
  first.send(text("one"));
  handler.take().send(text("two"));
  EXPECT_EQ(client.read()->body, "one");
  EXPECT_EQ(client.read()->body, "two");
}

TEST(HttpServer, ReadsOnlySoFarAheadOfARequestInFlight) {
  HeldHandler handler;
  const auto server = start(handler);
  TestClient client(server->port());
  client.send(post("1"));
  auto responder = handler.take();
  const auto received = server->statistics().bytes_received;
  client.send(post(std::string(10'000, 'x')));
  TestClient other(server->port());  // its round trip gives the first connection time to do the wrong thing
  other.send("nonsense\r\n");
  EXPECT_EQ(other.read()->status, 400);
  EXPECT_LT(server->statistics().bytes_received, received + 100);
  responder.send(text("done"));
  EXPECT_EQ(client.read()->body, "done");
  handler.take().send(text("done too"));
  EXPECT_EQ(client.read()->body, "done too");
}

TEST(HttpServer, DecodesAChunkedBodyThatComesInPieces) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  TestClient client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    client.send("40\r\n" + std::string(64, static_cast<char>('a' + i % 26)) + "\r\n");
    expected += std::string(64, static_cast<char>('a' + i % 26));
  }
  client.send("0\r\n\r\n" + post("next"));
  EXPECT_EQ(client.read()->body, "POST / " + expected);
  EXPECT_EQ(client.read()->body, "POST / next");
}

TEST(HttpServer, AsksForTheBodyOfAClientThatWaitsToBeAsked) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  TestClient client(server->port());
  for (int i = 0; i < 2; ++i) {
    auto answer = client.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 100);
    answer = client.ask("ok");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "POST / ok");
  }
  // Nobody waits when the body is already there.
  EXPECT_EQ(client.ask(post("there", "Expect: 100-continue\r\n"))->status, 200);
}

TEST(HttpServer, CarriesLargeBodiesBothWays) {
  FunctionHandler handler(
      [](const Request& request, Responder responder) { responder.send(text(std::string(request.body))); });
  const auto server = start(handler);
  TestClient client(server->port());
  Random random(1);
  for (const std::size_t size : {16UL << 20, 100UL, 1UL << 20, 64UL << 10, (16UL << 10) + 1}) {
    std::string body(size, '\0');
    for (auto& c : body) c = static_cast<char>(random.next());
    client.send(post(body));
    const auto answer = client.read();
    ASSERT_TRUE(answer) << size;
    EXPECT_TRUE(answer->body == body) << size;
    EXPECT_EQ(server->statistics().buffered_bytes, 0U) << "an idle connection keeps no large buffer";
  }
}

TEST(HttpServer, AnswersFromAnotherThreadWhileServingOthers) {
  HeldHandler handler;
  const auto server = start(handler, {.threads = 1});
  TestClient first(server->port()), second(server->port());
  first.send(post(""));
  auto first_responder = handler.take();
  second.send(post(""));
  auto second_responder = handler.take();
  second_responder.send(text("second"));
  EXPECT_EQ(second.read()->body, "second");
  first_responder.send(text("first"));
  EXPECT_EQ(first.read()->body, "first");
}

TEST(HttpServer, AnswersManyClientsFromManyThreads) {
  // Two threads answer what the I/O threads queue, in batches, as a committer does.
  Mutex mutex;
  CondVar filled;
  std::vector<std::pair<std::string, Responder>> queue;
  bool done = false;
  FunctionHandler handler([&](const Request& request, Responder responder) {
    MutexLock lock(mutex);
    queue.emplace_back(std::string(request.body), std::move(responder));
    filled.notify_one();
  });
  const auto answer_all = [&] {
    while (true) {
      std::vector<std::pair<std::string, Responder>> batch;
      {
        MutexLock lock(mutex);
        while (queue.empty() && !done) filled.wait(mutex);
        if (queue.empty()) return;
        batch.swap(queue);
      }
      for (auto& [body, responder] : batch) responder.send(text(body));
    }
  };
  std::vector<std::thread> answering;
  for (int i = 0; i < 2; ++i) answering.emplace_back(answer_all);
  const auto server = start(handler);
  std::vector<std::thread> asking;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    asking.emplace_back([&, t] {
      std::vector<TestClient> clients;
      for (int i = 0; i < 16; ++i) clients.emplace_back(server->port());
      for (int round = 0; round < 20; ++round) {
        const auto body = [&](std::size_t i) {
          return std::to_string(t) + "." + std::to_string(i) + "." + std::to_string(round);
        };
        for (std::size_t i = 0; i < clients.size(); ++i) clients[i].send(post(body(i)));
        for (std::size_t i = 0; i < clients.size(); ++i) {
          const auto answer = clients[i].read();
          if (answer && answer->body == body(i)) ++right;
        }
      }
    });
  }
  for (auto& thread : asking) thread.join();
  EXPECT_EQ(right, 4 * 16 * 20);
  {
    MutexLock lock(mutex);
    done = true;
    filled.notify_all();
  }
  for (auto& thread : answering) thread.join();
}

TEST(HttpServer, AnswersForAHandlerThatForgetsOrFails) {
  FunctionHandler handler([](const Request& request, Responder responder) {
    if (request.body == "throw") throw std::runtime_error("on purpose");
    if (request.body == "late") std::thread([responder = std::move(responder)] {}).detach();
  });
  const auto server = start(handler);
  TestClient client(server->port());
  for (const std::string_view body : {"forget", "throw", "late", "forget"}) {
    const auto answer = client.ask(post(body));
    ASSERT_TRUE(answer) << body;
    EXPECT_EQ(answer->status, 500) << body;
  }
}

TEST(HttpServer, ForgetsAClientThatLeft) {
  HeldHandler handler;
  const auto server = start(handler, {.threads = 1});
  TestClient leaving(server->port()), resetting(server->port());
  leaving.send(post("1"));
  auto first = handler.take();
  resetting.send(post("2"));
  auto second = handler.take();
  const auto& request = handler.last_request();
  leaving.close();
  resetting.reset();
  EXPECT_EQ(request.body, "2") << "the request outlives its client";
  first.send(text("nobody"));
  second.send(text("nobody"));
  TestClient next(server->port());
  next.send(post(""));
  handler.take().send(text("still here"));
  EXPECT_EQ(next.read()->body, "still here");
  TestClient half(server->port());
  half.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
  half.reset();
  next.close();
  EXPECT_TRUE(eventually([&] { return server->statistics().connections_open == 0; }));
}

TEST(HttpServer, AnswersAClientThatHasFinishedSending) {
  HeldHandler handler;
  const auto server = start(handler);
  TestClient client(server->port());
  client.send(post("1") + post("2"));
  client.finish_sending();
  handler.take().send(text("one"));
  handler.take().send(text("two"));
  EXPECT_EQ(client.read()->body, "one");
  EXPECT_EQ(client.read()->body, "two");
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, FinishesRequestsInFlightWhenStopped) {
  HeldHandler handler;
  const auto server = start(handler, {.threads = 1});
  TestClient busy(server->port()), idle(server->port()), half(server->port());
  const std::string whole_request = post("x"), half_request = whole_request.substr(0, 20);
  busy.send(whole_request);
  half.send(half_request);
  auto responder = handler.take();
  EXPECT_TRUE(eventually([&] {
    const auto statistics = server->statistics();
    return statistics.connections_accepted == 3 &&
           statistics.bytes_received >= whole_request.size() + half_request.size();
  }));
  const std::jthread stopping([&] { server->stop(10s); });
  EXPECT_TRUE(idle.ended());
  responder.send(text("finished"));
  const auto answer = busy.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "finished");
  EXPECT_EQ(answer->headers.at("Connection"), "close");
  EXPECT_TRUE(busy.ended());
  half.send(whole_request.substr(half_request.size()));
  handler.take().send(text("also finished"));
  EXPECT_EQ(half.read()->body, "also finished");
}

TEST(HttpServer, IsGoneOnceStopped) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  TestClient client(server->port());
  client.ask(post(""));
  server->stop(1s);
  EXPECT_TRUE(client.ended());
  EXPECT_FALSE(TestClient(server->port()).connected());
  EXPECT_EQ(server->statistics().connections_open, 0U);
}

TEST(HttpServer, StopsInTimeWhateverItsHandlersDo) {
  HeldHandler handler;
  Responder late;
  {
    const auto server = start(handler);
    TestClient client(server->port());
    client.send(post("x"));
    late = handler.take();
    server->stop(50ms);
    EXPECT_TRUE(client.ended());
    server->stop(50ms);  // again
  }
  EXPECT_EQ(handler.last_request().body, "x") << "the request outlives the server";
  late.send(text("harmless"));
}

TEST(HttpServer, SaysThatAPortIsInUse) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  for (const int threads : {1, 2}) {
    const auto second = Server::start({.port = server->port(), .threads = threads}, handler);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Usage);
    EXPECT_EQ(second.error().message, "port " + std::to_string(server->port()) + " is already in use");
  }
  EXPECT_TRUE(TestClient(server->port()).ask(post("")));
}

TEST(HttpServer, TakesItsPortAgainAtOnce) {
  FunctionHandler handler(echo);
  auto server = start(handler);
  const auto port = server->port();
  TestClient client(port);
  client.ask(post(""));
  server.reset();  // closes first, so the port has a connection in TIME_WAIT
  const auto again = Server::start({.port = port, .threads = 2}, handler);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(TestClient(port).ask(post("")));
}

TEST(HttpServer, SaysThatAHostIsUnknown) {
  FunctionHandler handler(echo);
  const auto nowhere = Server::start({.host = "192.0.2.1", .port = 0, .threads = 1}, handler);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::Usage);
  const auto nonsense = Server::start({.host = "no such host", .port = 0, .threads = 1}, handler);
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().message, "cannot find the host no such host");
}

TEST(HttpServer, SpreadsItsConnectionsEvenly) {
  Mutex mutex;
  std::map<std::thread::id, int> connections;
  FunctionHandler handler([&](const Request& request, Responder responder) {
    {
      MutexLock lock(mutex);
      ++connections[std::this_thread::get_id()];
    }
    echo(request, std::move(responder));
  });
  const auto server = start(handler);
  std::vector<TestClient> clients;
  for (int i = 0; i < 500; ++i) clients.emplace_back(server->port());
  for (auto& client : clients) client.send(post("hello"));
  for (auto& client : clients) {
    const auto answer = client.read();
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->body, "POST / hello");
  }
  EXPECT_EQ(server->statistics().connections_open, 500U);
  MutexLock lock(mutex);
  ASSERT_EQ(connections.size(), 2U);
  // Two loops that accept at the same moment may both see the same balance.
  EXPECT_NEAR(connections.begin()->second, 250, 10);
}

// Whatever comes in, the server answers or closes, and goes on.
TEST(HttpServer, SurvivesGarbage) {
  FunctionHandler handler(echo);
  const auto server = start(handler);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string bytes = random.below(2) == 0 ? "" : post("ok");
    for (auto count = random.below(3000); count > 0; --count) {
      bytes += random.below(3) == 0 ? "\r\n :;/GET"[random.below(9)] : static_cast<char>(random.next());
    }
    TestClient client(server->port());
    client.send(bytes);
    client.finish_sending();
    while (const auto answer = client.read()) {
      ASSERT_TRUE(answer->status == 200 || answer->status >= 400) << answer->status;
    }
  }
  EXPECT_EQ(TestClient(server->port()).ask(post("alive"))->body, "POST / alive");
}

// Waits for a pipe on the loop of its first request, and answers what comes out of it.
class PipeHandler final : public Handler {
 public:
  PipeHandler() { EXPECT_EQ(::pipe(ends_), 0); }
  ~PipeHandler() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void handle(const Request& /*request*/, Responder responder) override {
    auto& loop = responder.loop();
    if (loop.attachment() == nullptr) loop.attach(std::make_unique<Reader>(*this, loop));
    waiting_.push_back(std::move(responder));
  }
  void write(std::string_view bytes) const {
    EXPECT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  bool has_ended() const { return ended_; }
  int ticks() const { return ticks_; }

 private:
  class Reader final : public EventLoop::Attachment {
   public:
    Reader(PipeHandler& handler, EventLoop& loop) : handler_(handler), loop_(loop) {
      watch_ = loop.watch(handler.ends_[0], [this](EventLoop::Ready what) {
        EXPECT_EQ(what, EventLoop::Ready::ToRead);
        loop_.defer([this] { answer(); });
      });
      watch_->wait_to_read();
    }
    ~Reader() override { handler_.ended_ = true; }
    void on_tick() override { ++handler_.ticks_; }

   private:
    void answer() {
      char bytes[16];
      const auto size = ::read(handler_.ends_[0], bytes, sizeof bytes);
      watch_->wait_to_read();
      for (auto& responder : handler_.waiting_) responder.send(text({bytes, static_cast<std::size_t>(size)}));
      handler_.waiting_.clear();
    }

    PipeHandler& handler_;
    EventLoop& loop_;
    std::unique_ptr<EventLoop::Watch> watch_;
  };

  int ends_[2] = {};
  std::vector<Responder> waiting_;  // the loop's
  std::atomic<bool> ended_ = false;
  std::atomic<int> ticks_ = 0;
};

TEST(HttpServer, LetsOthersWaitOnItsLoop) {
  PipeHandler handler;
  auto server = Server::start({.port = 0, .threads = 1, .tick = 10ms}, handler).value();
  TestClient client(server->port());
  for (const auto* answer : {"one", "two"}) {
    client.send(post("question"));
    handler.write(answer);
    EXPECT_EQ(client.read().value().body, answer);
  }
  EXPECT_TRUE(eventually([&] { return handler.ticks() > 1; }));
  EXPECT_FALSE(handler.has_ended());
  server->stop(0ms);
  EXPECT_TRUE(handler.has_ended()) << "a wait does not keep the loop from ending";
}

}  // namespace
}  // namespace stator::http
