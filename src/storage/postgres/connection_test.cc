#include "stator/storage/postgres/connection.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <string>
#include <thread>

#include "stator/storage/postgres/test_place.h"
#include "stator/storage/postgres/test_proxy.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace stator::storage::postgres {
namespace {

using storage::testing::PostgresServer;
using testing::Proxy;

int option_of(const Connection& connection, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(connection.socket(), IPPROTO_TCP, name, &value, &size), 0);
  return value;
}

TEST(Connection, NoticesAMachineThatIsGoneWithoutAWord) {
  Proxy proxy(PostgresServer::shared().socket_path(), Proxy::At::Port);
  const auto url = fmt::format("postgres://stator@127.0.0.1:{}/postgres", proxy.port());
  const auto libpq = Libpq::load().value();
  const auto connection = Connection::open(libpq, {.url = url}).value();
  EXPECT_EQ(option_of(*connection, TCP_KEEPIDLE), 4);
  EXPECT_EQ(option_of(*connection, TCP_KEEPINTVL), 2);
  EXPECT_EQ(option_of(*connection, TCP_KEEPCNT), 3);
  EXPECT_EQ(option_of(*connection, TCP_USER_TIMEOUT), 10'000);
  const auto own = Connection::open(libpq, {.url = url + "?keepalives_idle=50&tcp_user_timeout=7000"}).value();
  EXPECT_EQ(option_of(*own, TCP_KEEPIDLE), 50);
  EXPECT_EQ(option_of(*own, TCP_USER_TIMEOUT), 7000);
}

TEST(Connection, TakesTheHostThatAnswers) {
  Proxy silent(PostgresServer::shared().socket_path());
  silent.hold(true);
  Proxy closed(PostgresServer::shared().socket_path());
  closed.refuse(true);
  const auto& server = PostgresServer::shared().socket_path();
  const auto folder = server.substr(0, server.rfind('/'));
  const auto url = PostgresServer::url_at(fmt::format("{},{},/nowhere,{}", silent.folder(), closed.folder(), folder));
  const auto connection = Connection::open(Libpq::load().value(), {.url = url});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ((*connection)->host(), folder);
}

// A server that answers everybody with the same refusal.
class RefusingServer {
 public:
  RefusingServer(std::string code, std::string message) : answer_("E") {
    const auto fields =
        fmt::format("SFATAL{0}VFATAL{0}C{1}{0}M{2}{0}Fpostmaster.c{0}L2292{0}Rrefuse{0}{0}", '\0', code, message);
    append_u32be(answer_, static_cast<std::uint32_t>(fields.size() + 4));
    answer_ += fields;
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = testing::address_of(folder_.path() + "/.s.PGSQL.5432");
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, 20) <= 0) continue;
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        char question[1024];
        if (::recv(client, question, sizeof question, 0) > 0) {
          testing::send_all(client, answer_.data(), static_cast<ssize_t>(answer_.size()));
        }
        ::close(client);
      }
    });
  }
  ~RefusingServer() {
    thread_ = {};
    ::close(listener_);
  }
  RefusingServer(const RefusingServer&) = delete;
  RefusingServer& operator=(const RefusingServer&) = delete;

  std::string url() const { return PostgresServer::url_at(folder_.path()); }

 private:
  storage::testing::TemporaryFolder folder_;
  Bytes answer_;
  int listener_ = -1;
  std::jthread thread_;
};

TEST(Connection, KnowsARefusalByItsCodeInAnyLanguage) {
  const auto refused_by = [](const RefusingServer& server) {
    return Connection::open(Libpq::load().value(), {.url = server.url()}).error();
  };
  const auto too_many = refused_by({"53300", "tut mir leid, schon zu viele Verbindungen"});
  EXPECT_EQ(too_many.code, ErrorCode::Busy);
  EXPECT_TRUE(too_many.message.ends_with("FATAL:  tut mir leid, schon zu viele Verbindungen")) << too_many.message;
  const auto other = refused_by({"28000", "too many connection slots: Rolle darf sich nicht anmelden"});
  EXPECT_EQ(other.code, ErrorCode::Storage);
}

TEST(Connection, WaitsForNothingMuchLongerOnceThereIsHaste) {
  Proxy proxy(PostgresServer::shared().socket_path());
  const auto haste = std::make_shared<Haste>();
  const ConnectOptions options{
      .url = PostgresServer::url_at(proxy.folder()), .answers_within = std::chrono::hours(1), .haste = haste};
  const auto libpq = Libpq::load().value();
  const auto connection = Connection::open(libpq, options).value();
  const auto other = Connection::open(libpq, options).value();
  proxy.hold(true);
  std::jthread hurrying([&] { haste->begin(); });
  connection->add_once("SELECT 1");
  EXPECT_FALSE(connection->run());
  EXPECT_TRUE(connection->broken());
  other->add_once("SELECT 1");
  EXPECT_FALSE(other->run());
  EXPECT_FALSE(Connection::open(libpq, options));
}

}  // namespace
}  // namespace stator::storage::postgres

#endif
