#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stator/http/server.h"

namespace stator::http::testing {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;
};

// A blocking socket that sends exactly the bytes it is told to.  Gives up after ten seconds.
class TestClient {
 public:
  explicit TestClient(std::uint16_t port, int receive_buffer_bytes = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (receive_buffer_bytes > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~TestClient() { close(); }
  TestClient(TestClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_), received_(std::move(other.received_)) {}
  TestClient& operator=(TestClient&&) = delete;

  bool connected() const { return connected_; }

  // False when the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next answer; nullopt when the connection ended before it was whole.
  std::optional<Answer> read(bool to_head_request = false) {
    std::size_t end;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return std::nullopt;
    }
    Answer answer;
    std::string_view head = std::string_view(received_).substr(0, end + 2);
    const auto status_line = head.substr(0, head.find("\r\n"));
    EXPECT_TRUE(status_line.starts_with("HTTP/1.1 ")) << status_line;
    std::from_chars(status_line.data() + 9, status_line.data() + 12, answer.status);
    for (head.remove_prefix(status_line.size() + 2); !head.empty(); head.remove_prefix(head.find("\r\n") + 2)) {
      const auto line = head.substr(0, head.find("\r\n"));
      const auto colon = line.find(": ");
      answer.headers.emplace(line.substr(0, colon), line.substr(colon + 2));
    }
    std::size_t length = 0;
    if (const auto at = answer.headers.find("Content-Length"); at != answer.headers.end() && !to_head_request) {
      length = std::stoul(at->second);
    }
    while (received_.size() < end + 4 + length) {
      if (!receive()) return std::nullopt;
    }
    answer.body = received_.substr(end + 4, length);
    received_.erase(0, end + 4 + length);
    return answer;
  }

  std::optional<Answer> ask(std::string_view bytes) {
    send(bytes);
    return read();
  }

  // Whether the server closes the connection without another byte.
  bool ended() { return received_.empty() && !receive() && errno != EAGAIN; }

  void finish_sending() { ::shutdown(fd_, SHUT_WR); }
  // Ends with a reset instead of a goodbye.
  void reset() {
    const linger abort{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  bool receive() {
    char bytes[64 << 10];
    errno = 0;
    const auto count = ::recv(fd_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int fd_;
  bool connected_ = false;
  std::string received_;
};

class FunctionHandler final : public Handler {
 public:
  using Function = std::function<void(const Request&, Responder)>;
  explicit FunctionHandler(Function function) : function_(std::move(function)) {}
  void handle(const Request& request, Responder responder) override { function_(request, std::move(responder)); }

 private:
  Function function_;
};

inline Response text(std::string body) {
  Response response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

// Answers with the method, the target and the body.
inline void echo(const Request& request, Responder responder) {
  responder.send(
      text(std::string(request.method) + " " + std::string(request.target) + " " + std::string(request.body)));
}

inline std::unique_ptr<Server> start(Handler& handler, ServerOptions options = {}) {
  options.port = 0;
  if (options.threads == 0) options.threads = 2;
  auto server = Server::start(options, handler);
  EXPECT_TRUE(server) << server.error().message;
  return std::move(server).value();
}

inline std::string post(std::string_view body, std::string_view headers = "") {
  return "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}

}  // namespace stator::http::testing
