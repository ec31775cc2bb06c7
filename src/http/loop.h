#pragma once

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stator/base/event_loop.h"
#include "stator/base/mutex.h"
#include "stator/http/connection.h"
#include "stator/http/connection_limits.h"
#include "stator/http/message/read_buffer.h"
#include "stator/http/server.h"

namespace stator::http {

// The state that the loops of one server share.  Thread-safe.
struct Shared {
  explicit Shared(const ServerOptions& o)
      : options(o),
        own_memory(o.buffered_bytes),
        own_limits({.total = o.connections}),
        memory(o.memory != nullptr ? *o.memory : own_memory),
        limits(o.limits != nullptr ? *o.limits : own_limits) {}

  const ServerOptions options;
  // Used unless the options have a budget and limits that several servers share.
  MemoryBudget own_memory;
  ConnectionLimits own_limits;
  MemoryBudget& memory;
  ConnectionLimits& limits;
  std::atomic<std::size_t> connections = 0;
  std::vector<Loop*> loops;  // constant once they run
};

// Written by the loop's thread only, read by any.
struct LoopCounter {
  std::atomic<std::uint64_t> value = 0;
  void add(std::uint64_t n) { value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value.load(std::memory_order_relaxed); }
};
struct LoopCounters {
  LoopCounter accepted, refused, requests, requests_refused, timeouts, bytes_received, bytes_sent;
};

// An event loop: an io_context run by one thread, a listening socket, and the connections accepted from it.
//
// Confined to its thread, but for deliver(), stop() and counters().  Connections share ownership, because an answer may
// come when the server is long gone; deliver() then drops it.
class Loop final : public EventLoop, public std::enable_shared_from_this<Loop> {
 public:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor>;

  Loop(std::shared_ptr<Shared> shared, Handler& handler);
  ~Loop() override;

  Acceptor& acceptor() { return acceptor_; }  // to be opened before run()
  void run();                                 // returns when stopped and all connections are closed

  // From any thread.
  void deliver(ConnectionRef connection, Response response);
  void stop(std::chrono::milliseconds grace);
  const LoopCounters& counters() const { return counters_; }

  // For connections.
  const ServerOptions& options() const { return shared_->options; }
  Shared& shared() { return *shared_; }
  Handler& handler() { return handler_; }
  LoopCounters& counters() { return counters_; }
  std::string_view date_line() const { return date_line_; }
  bool draining() const { return draining_; }
  // From the clock itself: now_ may be long ago when a handler kept the loop busy.
  SteadyTime deadline_in(std::chrono::milliseconds timeout) const {
    return std::chrono::steady_clock::now() + options().tick + timeout;
  }
  void remove(Connection& connection);
  // Whether a request can have waited for long before it was read, because this process was stopped.
  bool has_stood_still() const {
    return now_ < late_until_ || std::chrono::steady_clock::now() - now_ > shared_->options.standstill;
  }

  // For others that work on the loop's thread.  Its attachment ends when the loop stops and its last connection is
  // closed.
  std::unique_ptr<Watch> watch(int descriptor, std::function<void(Ready)> ready) override;
  void defer(UniqueFunction<void()> function) override;

 private:
  struct Delivery {
    ConnectionRef connection;
    Response response;
  };

  void accept();
  void on_accept(const boost::system::error_code& error, Socket socket);
  void place(Socket socket);
  void add(Socket socket);
  void schedule_tick();
  void tick();
  void take_deliveries();
  void begin_drain(std::chrono::milliseconds grace);
  void finish_if_drained();
  void update_time();
  template <typename Function>
  void for_each_connection(Function function);

  const std::shared_ptr<Shared> shared_;
  Handler& handler_;

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<Executor> work_;
  Acceptor acceptor_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                    Executor>
      timer_;

  SteadyTime now_;  // as of the last tick
  SteadyTime late_until_{};
  std::string date_line_;
  Connection* first_ = nullptr;
  bool accept_paused_ = false;  // out of descriptors; tried again at the next tick
  bool draining_ = false;
  SteadyTime drain_deadline_;
  LoopCounters counters_;

  std::thread::id thread_;  // since run(), before any request
  bool in_watch_ = false;   // the function of a watch is running

  // Connections here and on their way here.  Read by the other loops.
  std::atomic<std::size_t> load_ = 0;

  Mutex mutex_;
  bool open_ GUARDED_BY(mutex_) = true;
  std::vector<Delivery> deliveries_ GUARDED_BY(mutex_);
  std::vector<Delivery> taken_;  // the loop's side of deliveries_, kept for its capacity
};

}  // namespace stator::http
