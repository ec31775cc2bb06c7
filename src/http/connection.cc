#include "stator/http/connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <exception>

#include "stator/base/assert.h"
#include "stator/base/log.h"
#include "stator/http/loop.h"

namespace stator::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kCopiedBodyBytes = 16 << 10;  // a smaller body is copied behind its head, a larger one gathered
constexpr std::size_t kCoalescedBytes = 64 << 10;   // answers to pipelined requests are written when they reach this
constexpr std::size_t kRetainedOutBytes = 4 << 10;  // an idle connection keeps no more than this
constexpr std::size_t kPacedBytes = 64 << 10;       // what a client must take within each write timeout
constexpr std::size_t kPacedBodyBytes = 256 << 10;  // what a client must send within each body timeout
constexpr std::size_t kLingerBytes = 64 << 20;      // what is dropped at most behind a refused request
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr SteadyTime kNever = SteadyTime::max();

// The connection whose handler is being called by this thread.
constinit thread_local Connection* handling = nullptr;

// Assigning an empty string would keep the capacity.
void free_memory(std::string& text) { std::string().swap(text); }

// A client that only closes its sending half looks the same. Long work is dropped because of it, but no write that has
// begun.
bool peer_has_closed(int descriptor) {
  pollfd poll{.fd = descriptor, .events = POLLRDHUP, .revents = 0};
  return ::poll(&poll, 1, 0) > 0;
}

ParserLimits parser_limits(const ServerOptions& options) {
  return {.header_bytes = options.header_bytes,
          .header_count = options.header_count,
          .target_bytes = options.target_bytes,
          .body_bytes = options.body_bytes};
}

}  // namespace

struct Connection::OnRead {
  ConnectionRef connection;
  void operator()(const error_code& error, std::size_t bytes) const { connection->on_read(error, bytes); }
};

struct Connection::OnWrite {
  ConnectionRef connection;
  void operator()(const error_code& error, std::size_t bytes) const { connection->on_write(error, bytes); }
};

struct Connection::OnReadable {
  ConnectionRef connection;
  void operator()(const error_code& error) const { connection->on_readable(error); }
};

struct Connection::OnWritable {
  ConnectionRef connection;
  void operator()(const error_code& error) const { connection->on_write(error, 0); }
};

Connection::Connection(std::shared_ptr<Loop> loop, Socket socket, asio::ip::address client)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      client_(std::move(client)),
      client_text_(client_.to_string()),
      in_(loop_->shared().memory),
      parser_(parser_limits(loop_->options())) {
  request_.client = client_text_;
}

void Connection::start(std::string_view objection) {
  over_limit_ = !objection.empty();
  error_code error;
  socket_.non_blocking(true, error);
  if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  if (error) return close();
  if (const auto* tls = loop_->options().tls) {
    if (over_limit_) return close();  // to be told so would take a handshake
    tls_ = tls->accept(socket_.native_handle());
  }
  if (over_limit_) refuse(503, objection);
  flush_and_wait();
}

// Handles what has been received, as far as it goes.  A loop, because a handler may answer before it returns.
void Connection::process() {
  while (!closed_ && !closing_ && !writing_) {
    if (in_flight_) {
      if (!answer_) break;
      finish_request();
    } else if (out_.size() >= kCoalescedBytes || !large_body_.empty()) {
      flush();
    } else if (!next_request()) {
      break;
    }
  }
  flush_and_wait();
}

// Writes what there is to write, and then waits for what comes next.
void Connection::flush_and_wait() {
  if (closed_ || writing_ || !flush()) return;
  if (closing_) {
    finish_closing();
  } else if (in_flight_) {
    deadline_ = kNever;
  } else {
    read_more();
  }
}

// False when no whole request is there.
bool Connection::next_request() {
  if (begin_ == end_) return false;
  std::size_t size = end_ - begin_;
  const auto status = parser_.parse(in_.data() + begin_, size);
  end_ = begin_ + size;
  switch (status) {
    case Parser::Status::Complete:
      // A client that has gone may have asked again elsewhere, and must not be surprised by a write that comes late.
      if (loop_->has_stood_still() && peer_has_closed(socket_.native_handle())) {
        refuse(503, "the server stood still; send the request again");
        return false;
      }
      dispatch();
      return true;
    case Parser::Status::Failed: refuse(parser_.refusal().status, parser_.refusal().reason); return false;
    case Parser::Status::NeedMore: break;
  }
  // A body that fits into the buffer of an idle connection takes nothing from anybody: handle() decides.
  const bool takes_room =
      parser_.expected_bytes() > in_.capacity() || parser_.has_unknown_length() || parser_.expects_continue();
  if (parser_.in_body() && takes_room && !head_admitted_ && !admitted()) return false;
  if (parser_.expects_continue() && !continue_sent_) {
    continue_sent_ = true;
    out_ += kContinue;
  }
  return false;
}

// Whether the body of the request whose head has arrived may follow.  If not, the request has been refused.
bool Connection::admitted() {
  head_admitted_ = true;
  parser_.head(in_.data() + begin_, request_);
  Admission admission;
  try {
    admission = loop_->handler().admit(request_);
  } catch (const std::exception& e) {
    log::error("http_handler_failed", {{"what", e.what()}});
    refuse(500, "the request could not be looked at");
    return false;
  }
  if (admission.refusal) {
    refuse_with(std::move(*admission.refusal));
    return false;
  }
  if (parser_.limit_body(admission.body_bytes)) return true;
  refuse(parser_.refusal().status, parser_.refusal().reason);
  return false;
}

void Connection::dispatch() {
  loop_->counters().requests.add(1);
  parser_.request(in_.data() + begin_, request_);
  in_flight_ = true;
  retain();  // for the Responder
  handling = this;
  try {
    loop_->handler().handle(request_, Responder(this));
  } catch (const std::exception& e) {
    log::error("http_handler_failed", {{"what", e.what()}});
  }
  handling = nullptr;
}

void Connection::answer(Response response) {
  if (handling == this) {
    answer_ = std::move(response);
    release();
    return;
  }
  const auto loop = loop_;  // once delivered, the connection may be gone at any moment
  loop->deliver(ConnectionRef::adopt(*this), std::move(response));
}

void Connection::on_answer(Response response) {
  if (closed_) return;
  answer_ = std::move(response);
  process();
}

void Connection::finish_request() {
  const bool client_closes = !request_.keep_alive;
  closing_ = client_closes || answer_->close || loop_->draining();
  linger_ = closing_ && !client_closes;
  append_response(*answer_, {.date_line = loop_->date_line(),
                             .http_1_0 = parser_.http_1_0(),
                             .close = closing_,
                             .head_request = parser_.head_request()});
  answer_.reset();
  in_flight_ = false;
  request_begun_ = false;
  continue_sent_ = false;
  head_admitted_ = false;
  begin_ += parser_.consumed();
  parser_.reset();
  if (begin_ == end_) begin_ = end_ = 0;
  if (in_.capacity() > ReadBuffer::kIdleBytes) {
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    in_.shrink(end_);
  }
}

void Connection::append_response(Response& response, const ResponseContext& context) {
  append_head(out_, response, context);
  if (!sends_body(response, context)) return;
  if (response.body.size() <= kCopiedBodyBytes) {
    out_ += response.body;
  } else {
    large_body_ = std::move(response.body);
    large_body_memory_ = std::move(response.memory);
  }
}

// Answers what is not a request, and closes.
void Connection::refuse(int status, std::string_view reason) {
  Response response;
  try {
    response = loop_->handler().refuse(status, reason);
  } catch (const std::exception& e) {
    log::error("http_handler_failed", {{"what", e.what()}});
    response.status = status;
  }
  refuse_with(std::move(response));
}

void Connection::refuse_with(Response response) {
  STATOR_ASSERT(!writing_ && !in_flight_, "a refusal takes its turn behind earlier answers");
  loop_->counters().requests_refused.add(1);
  closing_ = linger_ = true;
  if (!reading_) {
    begin_ = end_ = 0;
    in_.shrink(0);  // now, and not when the client has gone: somebody else may need the room
  }
  append_response(response, {.date_line = loop_->date_line(), .close = true, .head_request = parser_.head_request()});
}

// Waits for the rest of a request, or for the next one.
void Connection::read_more() {
  if (reading_) return;
  if (begin_ > 0) {
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == in_.capacity() && !in_.grow(parser_.expected_bytes())) {
    refuse(503, "too many large requests at once for memory_limit; try again in a moment");
    if (flush()) finish_closing();
    return;
  }
  if (tls_ != nullptr && !handshake_done_) {
    deadline_ = loop_->deadline_in(loop_->options().request_timeout);
  } else if (end_ == 0) {
    deadline_ = loop_->deadline_in(loop_->options().idle_timeout);
  } else if (!request_begun_) {
    request_begun_ = true;
    body_pace_bytes_ = kPacedBodyBytes;
    deadline_ = loop_->deadline_in(loop_->options().request_timeout);
  }
  if (parser_.in_body() && body_pace_bytes_ >= kPacedBodyBytes) {
    body_pace_bytes_ = 0;
    deadline_ = loop_->deadline_in(std::min(loop_->options().request_timeout, loop_->options().body_timeout));
  }
  start_read();
}

void Connection::start_read() {
  reading_ = true;
  if (tls_ != nullptr && !lingering_) return on_readable({});  // what was received may be decrypted already
  socket_.async_read_some(asio::buffer(in_.data() + end_, in_.capacity() - end_), OnRead{ConnectionRef(*this)});
}

// The client may have sent something.  Called by start_read() too, and so it never calls on_read() itself.
void Connection::on_readable(const error_code& error) {
  if (closed_) {
    reading_ = false;
    return;
  }
  if (lingering_) {  // what comes is dropped, so it need not be decrypted
    begin_ = end_ = 0;
    return start_read();
  }
  const auto received = error ? TlsSession::Transfer{} : tls_->read(in_.data() + end_, in_.capacity() - end_);
  using Status = TlsSession::Status;
  if (!handshake_done_ && tls_->established()) {
    handshake_done_ = true;
    deadline_ = loop_->deadline_in(loop_->options().idle_timeout);
  }
  if (received.status == Status::WantsRead || received.status == Status::WantsWrite) {
    socket_.async_wait(received.status == Status::WantsRead ? Socket::wait_read : Socket::wait_write,
                       OnReadable{ConnectionRef(*this)});
    return;
  }
  asio::post(socket_.get_executor(), [self = ConnectionRef(*this), received] {
    self->on_read(received.status == Status::Done ? error_code() : asio::error::eof, received.bytes);
  });
}

void Connection::on_read(const error_code& error, std::size_t bytes) {
  reading_ = false;
  if (closed_) return;
  if (error) return close();
  loop_->counters().bytes_received.add(bytes);
  if (lingering_) {
    lingered_bytes_ += bytes;
    if (lingered_bytes_ > kLingerBytes) return close();
    start_read();
    return;
  }
  end_ += bytes;
  body_pace_bytes_ += bytes;
  process();
}

// Writes without waiting, as far as the client takes it.  True when nothing is left; otherwise a write is pending that
// goes on with it, or the connection is closed.
bool Connection::flush() {
  const std::size_t total = out_.size() + large_body_.size();
  while (written_ < total) {
    error_code error;
    const std::size_t bytes = write_some(error);
    if (error == asio::error::would_block) {
      if (stalled_.bytes() == 0) {
        stalled_ = MemoryClaim(&loop_->shared().memory, MemoryPart::Answers);
        const std::size_t claimed = large_body_memory_.bytes();
        if (!stalled_.resize(std::max<std::size_t>(1, total - std::min(total, claimed)))) {
          close();
          return false;
        }
        paced_bytes_ = kPacedBytes;
      }
      if (paced_bytes_ >= kPacedBytes) {
        paced_bytes_ = 0;
        deadline_ = loop_->deadline_in(loop_->options().write_timeout);
      }
      writing_ = true;
      wait_to_write();
      return false;
    }
    if (error) {
      close();
      return false;
    }
    loop_->counters().bytes_sent.add(bytes);
    written_ += bytes;
    paced_bytes_ += bytes;
  }
  written_ = 0;
  stalled_.reset();
  free_memory(large_body_);
  large_body_memory_.reset();
  if (out_.capacity() > kRetainedOutBytes) free_memory(out_);
  out_.clear();
  return true;
}

// Of out_ and then large_body_, what the client takes at once.
std::size_t Connection::write_some(error_code& error) {
  if (tls_ != nullptr) {
    const auto rest = written_ < out_.size() ? std::string_view(out_).substr(written_)
                                             : std::string_view(large_body_).substr(written_ - out_.size());
    const auto sent = tls_->write(rest.data(), rest.size());
    write_wants_ = sent.status;
    if (sent.status == TlsSession::Status::Ended) error = asio::error::eof;
    if (sent.status == TlsSession::Status::WantsRead || sent.status == TlsSession::Status::WantsWrite) {
      error = asio::error::would_block;
    }
    return sent.bytes;
  }
  return large_body_.empty() ? socket_.write_some(asio::buffer(out_) + written_, error)
                             : socket_.write_some(unwritten(), error);
}

void Connection::wait_to_write() {
  if (tls_ != nullptr) {
    socket_.async_wait(write_wants_ == TlsSession::Status::WantsRead ? Socket::wait_read : Socket::wait_write,
                       OnWritable{ConnectionRef(*this)});
  } else {
    socket_.async_write_some(unwritten(), OnWrite{ConnectionRef(*this)});
  }
}

std::array<asio::const_buffer, 2> Connection::unwritten() const {
  const std::size_t of_out = std::min(written_, out_.size());
  return {asio::buffer(out_) + of_out, asio::buffer(large_body_) + (written_ - of_out)};
}

void Connection::on_write(const error_code& error, std::size_t bytes) {
  writing_ = false;
  if (closed_) return;
  if (error) return close();
  loop_->counters().bytes_sent.add(bytes);
  written_ += bytes;
  paced_bytes_ += bytes;
  if (flush()) process();
}

void Connection::finish_closing() {
  if (tls_ != nullptr) tls_->finish();
  // Gives back the memory of a large incomplete body now.
  const bool holds_much = reading_ && in_.capacity() > ReadBuffer::kIdleBytes;
  if (!linger_ || holds_much || loop_->draining()) return close();
  error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) return close();
  lingering_ = true;
  deadline_ = loop_->deadline_in(loop_->options().linger_timeout);
  if (reading_) return;
  begin_ = end_ = 0;
  start_read();
}

void Connection::sweep(SteadyTime now) {
  if (in_flight_ && !abandoned() && peer_has_closed(socket_.native_handle())) {
    abandoned_.store(true, std::memory_order_relaxed);
  }
  if (now < deadline_) return;
  loop_->counters().timeouts.add(1);
  if (writing_ || lingering_ || !request_begun_) return close();
  refuse(408, "the request took too long to arrive");
  flush_and_wait();
}

void Connection::drain() {
  const bool idle = !in_flight_ && !writing_ && begin_ == end_;
  if (idle || lingering_) close();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  abandoned_.store(true, std::memory_order_relaxed);
  stalled_.reset();
  free_memory(large_body_);
  large_body_memory_.reset();
  error_code error;
  socket_.close(error);  // NOLINT: nothing can be done about it, and nothing needs to
  loop_->remove(*this);
}

}  // namespace stator::http
