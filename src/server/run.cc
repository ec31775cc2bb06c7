#include "stator/server/run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>

#include "stator/base/log.h"
#include "stator/client/capabilities.h"
#include "stator/client/client.h"
#include "stator/client/credentials.h"
#include "stator/client/remote.h"
#include "stator/console/console.h"
#include "stator/http/server.h"
#include "stator/http/sigv4.h"
#include "stator/http/tls.h"
#include "stator/library/instance.h"
#include "stator/server/access_keys.h"
#include "stator/server/endpoint.h"
#include "stator/server/stop_signal.h"
#include "stator/server/systems.h"

namespace stator::server {
namespace {

constexpr std::chrono::seconds kStopGrace{10};
constexpr std::chrono::seconds kLookForKeys{1};

http::ServerOptions http_options(const Config& config, std::uint16_t port) {
  http::ServerOptions options;
  options.host = config.host;
  options.port = port;
  options.threads = static_cast<int>(config.threads);
  options.header_bytes = config.max_header_bytes;
  options.body_bytes = config.max_body_bytes;
  options.connections = config.max_connections;
  options.idle_timeout = std::chrono::seconds(config.idle_timeout_seconds);
  options.request_timeout = std::chrono::seconds(config.request_timeout_seconds);
  return options;
}

std::string url(std::string_view scheme, std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, v6 ? "[" : "", host, v6 ? "]" : "", port);
}

struct Welcome {
  std::string api, console;  // their addresses; the console's is empty when there is none
  std::string systems = {};  // a line for each
  bool signed_only = false;
};

// The database that systems are kept in: an own one in this process, or an endpoint.
class AppDatabase {
 public:
  // Errors: Usage (an endpoint that lacks what models need, no credentials), Storage, Corruption.
  static Result<AppDatabase> open(const Config& config) {
    AppDatabase database;
    if (config.endpoint.empty()) {
      database.instance_ =
          TRY(library::Instance::open({.data_folder = config.data,
                                       .in_memory = config.in_memory,
                                       .relaxed_durability = config.durability == Durability::Relaxed}));
      database.client_ = std::make_unique<client::InProcessClient>(database.instance_->service());
      return database;
    }
    const auto origin = TRY(http::Origin::parse(config.endpoint));
    auto identity = TRY(client::find_identity(origin, client::process_environment()));
    database.client_ = TRY(client::RemoteClient::open({.endpoint = config.endpoint,
                                                       .region = std::move(identity.region),
                                                       .credentials = std::move(identity.credentials)}));
    TRY(client::require_capabilities(*database.client_));
    return database;
  }

  client::Client& client() { return *client_; }

 private:
  std::unique_ptr<library::Instance> instance_;  // null: remote
  std::unique_ptr<client::Client> client_;
};

// What is on the console's port: the page, and the systems.
class ConsolePort final : public http::Handler {
 public:
  ConsolePort(http::Handler& console, http::Handler* systems) : console_(console), systems_(systems) {}

  void handle(const http::Request& request, http::Responder responder) override {
    handler_of(request).handle(request, std::move(responder));
  }
  http::Admission admit(const http::Request& head) override { return handler_of(head).admit(head); }
  // What could not be read has no path; those who send large bodies are systems' callers.
  http::Response refuse(int status, std::string_view reason) override {
    return (systems_ != nullptr ? *systems_ : console_).refuse(status, reason);
  }

 private:
  http::Handler& handler_of(const http::Request& request) {
    const bool of_systems = systems_ != nullptr && request.path.starts_with("/systems");
    return of_systems ? *systems_ : console_;
  }

  http::Handler& console_;
  http::Handler* const systems_;
};

std::string list_systems(const Systems& systems, std::string_view base) {
  std::string text;
  for (const auto& system : systems.systems()) {
    text += fmt::format("  System        {}{}/  {}\n", base, system->prefix(), system->model().name);
  }
  return text;
}

std::string token_hint(const Config& config) {
  if (!config.jwks.empty()) return {};
  const auto folder = config.data == Config().data ? std::string() : fmt::format(" --data {}", config.data);
  return fmt::format("  Token         stator token --subject me{}\n", folder);
}

// SIGHUP: certificates are renewed under a server that goes on.
void reload(http::TlsContext& tls) {
  if (const auto reloaded = tls.reload()) {
    log::info("tls_reloaded");
  } else {
    log::error("tls_not_reloaded", {{"error", reloaded.error().message}});
  }
}

// Every connection is a file descriptor, and a shell allows few of them.
void raise_descriptor_limit(const Config& config) {
  static constexpr rlim_t kOwnDescriptors = 512;  // the store's files and the rest
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = config.max_connections + kOwnDescriptors;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted) {
    log::warning("fewer connections than configured are possible", {{"file_descriptors", limit.rlim_cur}});
  }
}

// What a person who has just started it needs next.
void print_welcome(const Config& config, const Welcome& welcome) {
  std::string text = fmt::format("\n  DynamoDB API  {}\n", welcome.api);
  if (!welcome.console.empty()) text += fmt::format("  Console       {}\n", welcome.console);
  text += welcome.systems;
  text += fmt::format("  Data          {}\n", config.in_memory ? "in memory, gone when this stops" : config.data);
  text += fmt::format("  Access        {}\n", welcome.signed_only
                                                  ? "requests must be signed with a key of `stator key list`"
                                                  : "any credentials, from this machine only");
  text += fmt::format("\n  {} \\\n    aws dynamodb list-tables --endpoint-url {}\n\n  Ctrl-C stops it.\n\n",
                      welcome.signed_only
                          ? "AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... AWS_DEFAULT_REGION=us-east-1"
                          : "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1",
                      welcome.api);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Result<void> run_server(const Config& config, Mode mode) {
  TRY(check_config(config, mode));
  raise_descriptor_limit(config);
  StopSignal stop;  // before any thread, so that all inherit its mask
  auto instance = TRY(library::Instance::open({.data_folder = config.data,
                                               .in_memory = config.in_memory,
                                               .relaxed_durability = config.durability == Durability::Relaxed}));
  const SystemClock clock;
  http::SignatureVerifier signatures({.service = "dynamodb", .signed_headers = {"x-amz-target"}}, clock);
  AccessKeyFollower keys(AccessKeyFile(config.data), signatures);
  TRY(keys.start());
  if (!is_loopback(config.host)) signatures.require();  // even if the last key is removed at this very moment
  client::InProcessClient client(instance->service());
  std::unique_ptr<Systems> systems;
  if (mode == Mode::Up && (config.demo || !config.models.empty())) systems = TRY(Systems::open(config, client, clock));
  DynamoDbEndpoint endpoint(*instance, {.cors_origins = config.cors_origins,
                                        .max_body_bytes = config.max_body_bytes,
                                        .signatures = &signatures,
                                        .systems = systems ? &systems->service() : nullptr});
  auto options = http_options(config, config.port);
  std::unique_ptr<http::TlsContext> tls;
  if (!config.tls_cert.empty()) tls = TRY(http::TlsContext::load(config.tls_cert, config.tls_key));
  options.tls = tls.get();
  const auto server = TRY(http::Server::start(options, endpoint));
  endpoint.observe(*server);

  console::Console console(client);
  ConsolePort console_port(console, systems ? &systems->service() : nullptr);
  std::unique_ptr<http::Server> console_server;
  // It asks nobody for a key, so only this machine may reach it.
  const auto console_host = is_loopback(config.host) ? config.host : Config().host;
  if (mode == Mode::Up) {
    auto console_options = http_options(config, config.console_port);
    if (!systems) console_options.threads = 1;
    console_options.host = console_host;
    console_server = TRY(http::Server::start(console_options, console_port));
  }

  log::info("started", {{"host", config.host},
                        {"port", server->port()},
                        {"tables", instance->engine().catalog().size()},
                        {"data", config.in_memory ? "memory" : config.data}});
  if (!tls && !is_loopback(config.host)) {
    log::warning("not_encrypted", {{"message", "others on the network can read along; set tls_cert and tls_key"}});
  }
  Welcome welcome{.api = url(tls ? "https" : "http", config.host, server->port()),
                  .console = console_server ? url("http", console_host, console_server->port()) : "",
                  .signed_only = signatures.required()};
  if (systems) welcome.systems = list_systems(*systems, welcome.console) + token_hint(config);
  print_welcome(config, welcome);
  std::optional<int> signal;
  while (!(signal = stop.wait_for(kLookForKeys)) || *signal == SIGHUP) {
    keys.poll();
    if (signal && tls) reload(*tls);
  }
  log::info("stopping", {{"signal", *signal}});
  if (console_server) console_server->stop(kStopGrace);
  server->stop(kStopGrace);
  systems.reset();
  instance.reset();  // what is still being written is finished while its endpoint is there to be told
  log::info("stopped");
  return {};
}

Result<void> run_app(const Config& config) {
  TRY(check_config(config, Mode::App));
  raise_descriptor_limit(config);
  StopSignal stop;  // before any thread, so that all inherit its mask
  auto database = TRY(AppDatabase::open(config));
  const SystemClock clock;
  auto systems = TRY(Systems::open(config, database.client(), clock));
  auto options = http_options(config, config.app_port);
  std::unique_ptr<http::TlsContext> tls;
  if (!config.tls_cert.empty()) tls = TRY(http::TlsContext::load(config.tls_cert, config.tls_key));
  options.tls = tls.get();
  const auto server = TRY(http::Server::start(options, systems->service()));

  log::info("started", {{"host", config.host}, {"port", server->port()}, {"systems", systems->systems().size()}});
  if (!tls && !is_loopback(config.host)) {
    log::warning("not_encrypted", {{"message", "others on the network can read along; set tls_cert and tls_key"}});
  }
  const auto welcome =
      fmt::format("\n{}{}\n  Ctrl-C stops it.\n\n",
                  list_systems(*systems, url(tls ? "https" : "http", config.host, server->port())), token_hint(config));
  std::fwrite(welcome.data(), 1, welcome.size(), stdout);
  std::fflush(stdout);
  int signal = 0;
  while ((signal = stop.wait()) == SIGHUP) {
    if (tls) reload(*tls);
  }
  log::info("stopping", {{"signal", signal}});
  server->stop(kStopGrace);
  systems.reset();
  log::info("stopped");
  return {};
}

}  // namespace stator::server
