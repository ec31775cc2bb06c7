#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "stator/base/assert.h"
#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage::postgres::testing {

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  STATOR_ASSERT(path.size() < sizeof address.sun_path, "the path of a socket is short");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

inline bool send_all(int socket, const char* bytes, ssize_t size) {
  while (size > 0) {
    const auto sent = ::send(socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= sent;
  }
  return true;
}

// Stands between a store and its server, and breaks connections when a commit passes.
class Proxy {
 public:
  enum class Cut : std::uint8_t {
    None,
    BeforeCommit,  // the server never gets it
    AfterCommit,   // the server has done it, and its answer is lost
    InCommit,      // the server gets the first bytes of it, and then nothing more for as long as it stays connected
  };

  enum class At : std::uint8_t { Socket, Port };

  explicit Proxy(std::string server_socket, At at = At::Socket);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string folder() const { return folder_.path(); }
  int port() const { return port_; }  // on this machine
  // For the next commit that passes.
  void cut(Cut cut) { cut_ = cut; }
  // New connections are closed at once.
  void refuse(bool refuse) { refusing_ = refuse; }
  // From the next cut on, they are.
  void refuse_after_cut(bool refuse) {
    refuse_after_cut_ = refuse;
    if (!refuse) refusing_ = false;
  }
  int cuts() const { return cuts_; }
  // Keeps all bytes to itself, as a server that is paused, and passes them on afterwards.
  void hold(bool hold) { holding_ = hold; }
  // Keeps all bytes of the connections that are open to itself for ever, as a firewall that has forgotten them.
  void forget_connections() { ++forgotten_; }
  int clients() const { return clients_; }  // that have connected so far
  // Breaks all connections that are open.
  void break_connections() { ++generation_; }

 private:
  void listen_for_clients();
  void forward(int client);

  const std::string server_socket_;
  storage::testing::TemporaryFolder folder_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<Cut> cut_{Cut::None};
  std::atomic<bool> refuse_after_cut_{false}, refusing_{false}, stopping_{false}, holding_{false};
  std::atomic<int> cuts_{0}, generation_{0}, forgotten_{0}, clients_{0};
  std::list<std::jthread> connections_;  // only the listening thread adds
  std::jthread thread_;
};

inline Proxy::Proxy(std::string server_socket, At at) : server_socket_(std::move(server_socket)) {
  if (at == At::Socket) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(folder_.path() + "/.s.PGSQL.5432");
    STATOR_ASSERT(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "a new folder");
  } else {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    STATOR_ASSERT(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0, "a free port");
    STATOR_ASSERT(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "it is bound");
    port_ = ntohs(address.sin_port);
  }
  STATOR_ASSERT(::listen(listener_, 64) == 0, "it can listen");
  thread_ = std::jthread([this] { listen_for_clients(); });
}

inline Proxy::~Proxy() {
  stopping_ = true;
  thread_.join();
  connections_.clear();
  ::close(listener_);
}

inline void Proxy::listen_for_clients() {
  while (!stopping_) {
    pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 20) <= 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    if (refusing_) {
      ::close(client);
    } else {
      connections_.emplace_back([this, client] { forward(client); });
    }
  }
}

inline void Proxy::forward(int client) {
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = address_of(server_socket_);
  char buffer[64 << 10];
  bool answer_is_lost = false, is_stuck = false;
  const int generation = generation_, forgotten = forgotten_;
  ++clients_;
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    for (bool open = true; open && !stopping_ && generation == generation_;) {
      if (holding_ || forgotten != forgotten_) {
        ::poll(nullptr, 0, 5);
        continue;
      }
      const short from_client = is_stuck ? 0 : POLLIN;
      pollfd both[2] = {{.fd = client, .events = from_client, .revents = 0},
                        {.fd = server, .events = POLLIN, .revents = 0}};
      if (::poll(both, 2, 20) <= 0) continue;
      if (both[0].revents != 0) {
        const auto size = ::recv(client, buffer, sizeof buffer, 0);
        if (size <= 0) break;
        // The name of the statement in the message that binds it.
        static constexpr std::string_view kCommit("\0commit\0", 8);
        if (std::string_view(buffer, static_cast<std::size_t>(size)).find(kCommit) != std::string_view::npos) {
          const auto how = cut_.exchange(Cut::None);
          if (how != Cut::None) {
            ++cuts_;
            refusing_ = refuse_after_cut_.load();
          }
          if (how == Cut::BeforeCommit) break;
          answer_is_lost = how == Cut::AfterCommit;
          if (how == Cut::InCommit) {
            send_all(server, buffer, size / 2);
            is_stuck = true;
            continue;
          }
        }
        open = send_all(server, buffer, size);
      }
      if (both[1].revents != 0) {
        const auto size = ::recv(server, buffer, sizeof buffer, 0);
        if (size <= 0 || answer_is_lost) break;
        open = open && send_all(client, buffer, size);
      }
    }
  }
  ::close(server);
  ::close(client);
}

}  // namespace stator::storage::postgres::testing
