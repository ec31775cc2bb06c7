#include "stator/http/loop.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "stator/base/log.h"
#include "stator/base/wake_later.h"

namespace stator::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Owns a descriptor on its way from one loop to another.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// Waits for a descriptor of somebody else.
class DescriptorWatch final : public EventLoop::Watch {
 public:
  using Ready = EventLoop::Ready;
  using Function = std::function<void(Ready)>;

  DescriptorWatch(const Executor& executor, int descriptor, Function ready)
      : descriptor_(executor, descriptor), ready_(std::make_shared<Function>(std::move(ready))) {}
  ~DescriptorWatch() override { descriptor_.release(); }
  void wait_to_read() override { wait(Waited::wait_read, Ready::ToRead); }
  void wait_to_write() override { wait(Waited::wait_write, Ready::ToWrite); }

 private:
  using Waited = asio::posix::basic_stream_descriptor<Executor>;

  void wait(Waited::wait_type type, Ready what) {
    // The wait may be over, and its handler on the way, when the watch ends.
    descriptor_.async_wait(type, [what, ready = std::weak_ptr(ready_)](const error_code& error) {
      if (error == asio::error::operation_aborted) return;
      if (const auto function = ready.lock()) (*function)(what);
    });
  }

  Waited descriptor_;
  const std::shared_ptr<Function> ready_;
};

constexpr std::chrono::seconds kLateRequests{5};

std::string make_date_line(WallTime now) {
  static constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(now - day));
  return fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n", kDays[std::chrono::weekday(day).c_encoding()],
                     static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

}  // namespace

Loop::Loop(std::shared_ptr<Shared> shared, Handler& handler)
    : shared_(std::move(shared)),
      handler_(handler),
      // One thread does all I/O, so sockets need no locks; only the queue of posted work is shared.
      io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      work_(io_.get_executor()),
      acceptor_(io_.get_executor()),
      timer_(io_.get_executor()) {
  update_time();
}

Loop::~Loop() = default;

void Loop::run() {
  thread_ = std::this_thread::get_id();
  accept();
  schedule_tick();
  io_.run();

  std::vector<Delivery> late;
  {
    MutexLock lock(mutex_);
    open_ = false;
    late.swap(deliveries_);
  }
}

void Loop::update_time() {
  now_ = std::chrono::steady_clock::now();
  const auto* clock = options().clock;
  date_line_ = make_date_line(clock != nullptr ? clock->now() : SystemClock().now());
}

void Loop::schedule_tick() {
  auto at = now_ + options().tick;
  if (draining_) at = std::min(at, drain_deadline_);
  timer_.expires_at(at);
  timer_.async_wait([this](const error_code& error) {
    if (!error) tick();
  });
}

void Loop::tick() {
  const auto before = now_;
  update_time();
  // Bytes that came meanwhile are read in the next moments.
  if (now_ - before > options().standstill) late_until_ = now_ + kLateRequests;
  for_each_connection([this](Connection& connection) { connection.sweep(now_); });
  if (draining_ && now_ >= drain_deadline_) {
    for_each_connection([](Connection& connection) { connection.close(); });
  }
  if (accept_paused_ && !draining_) {
    accept_paused_ = false;
    accept();
  }
  if (attachment() != nullptr) attachment()->on_tick();
  if (!draining_ || first_ != nullptr) schedule_tick();
}

void Loop::accept() {
  acceptor_.async_accept([this](const error_code& error, Socket socket) { on_accept(error, std::move(socket)); });
}

void Loop::on_accept(const error_code& error, Socket socket) {
  if (draining_ || !acceptor_.is_open()) return;
  if (!error) {
    place(std::move(socket));
  } else if (error != asio::error::connection_aborted) {
    // Out of descriptors or memory: trying again at once would only spin.
    log::warning("http_accept_failed", {{"error", error.message()}});
    accept_paused_ = true;
    return;
  }
  accept();
}

// The kernel spreads connections over the loops by a hash, which for the few connections of a client's pool is a
// lottery: of two, both land on one loop half the time, and the other core idles for as long as they live.
void Loop::place(Socket socket) {
  Loop* target = this;
  for (auto* other : shared_->loops) {
    if (other->load_.load(std::memory_order_relaxed) < target->load_.load(std::memory_order_relaxed)) target = other;
  }
  target->load_.fetch_add(1, std::memory_order_relaxed);
  if (target == this) return add(std::move(socket));
  error_code error;
  const auto protocol = acceptor_.local_endpoint(error).protocol();
  Descriptor descriptor(socket.release(error));
  asio::post(target->io_, [target, protocol, moved = std::move(descriptor)]() mutable {
    Socket received(target->io_.get_executor());
    error_code failed;
    received.assign(protocol, moved.get(), failed);
    if (failed) {
      target->load_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    moved.release();
    target->add(std::move(received));
  });
}

// The connection is part of load_ already.
void Loop::add(Socket socket) {
  error_code error;
  const auto client = socket.remote_endpoint(error).address();
  const auto objection = shared_->limits.enter(client);
  const bool over_limit = !objection.empty();
  if (over_limit) counters_.refused.add(1);
  if (error || draining_ || (over_limit && !shared_->limits.may_refuse())) {
    shared_->limits.leave(client);
    load_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  shared_->connections.fetch_add(1, std::memory_order_relaxed);
  if (!over_limit) counters_.accepted.add(1);
  auto* connection = new Connection(shared_from_this(), std::move(socket), client);  // its one reference is the list's
  connection->next_ = first_;
  if (first_ != nullptr) first_->previous_ = connection;
  first_ = connection;
  const ConnectionRef held(*connection);
  connection->start(objection);
}

void Loop::remove(Connection& connection) {
  (connection.previous_ != nullptr ? connection.previous_->next_ : first_) = connection.next_;
  if (connection.next_ != nullptr) connection.next_->previous_ = connection.previous_;
  connection.previous_ = connection.next_ = nullptr;
  if (connection.over_limit()) shared_->limits.done_refusing();
  shared_->connections.fetch_sub(1, std::memory_order_relaxed);
  shared_->limits.leave(connection.client());
  load_.fetch_sub(1, std::memory_order_relaxed);
  connection.release();
  finish_if_drained();
}

// The function may close the connection it is given, and no other.
template <typename Function>
void Loop::for_each_connection(Function function) {
  for (auto* connection = first_; connection != nullptr;) {
    auto* const next = connection->next_;
    const ConnectionRef held(*connection);
    function(*connection);
    connection = next;
  }
}

void Loop::deliver(ConnectionRef connection, Response response) {
  {
    MutexLock lock(mutex_);
    if (!open_) return;
    deliveries_.push_back({std::move(connection), std::move(response)});
    if (deliveries_.size() > 1) return;  // the loop has been told already, and takes all there are
    if (std::this_thread::get_id() == thread_ && in_watch_) return;  // likewise
  }
  WakeLater::call(
      [self = shared_from_this()] { asio::post(self->io_, [loop = self.get()] { loop->take_deliveries(); }); });
}

void Loop::take_deliveries() {
  {
    MutexLock lock(mutex_);
    taken_.swap(deliveries_);
  }
  for (auto& delivery : taken_) delivery.connection->on_answer(std::move(delivery.response));
  taken_.clear();
}

std::unique_ptr<EventLoop::Watch> Loop::watch(int descriptor, std::function<void(Ready)> ready) {
  // Answers of the function are sent when it has ended, without another turn of the loop.
  return std::make_unique<DescriptorWatch>(io_.get_executor(), descriptor,
                                           [this, ready = std::move(ready)](Ready what) {
                                             in_watch_ = true;
                                             ready(what);
                                             in_watch_ = false;
                                             take_deliveries();
                                           });
}

void Loop::defer(UniqueFunction<void()> function) { asio::post(io_, std::move(function)); }

void Loop::stop(std::chrono::milliseconds grace) {
  asio::post(io_, [this, grace] { begin_drain(grace); });
}

void Loop::begin_drain(std::chrono::milliseconds grace) {
  draining_ = true;
  update_time();
  drain_deadline_ = now_ + grace;
  error_code error;
  acceptor_.close(error);  // NOLINT: closing is all that is wanted
  for_each_connection([](Connection& connection) { connection.drain(); });
  if (first_ != nullptr) {
    schedule_tick();
  } else {
    finish_if_drained();
  }
}

void Loop::finish_if_drained() {
  if (!draining_ || first_ != nullptr) return;
  attach(nullptr);
  work_.reset();
  timer_.cancel();
}

}  // namespace stator::http
