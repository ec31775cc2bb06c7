#include "stator/http/client/client.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <exception>
#include <list>
#include <map>
#include <thread>

#include "stator/base/log.h"
#include "stator/http/client/client_pool.h"
#include "stator/http/message/message.h"

namespace stator::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Kind = ClientFailure::Kind;

// The places of trusted root certificates on different systems, for a program whose OpenSSL was built for another
// system.
constexpr const char* kRootFiles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

Result<void> set_trust(asio::ssl::context& tls, const std::string& ca_file) {
  auto* const raw = tls.native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  error_code error;
  tls.set_verify_mode(asio::ssl::verify_peer, error);
  if (error) return Error{ErrorCode::Internal, "TLS: " + error.message()};
  tls.set_default_verify_paths(error);  // also SSL_CERT_FILE and SSL_CERT_DIR
  if (::access(X509_get_default_cert_file(), R_OK) != 0) {
    const auto* const found =
        std::ranges::find_if(kRootFiles, [](const char* file) { return ::access(file, R_OK) == 0; });
    if (found != std::end(kRootFiles)) tls.load_verify_file(*found, error);
  }
  if (ca_file.empty()) return {};
  if (::access(ca_file.c_str(), R_OK) != 0) return Error{ErrorCode::Usage, fmt::format("{}: cannot be read", ca_file)};
  tls.load_verify_file(ca_file, error);
  if (error) return Error{ErrorCode::Usage, fmt::format("{}: is not a certificate in PEM form", ca_file)};
  return {};
}

// A callback that throws must not take along what is done after it: others that wait for an answer, or the end of the
// thread.
template <typename Callback>
auto guarded(Callback callback) {
  return [callback = std::move(callback)]<typename... Arguments>(Arguments&&... arguments) mutable {
    try {
      callback(std::forward<Arguments>(arguments)...);
    } catch (const std::exception& e) {
      log::error("http_client_callback_failed", {{"what", e.what()}});
    }
  };
}

bool is_one_line(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

bool is_well_formed(const ClientRequest& request) {
  return is_one_line(request.method) && is_one_line(request.target) &&
         std::ranges::all_of(request.headers, [](const auto& header) {
           return is_one_line(header.first) && is_one_line(header.second);
         });
}

}  // namespace

std::string_view ClientResponse::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& header) { return equal_ignoring_case(header.first, name); });
  return found == headers.end() ? std::string_view() : found->second;
}

// All but send() and after() is confined to the thread.
struct Client::Impl {
  explicit Impl(const ClientOptions& o) : options(o) {}

  void run();
  void add(const Origin& origin, ClientJob job);
  void wait(std::chrono::milliseconds delay, UniqueFunction<void()> then);
  void stop();

  const ClientOptions options;
  // One thread does all I/O, so sockets need no locks; only the queue of posted work is shared.
  asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  asio::executor_work_guard<ClientExecutor> work{io.get_executor()};
  asio::ssl::context tls{asio::ssl::context::tls_client};
  std::map<Origin, ClientPool> pools;
  std::list<ClientTimer> delays;
  bool stopped = false;

  std::jthread thread;  // last: joined before anything it uses is destroyed
};

void Client::Impl::run() {
  while (true) {
    try {
      io.run();
      return;
    } catch (const std::exception& e) {
      log::error("http_client_failed", {{"what", e.what()}});
    }
  }
}

void Client::Impl::add(const Origin& origin, ClientJob job) {
  if (stopped) return job.done(ClientFailure{.kind = Kind::Stopped, .message = "the client is being stopped"});
  if (!is_well_formed(*job.request)) {
    return job.done(
        ClientFailure{.kind = Kind::Malformed, .message = "a header of the request has more than one line"});
  }
  auto pool = pools.find(origin);
  if (pool == pools.end()) {
    pool = pools.try_emplace(origin, origin, options, io, tls).first;
  }
  pool->second.add(std::move(job));
}

void Client::Impl::wait(std::chrono::milliseconds delay, UniqueFunction<void()> then) {
  if (stopped) return then();
  const auto timer = delays.emplace(delays.end(), io.get_executor());
  timer->expires_after(delay);
  timer->async_wait([this, timer, then = std::move(then)](const error_code& /*stopped*/) mutable {
    delays.erase(timer);
    then();
  });
}

void Client::Impl::stop() {
  stopped = true;
  for (auto& timer : delays) timer.cancel();
  for (auto& [origin, pool] : pools) pool.stop();
  work.reset();
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->thread = std::jthread([impl = impl_.get()] { impl->run(); });
}

Result<std::unique_ptr<Client>> Client::start(const ClientOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  TRY(set_trust(impl->tls, options.ca_file));
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Client::~Client() {
  asio::post(impl_->io, [impl = impl_.get()] { impl->stop(); });
  impl_->thread.join();
}

void Client::send(const Origin& origin, ClientRequest request, ExchangeCallback done) {
  ClientJob job{.request = std::make_shared<const ClientRequest>(std::move(request)),
                .done = guarded(std::move(done)),
                .deadline = std::chrono::steady_clock::now() + impl_->options.timeout};
  asio::post(impl_->io,
             [impl = impl_.get(), origin, job = std::move(job)]() mutable { impl->add(origin, std::move(job)); });
}

void Client::after(std::chrono::milliseconds delay, UniqueFunction<void()> then) {
  asio::post(impl_->io, [impl = impl_.get(), delay, then = UniqueFunction<void()>(guarded(std::move(then)))]() mutable {
    impl->wait(delay, std::move(then));
  });
}

}  // namespace stator::http
