#include "stator/app/auth/jwks_source.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <utility>

#include "stator/http/client/client.h"
#include "stator/http/origin.h"

namespace stator::app {
namespace {

constexpr std::size_t kMaxKeySetBytes = std::size_t{1} << 20;
constexpr std::chrono::seconds kTimeout{10};

Error unreadable(std::string_view where, std::string_view why) {
  return {ErrorCode::Usage, fmt::format("the key set {} {}", where, why)};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable(path, "cannot be opened");
  std::string text(kMaxKeySetBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxKeySetBytes) return unreadable(path, "is too long");
  return text;
}

// One URL, and connections of its own.
class JwksUrl {
 public:
  static Result<std::shared_ptr<JwksUrl>> open(const std::string& url) {
    const auto path = url.find('/', url.find("://") + 3);
    auto origin = TRY(http::Origin::parse(url.substr(0, path)));
    if (!origin.tls && !origin.loopback()) return unreadable(url, "must be read over https");
    auto client = TRY(http::Client::start({.connections = 1, .body_bytes = kMaxKeySetBytes, .timeout = kTimeout}));
    return std::make_shared<JwksUrl>(url, std::move(origin), path == url.npos ? "/" : url.substr(path),
                                     std::move(client));
  }

  JwksUrl(std::string url, http::Origin origin, std::string target, std::unique_ptr<http::Client> client)
      : url_(std::move(url)), origin_(std::move(origin)), target_(std::move(target)), client_(std::move(client)) {}

  Result<std::string> read() const {
    std::promise<http::Exchange> arrived;
    auto exchange = arrived.get_future();
    client_->send(
        origin_, {.method = "GET", .target = target_, .headers = {{"Accept", "application/json"}}, .idempotent = true},
        [arrived = std::move(arrived)](http::Exchange result) mutable { arrived.set_value(std::move(result)); });
    auto result = exchange.get();
    if (!result) return unreadable(url_, result.error().message);
    if (result->status != 200) return unreadable(url_, fmt::format("was answered with {}", result->status));
    return std::move(result->body);
  }

 private:
  const std::string url_;
  const http::Origin origin_;
  const std::string target_;
  const std::unique_ptr<http::Client> client_;
};

}  // namespace

Result<JwksReader> jwks_reader(const std::string& where) {
  if (where.find("://") == where.npos) return JwksReader([where] { return read_file(where); });
  auto url = TRY(JwksUrl::open(where));
  return JwksReader([url = std::move(url)] { return url->read(); });
}

}  // namespace stator::app
