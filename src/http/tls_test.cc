#include "stator/http/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "stator/base/test_eventually.h"
#include "stator/http/test_certificate.h"
#include "stator/http/test_client.h"

namespace stator::http {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Answer;
using testing::FunctionHandler;
using testing::make_certificate;
using testing::post;
using testing::TestClient;

// A client that encrypts, on a socket of TestClient's kind.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, int version = TLS1_3_VERSION, int receive_buffer_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)), context_(SSL_CTX_new(TLS_client_method())) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (receive_buffer_bytes > 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    SSL_CTX_set_max_proto_version(context_, version);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, socket_);
    connected_ = SSL_connect(ssl_) == 1;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(socket_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool connected() const { return connected_; }
  std::string server_name() const {
    X509* certificate = SSL_get1_peer_certificate(ssl_);
    char name[100] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
    X509_free(certificate);
    return name;
  }

  bool send(std::string_view bytes) {
    std::size_t sent = 0;
    return bytes.empty() || (SSL_write_ex(ssl_, bytes.data(), bytes.size(), &sent) == 1 && sent == bytes.size());
  }
  // The status and body of the next answer; status 0 when the connection ended before it was whole.
  Answer read() {
    Answer answer;
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return {};
    }
    const auto length_at = received_.find("Content-Length: ");
    const auto length = std::stoul(received_.substr(length_at + 16));
    while (received_.size() < end + 4 + length) {
      if (!receive()) return {};
    }
    answer.status = std::stoi(received_.substr(9, 3));
    answer.body = received_.substr(end + 4, length);
    received_.erase(0, end + 4 + length);
    return answer;
  }
  Answer ask(std::string_view bytes) {
    send(bytes);
    return read();
  }
  // The server has said goodbye, as opposed to having vanished.
  bool ended_in_order() {
    char byte = 0;
    const int result = SSL_read(ssl_, &byte, 1);
    return result <= 0 && SSL_get_error(ssl_, result) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  bool receive() {
    char bytes[64 << 10];
    std::size_t count = 0;
    if (SSL_read_ex(ssl_, bytes, sizeof bytes, &count) != 1) return false;
    received_.append(bytes, count);
    return true;
  }

  int socket_;
  SSL_CTX* context_;
  SSL* ssl_;
  bool connected_ = false;
  std::string received_;
};

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL, also to a server that has hung up
    std::string pattern = (fs::temp_directory_path() / "stator-tls-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_certificate(path("cert"), path("key"), "first");
    context_ = TlsContext::load(path("cert"), path("key")).value();
  }
  ~TlsTest() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::unique_ptr<Server> start(Handler& handler, ServerOptions options = {}) const {
    options.tls = context_.get();
    return testing::start(handler, options);
  }

  fs::path folder_;
  std::unique_ptr<TlsContext> context_;
  FunctionHandler echo_{testing::echo};
};

TEST_F(TlsTest, AnswersManyRequestsOfOneConnection) {
  const auto server = start(echo_);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server->port(), version);
    ASSERT_TRUE(client.connected());
    for (int i = 0; i < 100; ++i) {
      const std::string body(static_cast<std::size_t>(i * i), 'x');
      EXPECT_EQ(client.ask(post(body)).body, "POST / " + body);
    }
  }
  EXPECT_FALSE(TlsClient(server->port(), TLS1_1_VERSION).connected());
}

TEST_F(TlsTest, TakesRequestsInPiecesAndInBunches) {
  const auto server = start(echo_);
  TlsClient client(server->port());
  for (const char c : post("pieces")) ASSERT_TRUE(client.send({&c, 1}));
  EXPECT_EQ(client.read().body, "POST / pieces");
  std::string bunch;
  for (int i = 0; i < 500; ++i) bunch += post(std::to_string(i));
  ASSERT_TRUE(client.send(bunch));
  for (int i = 0; i < 500; ++i) ASSERT_EQ(client.read().body, "POST / " + std::to_string(i));
}

TEST_F(TlsTest, CarriesLargeBodiesBothWaysToASlowClient) {
  const auto server = start(echo_);
  TlsClient client(server->port(), TLS1_3_VERSION, 4096);
  std::string body(5 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 23);
  const auto greeting = server->statistics().bytes_sent;
  ASSERT_TRUE(client.send(post(body)));
  // Until the server's buffers are full: it has begun to answer, and gets no further.
  std::uint64_t sent = 0;
  ASSERT_TRUE(eventually([&] {
    const auto now = server->statistics().bytes_sent;
    return server->statistics().requests == 1 && now > greeting && now == std::exchange(sent, now);
  }));
  EXPECT_EQ(client.read().body, "POST / " + body);
  EXPECT_EQ(client.ask(post("and on")).body, "POST / and on");
}

TEST_F(TlsTest, AnswersFromAnotherThread) {
  std::vector<std::jthread> threads;
  FunctionHandler handler([&](const Request&, Responder responder) {
    threads.emplace_back([moved = std::move(responder)]() mutable { moved.send(testing::text("late")); });
  });
  const auto server = start(handler, {.threads = 1});
  TlsClient client(server->port());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.ask(post("")).body, "late");
}

TEST_F(TlsTest, SaysGoodbyeBehindTheLastAnswer) {
  const auto server = start(echo_, {.body_bytes = 1000});
  TlsClient client(server->port());
  EXPECT_EQ(client.ask(post("x", "Connection: close\r\n")).body, "POST / x");
  EXPECT_TRUE(client.ended_in_order());
  TlsClient refused(server->port());
  EXPECT_EQ(refused.ask(post(std::string(100'000, 'x'))).status, 413);
  EXPECT_TRUE(refused.ended_in_order());
}

TEST_F(TlsTest, DropsWhatIsNotTlsAndGoesOn) {
  const auto server = start(echo_);
  for (const auto* text : {"POST / HTTP/1.1\r\nHost: h\r\n\r\n", "\x16\x03\x01\xff\xff garbage garbage garbage"}) {
    TestClient client(server->port());
    client.send(text);
    client.finish_sending();
    EXPECT_FALSE(client.read());
  }
  TestClient(server->port()).reset();
  EXPECT_EQ(TlsClient(server->port()).ask(post("on")).body, "POST / on");
}

TEST_F(TlsTest, AHandshakeHasADeadlineAndAnIdleClientItsOwn) {
  const auto server = start(echo_, {.idle_timeout = 60s, .request_timeout = 100ms, .tick = 20ms});
  TestClient silent(server->port());
  EXPECT_TRUE(silent.ended());
  TestClient slow(server->port());
  const bool open = slow.send({"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11});  // the head of a long greeting
  EXPECT_TRUE(open);
  EXPECT_TRUE(eventually([&] { return !slow.send("x"); })) << "each is progress, but the whole takes too long";
  EXPECT_GE(server->statistics().timeouts, 2U);
  TlsClient idle(server->port());
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(TestClient(server->port()).ended()) << "so that the time of a request is over";
  EXPECT_EQ(idle.ask(post("still here")).body, "POST / still here");
}

TEST_F(TlsTest, ClosesConnectionsOverTheLimit) {
  const auto server = start(echo_, {.connections = 1});
  TlsClient first(server->port());
  EXPECT_EQ(first.ask(post("1")).status, 200);
  EXPECT_FALSE(TlsClient(server->port()).connected());
  EXPECT_EQ(first.ask(post("2")).status, 200);
}

TEST_F(TlsTest, NewConnectionsUseANewCertificate) {
  const auto server = start(echo_);
  TlsClient before(server->port());
  EXPECT_EQ(before.server_name(), "first");
  make_certificate(path("cert"), path("key"), "second");
  EXPECT_EQ(TlsClient(server->port()).server_name(), "first");
  ASSERT_TRUE(context_->reload());
  EXPECT_EQ(TlsClient(server->port()).server_name(), "second");
  EXPECT_EQ(before.ask(post("goes on")).body, "POST / goes on");
  std::ofstream(path("cert")) << "nonsense";
  EXPECT_FALSE(context_->reload());
  EXPECT_EQ(TlsClient(server->port()).server_name(), "second");
}

TEST_F(TlsTest, ReloadsWhileClientsCome) {
  const auto server = start(echo_);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) EXPECT_EQ(TlsClient(server->port()).ask(post("x")).status, 200);
    });
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(context_->reload());
}

TEST_F(TlsTest, StopsWithClientsInEveryState) {
  const auto server = start(echo_);
  TestClient shaking(server->port());
  shaking.send("\x16");
  TlsClient idle(server->port());
  TlsClient sending(server->port());
  sending.send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n");
  server->stop(200ms);
  EXPECT_EQ(server->statistics().connections_open, 0U);
}

TEST_F(TlsTest, RefusesAPrivateKeyThatOthersCanRead) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0606U}) {
    chmod(path("key").c_str(), mode);
    const auto loaded = TlsContext::load(path("cert"), path("key"));
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().message,
              path("key") + ": can be read or written by other users of this machine: chmod 600 " + path("key"));
    EXPECT_FALSE(context_->reload()) << "also when it is read again";
  }
  chmod(path("key").c_str(), 0400);
  EXPECT_TRUE(TlsContext::load(path("cert"), path("key")));
}

TEST_F(TlsTest, SaysWhatIsWrongWithTheFiles) {
  const auto error_of = [&](const char* certificate, const char* key) {
    const auto loaded = TlsContext::load(path(certificate), path(key));
    return loaded ? "no error" : loaded.error().message.substr(folder_.string().size() + 1);
  };
  make_certificate(path("other cert"), path("other key"), "other");
  std::ofstream(path("nonsense")) << "nonsense";
  chmod(path("nonsense").c_str(), 0600);
  EXPECT_EQ(error_of("none", "key"), "none: cannot be read: No such file or directory");
  EXPECT_EQ(error_of("cert", "none"), "none: cannot be read: No such file or directory");
  EXPECT_EQ(error_of("nonsense", "key"), "nonsense: is not a certificate in PEM form");
  EXPECT_EQ(error_of("cert", "nonsense"), "nonsense: is not a private key in PEM form without a passphrase");
  EXPECT_EQ(error_of("cert", "other key"), "other key: is not the key of the certificate in " + path("cert"));
}

}  // namespace
}  // namespace stator::http
