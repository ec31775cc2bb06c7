#include "stator/http/client/client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "stator/http/test_certificate.h"
#include "stator/http/test_client.h"
#include "stator/http/test_server.h"
#include "stator/http/tls.h"

namespace stator::http {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Kind = ClientFailure::Kind;
using testing::FunctionHandler;
using testing::ScriptedServer;
using testing::ServerSide;

Origin at(std::uint16_t port, std::string host = "127.0.0.1") {
  return {.tls = false, .host = std::move(host), .port = port};
}

std::unique_ptr<Client> start(const ClientOptions& options = {}) { return std::move(Client::start(options)).value(); }

std::future<Exchange> send(Client& client, const Origin& origin, ClientRequest request = {}) {
  auto promise = std::make_shared<std::promise<Exchange>>();
  auto future = promise->get_future();
  client.send(origin, std::move(request), [promise](Exchange exchange) { promise->set_value(std::move(exchange)); });
  return future;
}

// "200 body", or "Unreachable: why".
std::string told(const Exchange& exchange) {
  if (exchange) return fmt::format("{} {}", exchange->status, exchange->body);
  static constexpr std::string_view kNames[] = {"Unreachable", "Untrusted", "TimedOut", "Broken",
                                                "Malformed",   "Busy",      "Stopped"};
  const auto& failure = exchange.error();
  return fmt::format("{}{}: {}", kNames[static_cast<int>(failure.kind)], failure.maybe_handled ? "?" : "",
                     failure.message);
}

std::string ask(Client& client, const Origin& origin, ClientRequest request = {}) {
  return told(send(client, origin, std::move(request)).get());
}

ClientRequest post(std::string body) { return {.method = "POST", .target = "/x?y=z", .headers = {}, .body = body}; }
ClientRequest idempotent() { return {.idempotent = true}; }

TEST(HttpClient, SendsARequestAndReadsItsResponse) {
  FunctionHandler handler([](const Request& request, Responder responder) {
    Response response = testing::text(fmt::format("{} {} {} {} {}", request.method, request.target,
                                                  request.header("Host"), request.header("X-A"), request.body));
    response.status = 201;
    response.headers = "X-B: c\r\n";
    responder.send(std::move(response));
  });
  const auto server = testing::start(handler);
  const auto client = start();
  const auto exchange =
      send(*client, at(server->port()), {.method = "PUT", .target = "/p?q", .headers = {{"X-A", "b"}}, .body = "text"})
          .get();
  EXPECT_EQ(told(exchange), fmt::format("201 PUT /p?q 127.0.0.1:{} b text", server->port()));
  EXPECT_EQ(exchange->header("x-b"), "c");
  EXPECT_EQ(exchange->header("x-c"), "");
  EXPECT_EQ(ask(*client, at(server->port()), {.method = "HEAD"}), "201 ");
}

TEST(HttpClient, UsesOneConnectionForRequestsThatFollowEachOther) {
  FunctionHandler echo(testing::echo);
  const auto server = testing::start(echo);
  const auto client = start();
  for (int i = 0; i < 100; ++i) {
    const std::string body(static_cast<std::size_t>(i * i * 10), 'x');
    EXPECT_EQ(ask(*client, at(server->port()), post(body)), "200 POST /x?y=z " + body);
  }
  EXPECT_EQ(server->statistics().connections_accepted, 1U);
}

TEST(HttpClient, CarriesLargeBodiesBothWays) {
  FunctionHandler echo(testing::echo);
  const auto server = testing::start(echo);
  const auto client = start();
  std::string body(10 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 23);
  EXPECT_EQ(ask(*client, at(server->port()), post(body)), "200 POST /x?y=z " + body);
}

TEST(HttpClient, OpensNoMoreConnectionsThanItMay) {
  FunctionHandler echo(testing::echo);
  const auto server = testing::start(echo);
  const auto client = start({.connections = 3});
  std::vector<std::future<Exchange>> exchanges;
  for (int i = 0; i < 200; ++i) exchanges.push_back(send(*client, at(server->port()), post(std::to_string(i))));
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(told(exchanges[static_cast<std::size_t>(i)].get()), fmt::format("200 POST /x?y=z {}", i));
  }
  EXPECT_EQ(server->statistics().connections_accepted, 3U);
}

TEST(HttpClient, IsSharedByThreadsAndServesSeveralOrigins) {
  FunctionHandler echo(testing::echo);
  const auto first = testing::start(echo);
  const auto second = testing::start(echo);
  const auto client = start({.connections = 4});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto port = (t % 2 == 0 ? first : second)->port();
      for (int i = 0; i < 200; ++i) {
        const auto body = fmt::format("{} {}", t, i);
        EXPECT_EQ(ask(*client, at(port), post(body)), "200 POST /x?y=z " + body);
      }
    });
  }
}

TEST(HttpClient, ReadsAnswersInEveryForm) {
  const std::vector<std::pair<std::string, std::string>> answers = {
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "200 abcde"},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end", "200 until the end"},
      {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold", "200 old"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404 "},
  };
  for (const auto& [answer, expected] : answers) {
    ScriptedServer server([&](ServerSide& side, int) {
      side.read_request();
      for (const char c : answer) side.send({&c, 1});  // as slowly as it can come
    });
    const auto client = start();
    EXPECT_EQ(ask(*client, at(server.port())), expected);
  }
}

TEST(HttpClient, SaysWhyThereIsNoAnswer) {
  const auto failure_of = [](const std::string& answer) {
    ScriptedServer server([&](ServerSide& side, int) {
      side.read_request();
      side.send(answer);
    });
    auto text = ask(*start({.body_bytes = 1000}), at(server.port()));
    const auto address = fmt::format("http://127.0.0.1:{}", server.port());
    if (const auto found = text.find(address); found != std::string::npos) text.replace(found, address.size(), "IT");
    return text;
  };
  EXPECT_EQ(failure_of(""), "Broken?: the connection to IT ended before its answer did: End of file");
  EXPECT_EQ(failure_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhalf"),
            "Broken?: the connection to IT ended before its answer did: End of file");
  EXPECT_EQ(failure_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            "Broken?: the connection to IT ended before its answer did: End of file");
  EXPECT_EQ(failure_of("nonsense"), "Malformed?: the answer of IT cannot be read: the answer is not HTTP/1.1");
  EXPECT_EQ(failure_of("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"),
            "Malformed?: the answer of IT cannot be read: the body is too large");
  EXPECT_EQ(failure_of("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x')),
            "Malformed?: the answer of IT cannot be read: the body is too large");
}

TEST(HttpClient, SaysThatNobodyIsThere) {
  const auto client = start();
  const auto port = [] { return ScriptedServer([](ServerSide&, int) {}).port(); }();  // and now it is free
  EXPECT_EQ(ask(*client, at(port)),
            fmt::format("Unreachable: cannot connect to http://127.0.0.1:{}: Connection refused", port));
  EXPECT_TRUE(ask(*client, at(80, "nobody.invalid")).starts_with("Unreachable: cannot find the host nobody.invalid: "));
}

TEST(HttpClient, WaitsForAnAnswerOnlyForSoLong) {
  std::latch over(1);
  ScriptedServer server([&](ServerSide& side, int) {
    side.read_request();
    side.send("HTTP/1.1 200 OK\r\n");
    over.wait();
  });
  const auto client = start({.connections = 1, .timeout = 100ms});
  auto first = send(*client, at(server.port()));
  auto second = send(*client, at(server.port()));
  const auto url = at(server.port()).url();
  EXPECT_EQ(told(first.get()), fmt::format("TimedOut?: no whole answer from {} within 100 ms", url));
  EXPECT_TRUE(told(second.get()).starts_with("TimedOut")) << "it waited for the connection, and its time is over too";
  over.count_down();
}

TEST(HttpClient, ConnectsOnlyForSoLong) {
  std::latch over(1);
  ScriptedServer server([&](ServerSide&, int) { over.wait(); });  // takes the connection, and shakes no hands
  const auto client = start({.connect_timeout = 100ms});
  Origin origin = at(server.port());
  origin.tls = true;
  EXPECT_EQ(ask(*client, origin), fmt::format("TimedOut: no connection to {} within 100 ms", origin.url()));
  over.count_down();
}

TEST(HttpClient, RefusesARequestWhenTooManyWait) {
  std::latch over(1);
  ScriptedServer server([&](ServerSide& side, int) {
    while (!side.read_request().empty()) {
      over.wait();
      side.answer("late");
    }
  });
  const auto client = start({.connections = 1, .waiting = 1});
  auto first = send(*client, at(server.port()));
  auto second = send(*client, at(server.port()));
  EXPECT_EQ(ask(*client, at(server.port())),
            fmt::format("Busy: 1 requests wait for a connection to {} already", at(server.port()).url()));
  over.count_down();
  EXPECT_EQ(told(first.get()), "200 late");
  EXPECT_EQ(told(second.get()), "200 late");
}

// --- connections that are kept

TEST(HttpClient, NoticesThatAnIdleConnectionWasClosed) {
  std::promise<bool> noticed;
  ScriptedServer server([&](ServerSide& side, int number) {
    side.read_request();
    side.answer(std::to_string(number));
    if (number == 0) return noticed.set_value(side.finish());
    side.read_request();
  });
  const auto client = start();
  EXPECT_EQ(ask(*client, at(server.port())), "200 0");
  ASSERT_TRUE(noticed.get_future().get());
  EXPECT_EQ(ask(*client, at(server.port())), "200 1") << "though it is not idempotent";
}

TEST(HttpClient, ReplacesAStaleConnectionForARequestThatMayBeRepeated) {
  // The server closes a kept connection when the second request has come: what a client sees that was too late.
  const auto script = [](ServerSide& side, int number) {
    side.read_request();
    side.answer(std::to_string(number));
    side.read_request();
  };
  ScriptedServer server(script);
  const auto client = start();
  EXPECT_EQ(ask(*client, at(server.port()), idempotent()), "200 0");
  EXPECT_EQ(ask(*client, at(server.port()), idempotent()), "200 1");
  EXPECT_EQ(server.connections(), 2);
  EXPECT_TRUE(ask(*client, at(server.port())).starts_with("Broken?"));
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpClient, RepeatsNothingOnAFreshConnectionOrBehindABeginning) {
  ScriptedServer closing([](ServerSide& side, int) { side.read_request(); });
  const auto client = start();
  EXPECT_TRUE(ask(*client, at(closing.port()), idempotent()).starts_with("Broken?"));
  EXPECT_EQ(closing.connections(), 1);

  ScriptedServer beginning([](ServerSide& side, int) {
    side.read_request();
    side.answer("whole");
    side.read_request();
    side.send("H");
  });
  EXPECT_EQ(ask(*client, at(beginning.port()), idempotent()), "200 whole");
  EXPECT_TRUE(ask(*client, at(beginning.port()), idempotent()).starts_with("Broken?"));
  EXPECT_EQ(beginning.connections(), 1);
}

TEST(HttpClient, MakesRoomForAFreshConnection) {
  ScriptedServer server([](ServerSide& side, int number) {
    side.read_request();
    side.answer(std::to_string(number));
    side.read_request();
  });
  const auto client = start({.connections = 1});
  EXPECT_EQ(ask(*client, at(server.port()), idempotent()), "200 0");
  EXPECT_EQ(ask(*client, at(server.port()), idempotent()), "200 1");
}

TEST(HttpClient, DropsAConnectionOnWhichMoreComesThanWasAsked) {
  ScriptedServer server([](ServerSide& side, int number) {
    side.read_request();
    side.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}HTTP/1.1 200 OK\r\n", number));
    side.read_request();
  });
  const auto client = start();
  EXPECT_EQ(ask(*client, at(server.port())), "200 0");
  EXPECT_EQ(ask(*client, at(server.port())), "200 1");
}

TEST(HttpClient, ClosesWhatNobodyNeeds) {
  std::promise<bool> gone;
  ScriptedServer server([&](ServerSide& side, int) {
    side.read_request();
    side.answer("");
    gone.set_value(side.read_request().empty());
  });
  const auto client = start({.idle_timeout = 50ms});
  EXPECT_EQ(ask(*client, at(server.port())), "200 ");
  EXPECT_TRUE(gone.get_future().get());
}

TEST(HttpClient, TakesAnAnswerThatComesBeforeTheRequestIsSent) {
  FunctionHandler echo(testing::echo);
  const auto server = testing::start(echo, {.body_bytes = 1000});
  const auto client = start();
  EXPECT_TRUE(ask(*client, at(server->port()), post(std::string(8 << 20, 'x'))).starts_with("413 "));
  EXPECT_EQ(ask(*client, at(server->port()), post("small")), "200 POST /x?y=z small");
}

// --- its own life

TEST(HttpClient, AnswersEverythingWhenItIsDestroyed) {
  std::latch over(1);
  ScriptedServer server([&](ServerSide& side, int) {
    side.read_request();
    over.wait();
  });
  auto client = start({.connections = 2});
  std::vector<std::future<Exchange>> exchanges;
  for (int i = 0; i < 10; ++i) exchanges.push_back(send(*client, at(server.port())));
  std::promise<void> waited;
  client->after(1h, [&] { waited.set_value(); });
  client.reset();
  for (auto& exchange : exchanges) {
    EXPECT_EQ(exchange.get().error().kind, Kind::Stopped);
  }
  waited.get_future().get();
  over.count_down();
}

TEST(HttpClient, MayBeUsedByItsCallbacks) {
  FunctionHandler echo(testing::echo);
  const auto server = testing::start(echo);
  const auto client = start({.connections = 1});
  std::promise<std::string> result;
  client->send(at(server->port()), post("1"), [&](const Exchange&) {
    client->after(1ms, [&] {
      client->send(at(server->port()), post("2"), [&](const Exchange& second) { result.set_value(told(second)); });
    });
  });
  EXPECT_EQ(result.get_future().get(), "200 POST /x?y=z 2");
}

TEST(HttpClient, SurvivesACallbackThatThrows) {
  FunctionHandler echo(testing::echo);
  const auto server = testing::start(echo);
  const auto client = start();
  client->send(at(server->port()), {}, [](const Exchange&) { throw std::runtime_error("a bug"); });
  EXPECT_EQ(ask(*client, at(server->port())), "200 GET / ");
}

// While it is being stopped, too: those behind it are told, and the thread ends.
TEST(HttpClient, StopsAlthoughACallbackThrows) {
  std::latch over(1);
  ScriptedServer server([&](ServerSide& side, int) {
    side.read_request();
    over.wait();
  });
  auto client = start({.connections = 1});
  client->send(at(server.port()), {}, [](const Exchange&) { throw std::runtime_error("a bug"); });
  auto behind = send(*client, at(server.port()));
  client->after(1h, [] { throw std::runtime_error("another"); });
  client.reset();
  EXPECT_EQ(behind.get().error().kind, Kind::Stopped);
  over.count_down();
}

TEST(HttpClient, SendsNoHeaderOfTwoLines) {
  const auto client = start();
  EXPECT_EQ(ask(*client, at(1), {.headers = {{"A", "b\r\nC: d"}}}),
            "Malformed: a header of the request has more than one line");
}

// --- TLS

class HttpClientTls : public ::testing::Test {
 protected:
  HttpClientTls() {
    std::string pattern = (fs::temp_directory_path() / "stator-client-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~HttpClientTls() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  // Serves with the certificate, and asks with a client that trusts `ca`.
  std::string ask_it(const std::string& ca, const std::string& host, int times = 1) {
    const auto context = TlsContext::load(path("cert"), path("key")).value();
    const auto server = testing::start(echo_, {.tls = context.get()});
    const auto client = start({.ca_file = ca});
    const Origin origin{.tls = true, .host = host, .port = server->port()};
    std::string answer;
    for (int i = 0; i < times; ++i) answer = ask(*client, origin, post("secret"));
    EXPECT_LE(server->statistics().connections_accepted, 1U);
    if (const auto at = answer.find(origin.url()); at != std::string::npos) {
      answer.replace(at, origin.url().size(), "IT");
    }
    return answer;
  }

  fs::path folder_;
  FunctionHandler echo_{testing::echo};
};

TEST_F(HttpClientTls, SpeaksToAServerThatItTrusts) {
  testing::make_certificate(path("cert"), path("key"), "test", "DNS:localhost,IP:127.0.0.1");
  EXPECT_EQ(ask_it(path("cert"), "127.0.0.1", 50), "200 POST /x?y=z secret");
  EXPECT_EQ(ask_it(path("cert"), "localhost"), "200 POST /x?y=z secret");
}

TEST_F(HttpClientTls, SpeaksToNobodyElse) {
  testing::make_certificate(path("cert"), path("key"), "test", "DNS:localhost,IP:127.0.0.1");
  testing::make_certificate(path("other"), path("other key"), "test", "IP:127.0.0.1");
  EXPECT_EQ(ask_it("", "127.0.0.1"), "Untrusted: the certificate of IT is not to be trusted: self-signed certificate");
  EXPECT_TRUE(
      ask_it(path("other"), "127.0.0.1").starts_with("Untrusted: the certificate of IT is not to be trusted: "));
  testing::make_certificate(path("cert"), path("key"), "test", "DNS:elsewhere.example,IP:127.0.0.2");
  EXPECT_EQ(ask_it(path("cert"), "127.0.0.1"),
            "Untrusted: the certificate of IT is not to be trusted: IP address mismatch");
  EXPECT_EQ(ask_it(path("cert"), "localhost"),
            "Untrusted: the certificate of IT is not to be trusted: hostname mismatch");
  testing::make_certificate(path("cert"), path("key"), "test", "IP:127.0.0.1", -3600);
  EXPECT_EQ(ask_it(path("cert"), "127.0.0.1"),
            "Untrusted: the certificate of IT is not to be trusted: certificate has expired");
}

TEST_F(HttpClientTls, SaysThatTheServerSpeaksNoTls) {
  const auto server = testing::start(echo_);
  const auto answer = ask(*start(), {.tls = true, .host = "127.0.0.1", .port = server->port()});
  EXPECT_TRUE(answer.starts_with(fmt::format("Unreachable: no TLS with https://127.0.0.1:{}: ", server->port())))
      << answer;
}

TEST_F(HttpClientTls, SaysWhatIsWrongWithTheFile) {
  std::ofstream(path("nonsense")) << "nonsense";
  EXPECT_EQ(Client::start({.ca_file = path("none")}).error().message, path("none") + ": cannot be read");
  EXPECT_EQ(Client::start({.ca_file = path("nonsense")}).error().message,
            path("nonsense") + ": is not a certificate in PEM form");
}

}  // namespace
}  // namespace stator::http
