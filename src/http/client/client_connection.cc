#include "stator/http/client/client_connection.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/write.hpp>
#include <iterator>
#include <utility>

#include "stator/http/client/client_pool.h"

namespace stator::http {
namespace {

namespace asio = boost::asio;
using Kind = ClientFailure::Kind;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kIdleBytes = 4 << 10;  // what an idle connection keeps to read into

std::string request_head(const ClientRequest& request, const Origin& origin) {
  std::string head;
  auto out = std::back_inserter(head);
  fmt::format_to(out, "{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, request.target, origin.authority());
  for (const auto& [name, value] : request.headers) fmt::format_to(out, "{}: {}\r\n", name, value);
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    fmt::format_to(out, "Content-Length: {}\r\n", request.body.size());
  }
  head += "\r\n";
  return head;
}

ParserLimits parser_limits(const ClientOptions& options) {
  return {.header_bytes = options.header_bytes, .header_count = options.header_count, .body_bytes = options.body_bytes};
}

// The name that the certificate must have.
bool expect_host(SSL* tls, const std::string& host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1) return true;
  return SSL_set1_host(tls, host.c_str()) == 1 && SSL_set_tlsext_host_name(tls, host.c_str()) == 1;
}

}  // namespace

ClientConnection::ClientConnection(ClientPool& pool, asio::io_context& io, asio::ssl::context& tls)
    : pool_(pool),
      socket_(io.get_executor()),
      resolver_(io.get_executor()),
      timer_(io.get_executor()),
      in_(kIdleBytes, '\0'),
      parser_(parser_limits(pool.options())) {
  if (pool.origin().tls) tls_.emplace(socket_, tls);
}

void ClientConnection::connect(ClientJob job) {
  job_ = std::move(job);
  expire_at(std::min(SteadyClock::now() + pool_.options().connect_timeout, job_->deadline));
  const auto& origin = pool_.origin();
  Error not_an_address;
  const auto address = asio::ip::make_address(origin.host, not_an_address);
  const auto port = std::to_string(origin.port);
  if (!not_an_address) {
    return connect_to(Resolver::results_type::create({address, origin.port}, origin.host, port));
  }
  resolver_.async_resolve(
      origin.host, port, [self = shared_from_this()](const Error& error, const Resolver::results_type& addresses) {
        if (self->closed_) return;
        if (!error) return self->connect_to(addresses);
        self->fail(Kind::Unreachable,
                   fmt::format("cannot find the host {}: {}", self->pool_.origin().host, error.message()));
      });
}

void ClientConnection::connect_to(const Resolver::results_type& addresses) {
  asio::async_connect(
      socket_, addresses, [self = shared_from_this()](const Error& error, const asio::ip::tcp::endpoint&) {
        if (self->closed_) return;
        if (error) {
          return self->fail(Kind::Unreachable,
                            fmt::format("cannot connect to {}: {}", self->pool_.origin().url(), error.message()));
        }
        Error ignored;  // slower, at worst
        self->socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
        if (self->tls_) return self->shake_hands();
        self->connected_ = true;
        self->start_job();
        self->read();
      });
}

void ClientConnection::shake_hands() {
  if (!expect_host(tls_->native_handle(), pool_.origin().host)) {
    return fail(Kind::Unreachable, fmt::format("{} is not a host that a certificate can name", pool_.origin().host));
  }
  tls_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](const Error& error) {
    if (self->closed_) return;
    if (error) return self->fail_handshake(error);
    self->connected_ = true;
    self->start_job();
    self->read();
  });
}

void ClientConnection::fail_handshake(const Error& error) {
  const auto verified = SSL_get_verify_result(tls_->native_handle());
  if (verified != X509_V_OK) {
    return fail(Kind::Untrusted, fmt::format("the certificate of {} is not to be trusted: {}", pool_.origin().url(),
                                             X509_verify_cert_error_string(verified)));
  }
  fail(Kind::Unreachable, fmt::format("no TLS with {}: {}", pool_.origin().url(), error.message()));
}

void ClientConnection::use(ClientJob job) {
  job_ = std::move(job);
  start_job();
}

void ClientConnection::start_job() {
  expire_at(job_->deadline);
  const auto& request = job_->request;
  parser_.reset(request->method == "HEAD" ? ResponseParser::To::Head : ResponseParser::To::Other);
  head_ = request_head(*request, pool_.origin());
  writing_ = true;
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(head_), asio::buffer(request->body)};
  // If it fails, the read that is pending says more: there may be an answer that says why.
  const auto written = [self = shared_from_this(), request](const Error& /*error*/, std::size_t /*bytes*/) {
    self->writing_ = false;
  };
  if (tls_) {
    asio::async_write(*tls_, parts, written);
  } else {
    asio::async_write(socket_, parts, written);
  }
}

void ClientConnection::read() {
  if (received_ == in_.size()) {
    // Memory follows the bytes that arrive and not those that are announced.
    in_.resize(std::clamp(parser_.expected_bytes(), 2 * in_.size(), 4 * in_.size()));
  }
  const auto free = asio::buffer(in_.data() + received_, in_.size() - received_);
  const auto received = [self = shared_from_this()](const Error& error, std::size_t bytes) {
    if (!self->closed_) self->on_read(error, bytes);
  };
  if (tls_) {
    tls_->async_read_some(free, received);
  } else {
    socket_.async_read_some(free, received);
  }
}

void ClientConnection::on_read(const Error& error, std::size_t bytes) {
  if (!job_) return end();  // closed by the server, or it speaks without having been asked
  if (error) return on_end(error);
  received_ += bytes;
  switch (parser_.parse(in_.data(), received_)) {
    case ResponseParser::Status::NeedMore: return read();
    case ResponseParser::Status::Complete: return finish();
    case ResponseParser::Status::Failed:
      return fail(Kind::Malformed,
                  fmt::format("the answer of {} cannot be read: {}", pool_.origin().url(), parser_.refusal().reason));
  }
}

void ClientConnection::on_end(const Error& error) {
  if (error == asio::error::eof && parser_.finish()) return finish();
  if (used_before_ && received_ == 0 && job_->request->idempotent) {
    pool_.repeat(std::move(*job_));
    job_.reset();
    return end();
  }
  fail(Kind::Broken,
       fmt::format("the connection to {} ended before its answer did: {}", pool_.origin().url(), error.message()));
}

void ClientConnection::finish() {
  auto response = parser_.response(in_.data());
  auto done = std::move(job_->done);
  job_.reset();
  // A server that answers early may not read the rest, and one that sends more than an answer is not to be believed.
  if (parser_.reusable() && !writing_ && parser_.consumed() == received_) {
    keep();
  } else {
    end();
  }
  done(std::move(response));
}

void ClientConnection::keep() {
  used_before_ = true;
  received_ = 0;
  if (in_.size() > kIdleBytes) in_ = std::string(kIdleBytes, '\0');
  expire_at(SteadyClock::now() + pool_.options().idle_timeout);
  read();
  pool_.on_idle(*this);
}

void ClientConnection::expire_at(SteadyClock::time_point deadline) {
  deadline_ = deadline;
  timer_.expires_at(deadline);
  timer_.async_wait([self = shared_from_this()](const Error& error) {
    // One that was due already when it was set anew comes all the same.
    if (!error && !self->closed_ && SteadyClock::now() >= self->deadline_) self->on_deadline();
  });
}

void ClientConnection::on_deadline() {
  if (!job_) return end();
  const auto& options = pool_.options();
  if (connected_) {
    fail(Kind::TimedOut,
         fmt::format("no whole answer from {} within {} ms", pool_.origin().url(), options.timeout.count()));
  } else {
    fail(Kind::TimedOut, fmt::format("no connection to {} within {} ms", pool_.origin().url(),
                                     std::min(options.connect_timeout, options.timeout).count()));
  }
}

void ClientConnection::stop() {
  if (job_) return fail(Kind::Stopped, "the client is being stopped");
  end();
}

void ClientConnection::fail(Kind kind, std::string message) {
  auto job = std::move(*job_);
  job_.reset();
  const bool maybe_handled = connected_ || job.fresh_only;
  end();
  job.done(ClientFailure{.kind = kind, .message = std::move(message), .maybe_handled = maybe_handled});
}

void ClientConnection::end() {
  const auto self = shared_from_this();  // the pool lets go of it
  closed_ = true;
  Error ignored;  // nothing can be done about it, and nothing needs to
  socket_.close(ignored);
  resolver_.cancel();
  timer_.cancel();
  pool_.on_closed(*this);
}

}  // namespace stator::http
