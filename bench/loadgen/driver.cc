#include "stator/bench/driver.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace stator::bench {
namespace {

using Time = std::chrono::steady_clock::time_point;

class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& what) { throw Failure(what + ": " + std::generic_category().message(errno)); }

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

File connect_to(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found)) {
    throw Failure(endpoint.host + ": " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  for (const auto* a = addresses.get(); a != nullptr; a = a->ai_next) {
    File socket(::socket(a->ai_family, a->ai_socktype, a->ai_protocol));
    if (socket.get() < 0 || ::connect(socket.get(), a->ai_addr, a->ai_addrlen) != 0) continue;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    return socket;
  }
  fail("connect to " + endpoint.host + ":" + std::to_string(endpoint.port));
}

double processor_seconds(const std::vector<int>& pids) {
  double total = 0;
  for (const int pid : pids) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto at = line.rfind(')');
    if (at == std::string::npos) continue;
    std::istringstream fields(line.substr(at + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    total += (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return total;
}

double own_processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Answer {
  int status = 0;
  std::string_view body;
  std::size_t size = 0;  // head and body
};

// The answer at the start of `data`, when it is complete.  Knows what servers send here: a Content-Length.
std::optional<Answer> parse(std::string_view data) {
  const auto head_end = data.find("\r\n\r\n");
  if (head_end == data.npos) return std::nullopt;
  const auto head = data.substr(0, head_end + 2);
  Answer answer;
  if (head.size() < 13 || !head.starts_with("HTTP/1."))
    throw Failure("no HTTP answer: " + std::string(head.substr(0, 80)));
  std::from_chars(head.data() + 9, head.data() + 12, answer.status);
  static constexpr std::string_view kLength = "content-length:";
  std::optional<std::size_t> length;
  for (auto at = head.find("\r\n"); at + 2 < head.size() && !length; at = head.find("\r\n", at + 2)) {
    const auto line = head.substr(at + 2, kLength.size());
    if (line.size() == kLength.size() && ::strncasecmp(line.data(), kLength.data(), kLength.size()) == 0) {
      auto from = at + 2 + kLength.size();
      while (from < head.size() && head[from] == ' ') ++from;
      length.emplace(0);
      std::from_chars(head.data() + from, head.data() + head.size(), *length);
    }
  }
  if (!length) throw Failure("an answer without Content-Length: " + std::string(head));
  if (data.size() < head_end + 4 + *length) return std::nullopt;
  answer.body = data.substr(head_end + 4, *length);
  answer.size = head_end + 4 + *length;
  return answer;
}

// Costs the load generator nothing, and a server that checks no signatures as much as a right one.
constexpr std::string_view kUnchecked =
    "X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
    "Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, "
    "Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n";

class Connection {
 public:
  Connection(const Endpoint& endpoint, Signer* signer, std::unique_ptr<Client> client)
      : socket_(connect_to(endpoint)), client_(std::move(client)), endpoint_(endpoint), signer_(signer) {}

  int fd() const { return socket_.get(); }
  Time due_at() const { return due_at_; }
  Client& client() { return *client_; }
  const std::string& body() const { return body_; }

  // Sends the next request, which was due at `due`; false when the client has none.
  bool send_next(Time due) {
    body_.clear();
    if (!client_->next(body_)) return false;
    const std::string target = "DynamoDB_20120810." + std::string(client_->operation());
    request_ = "POST " + endpoint_.path + " HTTP/1.1\r\nHost: " + endpoint_.host +
               "\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: " + target + "\r\n";
    request_ +=
        signer_ != nullptr ? signer_->headers(endpoint_.host, endpoint_.path, target, body_) : std::string(kUnchecked);
    request_ += "Content-Length: ";
    request_ += std::to_string(body_.size());
    request_ += "\r\n\r\n";
    request_ += body_;
    due_at_ = due;
    send();
    return true;
  }

  // Opens the connection again and repeats the request under way.
  void reopen() {
    socket_ = connect_to(endpoint_);
    send();
  }

  // Goes on writing; true while something is left, so that the loop asks for writability.
  bool write_more() {
    while (written_ < request_.size()) {
      const auto n = ::send(fd(), request_.data() + written_, request_.size() - written_, MSG_NOSIGNAL);
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
      if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;  // reading finds out that it is closed
      if (n < 0) fail("send");
      written_ += static_cast<std::size_t>(n);
    }
    return false;
  }
  bool writing() const { return written_ < request_.size(); }

  // Reads what is there; the answer once it is whole.  Sets closed() when there will be none.
  std::optional<Answer> read_more() {
    while (true) {
      const auto old = received_.size();
      received_.resize(old + (64 << 10));
      const auto n = ::recv(fd(), received_.data() + old, received_.size() - old, 0);
      received_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      if (n == 0 || (n < 0 && errno == ECONNRESET)) {
        closed_ = true;
        return std::nullopt;
      }
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (n < 0) fail("recv");
      if (static_cast<std::size_t>(n) < (64 << 10)) break;
    }
    auto answer = parse(received_);
    return answer;
  }
  bool closed() const { return closed_; }

 private:
  void send() {
    written_ = 0;
    closed_ = false;
    received_.clear();
    write_more();
  }

  File socket_;
  std::unique_ptr<Client> client_;
  const Endpoint& endpoint_;
  Signer* const signer_;  // null: a signature that nobody checks
  std::string body_, request_, received_;
  std::size_t written_ = 0;
  Time due_at_;
  bool closed_ = false;
};

class Loop {
 public:
  Loop(const Plan& plan, Workload& workload)
      : plan_(plan),
        interval_(plan.rate > 0 ? static_cast<std::int64_t>(1e9 * plan.connections / plan.rate) : 0),
        poll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(plan.connections); ++i) {
      const auto& endpoint = plan.endpoints[i % plan.endpoints.size()];
      connections_.push_back(std::make_unique<Connection>(endpoint, plan.signer, workload.client(i)));
    }
  }

  Outcome run() {
    const auto begin = std::chrono::steady_clock::now();
    count_from_ = begin + plan_.warmup;
    end_ = count_from_ + plan_.duration;
    if (plan_.warmup.count() == 0) start_counting();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      watch(*connections_[i], EPOLL_CTL_ADD);
      start(*connections_[i], begin + interval_ * i / connections_.size());
    }
    std::array<epoll_event, 256> events{};
    while (under_way_ > 0 || !waiting_.empty()) {
      const int n = wait(events);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("epoll_pwait2");
      if (n == 0 && waiting_.empty()) throw Failure("no answer for 60 s");
      send_due();
      for (const auto& event : std::span(events).first(static_cast<std::size_t>(n))) {
        handle(*static_cast<Connection*>(event.data.ptr), event.events);
      }
    }
    if (!counting_) start_counting();
    if (!stopped_) stop_counting();
    return std::move(outcome_);
  }

 private:
  void start_counting() {
    counting_ = true;
    outcome_.server_cpu_seconds = -processor_seconds(plan_.server_pids);
    outcome_.client_cpu_seconds = -own_processor_seconds();
    counted_from_ = std::chrono::steady_clock::now();
  }

  void stop_counting() {
    stopped_ = true;
    outcome_.server_cpu_seconds += processor_seconds(plan_.server_pids);
    outcome_.client_cpu_seconds += own_processor_seconds();
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - counted_from_).count();
  }

  // Sends the next request of a connection, now or, with a rate, when it is due.
  void start(Connection& c, Time due) {
    if (interval_.count() > 0) {
      waiting_.emplace(due, &c);
    } else {
      send(c, std::chrono::steady_clock::now());
    }
  }

  void send(Connection& c, Time due) {
    if (!c.send_next(due)) return;
    ++under_way_;
    if (c.writing()) watch(c, EPOLL_CTL_MOD);
  }

  void send_due() {
    while (!waiting_.empty() && waiting_.top().first <= std::chrono::steady_clock::now()) {
      const auto [due, connection] = waiting_.top();
      waiting_.pop();
      if (!stopped_) send(*connection, due);
    }
  }

  // Until something arrives, or the next request is due.
  int wait(std::array<epoll_event, 256>& events) {
    std::chrono::nanoseconds most = std::chrono::minutes(1);
    if (!waiting_.empty()) most = std::min(most, waiting_.top().first - std::chrono::steady_clock::now());
    most = std::max(most, std::chrono::nanoseconds(0));
    const timespec timeout{.tv_sec = most.count() / 1'000'000'000, .tv_nsec = most.count() % 1'000'000'000};
    return ::epoll_pwait2(poll_.get(), events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  }

  void watch(Connection& c, int operation) {
    epoll_event event{};
    event.events = EPOLLIN | (c.writing() ? EPOLLOUT : 0u);
    event.data.ptr = &c;
    if (::epoll_ctl(poll_.get(), operation, c.fd(), &event) != 0) fail("epoll_ctl");
  }

  void handle(Connection& c, std::uint32_t events) {
    if ((events & EPOLLOUT) != 0 && !c.write_more()) watch(c, EPOLL_CTL_MOD);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    const auto answer = c.read_more();
    if (c.closed()) {
      if (++outcome_.reconnects > 1000) throw Failure("the server closed the connection, again and again");
      c.reopen();
      watch(c, EPOLL_CTL_ADD);
    }
    if (!answer) return;
    const auto now = std::chrono::steady_clock::now();
    --under_way_;
    judge(c, *answer, now);
    const bool endless = plan_.duration.count() == 0;
    if (!counting_ && now >= count_from_) start_counting();
    if (!endless && !stopped_ && now >= end_) stop_counting();
    if (!stopped_) start(c, c.due_at() + interval_);
  }

  void judge(Connection& c, const Answer& answer, Time now) {
    std::optional<std::string> problem;
    if (answer.status != 200) {
      problem = "status " + std::to_string(answer.status) + ": " + std::string(answer.body.substr(0, 300));
    } else {
      problem = c.client().check(answer.body);
    }
    if (problem && outcome_.errors++ == 0) {
      outcome_.first_error = std::string(c.client().operation()) + " " + c.body().substr(0, 300) + ": " + *problem;
    }
    if (!counting_ || stopped_ || problem) return;
    ++outcome_.operations;
    outcome_.items += c.client().items();
    outcome_.bytes_received += answer.size;
    outcome_.latency.add(static_cast<std::uint64_t>((now - c.due_at()).count()));
  }

  const Plan& plan_;
  const std::chrono::nanoseconds interval_;  // between two requests of a connection; 0 without a rate
  File poll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  using Due = std::pair<Time, Connection*>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> waiting_;  // the first that is due on top
  Outcome outcome_;
  Time count_from_, counted_from_, end_;
  std::size_t under_way_ = 0;
  bool counting_ = false, stopped_ = false;
};

}  // namespace

Outcome run(const Plan& plan, Workload& workload) { return Loop(plan, workload).run(); }

}  // namespace stator::bench
