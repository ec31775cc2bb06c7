#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace stator::http::testing {

// One client of a ScriptedServer: bytes in and out, blocking.  Gives up after ten seconds.
class ServerSide {
 public:
  explicit ServerSide(int fd) : fd_(fd) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~ServerSide() { ::close(fd_); }
  ServerSide(const ServerSide&) = delete;
  ServerSide& operator=(const ServerSide&) = delete;

  // The next request, head and body; empty when the client has gone.
  std::string read_request() {
    std::size_t whole = std::string::npos;
    while (true) {
      if (const auto end = received_.find("\r\n\r\n"); end != std::string::npos && whole == std::string::npos) {
        const auto length = received_.find("Content-Length: ");
        whole = end + 4 + (length < end ? std::stoul(received_.substr(length + 16)) : 0);
      }
      if (received_.size() >= whole) break;
      char bytes[4096];
      const auto count = ::recv(fd_, bytes, sizeof bytes, 0);
      if (count <= 0) return {};
      received_.append(bytes, static_cast<std::size_t>(count));
    }
    auto request = received_.substr(0, whole);
    received_.erase(0, whole);
    return request;
  }
  // Sends no more, and waits until the client has closed its side.  False when it does not.
  bool finish() {
    ::shutdown(fd_, SHUT_WR);
    char byte = 0;
    return ::recv(fd_, &byte, 1, 0) == 0;
  }
  void send(std::string_view bytes) { ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void answer(std::string_view body) {
    send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
  }

 private:
  const int fd_;
  std::string received_;
};

// Listens on a port of its own and gives every connection, numbered from 0, to the script, on a thread of its own.  The
// connection is closed when the script returns.
class ScriptedServer {
 public:
  using Script = std::function<void(ServerSide&, int)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 64), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept(); });
  }
  ~ScriptedServer() {
    ::shutdown(fd_, SHUT_RDWR);
    acceptor_.join();
    clients_.clear();
    ::close(fd_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void accept() {
    while (true) {
      const int client = ::accept(fd_, nullptr, nullptr);
      if (client < 0) return;
      const int number = connections_++;
      clients_.emplace_back([this, client, number] {
        ServerSide side(client);
        script_(side, number);
      });
    }
  }

  const Script script_;
  const int fd_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::vector<std::jthread> clients_;
  std::jthread acceptor_;
};

}  // namespace stator::http::testing
