#include "stator/server/run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stator/base/log.h"
#include "stator/client/capabilities.h"
#include "stator/client/client.h"
#include "stator/client/credentials.h"
#include "stator/client/remote.h"
#include "stator/console/assets.h"
#include "stator/console/console.h"
#include "stator/console/live_requests.h"
#include "stator/http/browser/host_check.h"
#include "stator/http/connection_limits.h"
#include "stator/http/server.h"
#include "stator/http/signature/sigv4.h"
#include "stator/http/tls.h"
#include "stator/library/instance.h"
#include "stator/library/shared_store.h"
#include "stator/server/console_service.h"
#include "stator/server/endpoint.h"
#include "stator/server/health.h"
#include "stator/server/host_guard.h"
#include "stator/server/memory_limit.h"
#include "stator/server/readiness.h"
#include "stator/server/secrets/access_keys.h"
#include "stator/server/start_pages.h"
#include "stator/server/stop_signal.h"
#include "stator/server/systems.h"
#include "stator/server/version.h"

namespace stator::server {
namespace {

constexpr std::chrono::seconds kStopGrace{10};
constexpr std::chrono::milliseconds kLookForKeys{500};
// A key that may have been removed meanwhile is not believed.  Requests are refused with an error that clients repeat.
constexpr std::chrono::seconds kKeysLast{10};
constexpr std::chrono::milliseconds kStartIsOver{500};  // after the server is open

std::string url(std::string_view scheme, std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return fmt::format("{}://{}{}{}:{}", scheme, v6 ? "[" : "", host, v6 ? "]" : "", port);
}

// An address that stands for all of this machine is none to connect to.  A console beside the API has the right host
// in its own address: the name in the certificate.
console::ApiAddress api_address(const Config& config, std::uint16_t port) {
  const bool is_beside = !is_loopback(config.host) && console_host(config) == config.host;
  const bool is_any = config.host == "0.0.0.0" || config.host == "::";
  return {.secure = !config.tls_cert.empty(), .host = is_beside || is_any ? "" : config.host, .port = port};
}

struct Welcome {
  std::string api, console;  // their addresses; the console's is empty when there is none
  std::string systems = {};  // a line for each
  bool signed_only = false;
};

// How many files the store and clients may have open.  Every connection is a descriptor, and a shell allows few of
// them.  Clients must not use up the descriptors that the store needs.
struct Descriptors {
  std::size_t connections;
  int store_files;
};

Descriptors plan_descriptors(const Config& config) {
  static constexpr rlim_t kMostStoreFiles = 512;
  static constexpr rlim_t kOthers = 128;  // logs, listening sockets, event loops, connections to other servers
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {config.max_connections, kMostStoreFiles};
  const rlim_t wanted = config.max_connections + kMostStoreFiles + kOthers;
  if (limit.rlim_cur < wanted) {
    const auto before = std::exchange(limit.rlim_cur, std::min(wanted, limit.rlim_max));
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  const rlim_t store_files = std::clamp<rlim_t>(limit.rlim_cur / 4, 32, kMostStoreFiles);
  const rlim_t kept = store_files + std::min(kOthers, limit.rlim_cur / 4);
  const rlim_t left = limit.rlim_cur > kept ? limit.rlim_cur - kept : 1;
  if (left < config.max_connections) {
    log::warning("fewer_connections",
                 {{"max_connections", left},
                  {"message", fmt::format("the limit of {} open files allows no more; raise it with ulimit -n {}",
                                          limit.rlim_cur, wanted)}});
  }
  return {std::min<std::size_t>(left, config.max_connections), static_cast<int>(store_files)};
}

// The limits that the servers of this process share, so that one of them cannot use up what the others need.
class SharedLimits {
 public:
  explicit SharedLimits(const Config& config)
      : descriptors_(plan_descriptors(config)),
        plan_(plan_of(config)),
        memory_(plan_.requests),
        connections_({.total = descriptors_.connections,
                      .per_address = config.max_connections_per_address,
                      .proxies = proxies_of(config)}) {}

  const MemoryPlan& plan() const { return plan_; }
  MemoryBudget& memory() { return memory_; }

  http::ServerOptions http_options(const Config& config, std::uint16_t port) {
    http::ServerOptions options;
    options.host = config.host;
    options.port = port;
    options.threads = static_cast<int>(config.threads);
    options.header_bytes = config.max_header_bytes;
    options.body_bytes = config.max_body_bytes;
    options.limits = &connections_;
    options.memory = &memory_;
    options.idle_timeout = std::chrono::seconds(config.idle_timeout_seconds);
    options.request_timeout = std::chrono::seconds(config.request_timeout_seconds);
    return options;
  }

  library::InstanceOptions instance_options(const Config& config) const {
    library::InstanceOptions options;
    options.data_folder = config.data;
    options.in_memory = config.in_memory;
    options.store = config.store;
    options.relaxed_durability = config.durability == Durability::Relaxed;
    options.block_cache_bytes = plan_.block_cache;
    options.write_buffer_bytes = plan_.write_buffer;
    options.range_cache_bytes = plan_.range_cache;
    options.open_files = descriptors_.store_files;
    options.memory_bytes = plan_.data;
    return options;
  }

 private:
  static constexpr std::uint64_t kUnknownMachine = 4ULL << 30;

  static std::uint64_t limit_of(const Config& config) {
    const auto available = available_memory();
    const auto by_default = std::max((available > 0 ? available : kUnknownMachine) / 2, kLeastMemoryLimit);
    const auto limit = parse_bytes(config.memory_limit).value_or(by_default);
    if (available > 0 && limit > available) {
      log::warning(
          "memory_limit_too_high",
          {{"memory_limit", limit},
           {"message",
            fmt::format("the machine or container has {} MB: the server can be killed before it throttles requests",
                        available >> 20)}});
    }
    return limit;
  }
  static MemoryPlan plan_of(const Config& config) {
    const auto limit = limit_of(config);
    const bool on_disk = !config.in_memory && config.store.empty();
    const auto cache = on_disk ? parse_bytes(config.cache_size) : std::nullopt;
    if (cache && *cache > most_cache(limit)) {
      log::warning("cache_size_too_large",
                   {{"cache_size", most_cache(limit)},
                    {"message", "cache_size is at most three quarters of memory_limit; this much is used"}});
    }
    return plan_memory(limit, cache);
  }
  static std::vector<http::Network> proxies_of(const Config& config) {
    std::vector<http::Network> proxies;
    for (const auto& text : config.trusted_proxies) {
      if (auto network = http::Network::parse(text)) proxies.push_back(std::move(*network));
    }
    return proxies;
  }

  const Descriptors descriptors_;
  const MemoryPlan plan_;
  MemoryBudget memory_;
  http::ConnectionLimits connections_;
};

// Answers /health to anybody.  The instance outlives it.
std::function<http::Response()> health_of(library::Instance& instance) {
  return [engine = &instance.engine()] {
    engine->try_recover();
    return health_answer(*engine, HealthDetail::Cause);
  };
}

// The database of the systems: one in this process, or an endpoint.
class AppDatabase {
 public:
  // Errors: Usage (an endpoint that lacks what models need, no credentials), Storage, Corruption.
  static Result<AppDatabase> open(const Config& config, const SharedLimits& limits) {
    AppDatabase database;
    if (config.endpoint.empty()) {
      database.instance_ = TRY(library::Instance::open(limits.instance_options(config)));
      database.client_ = std::make_unique<client::InProcessClient>(database.instance_->operations());
      return database;
    }
    const auto origin = TRY(http::Origin::parse(config.endpoint));
    auto identity = TRY(client::find_signing_scope(origin, client::process_environment()));
    database.client_ = TRY(client::RemoteClient::open({.endpoint = config.endpoint,
                                                       .region = std::move(identity.region),
                                                       .credentials = std::move(identity.credentials)}));
    TRY(client::require_capabilities(*database.client_));
    return database;
  }

  client::Client& client() { return *client_; }
  const Clock& clock() const { return instance_ ? instance_->clock() : system_clock_; }
  // Answers /health; none if the database is at an endpoint.
  std::function<http::Response()> health() const { return instance_ ? health_of(*instance_) : nullptr; }
  void shorten_waits() {
    if (instance_) instance_->store().shorten_waits();
  }
  // Those of the database in this process; at an endpoint, those of the data folder.
  std::unique_ptr<PrivateFiles> files(const Config& config) const {
    return instance_ ? files_of(config, *instance_) : files_in_folder(config.data);
  }

 private:
  SystemClock system_clock_;
  std::unique_ptr<library::Instance> instance_;  // null: remote
  std::unique_ptr<client::Client> client_;
};

// The console's port: the page, and the systems.  If there are systems, they also answer /health and /metrics, by the
// rules of the REST API.
class ConsolePort final : public http::Handler {
 public:
  // All outlive it; no systems: null.
  ConsolePort(http::Handler& console, http::Handler* systems) : console_(console), systems_(systems) {}

  void handle(const http::Request& request, http::Responder responder) override {
    handler_of(request).handle(request, std::move(responder));
  }
  http::Admission admit(const http::Request& head) override { return handler_of(head).admit(head); }
  // A request that could not be read has no path.  Only callers of systems send large bodies.
  http::Response refuse(int status, std::string_view reason) override {
    return (systems_ != nullptr ? *systems_ : console_).refuse(status, reason);
  }

 private:
  http::Handler& handler_of(const http::Request& request) {
    const bool watches = request.path == "/health" || request.path == "/metrics";
    const bool of_systems = watches || request.path.starts_with("/systems");
    return systems_ != nullptr && of_systems ? *systems_ : console_;
  }

  http::Handler& console_;
  http::Handler* const systems_;
};

// The console's port with its guards.  On this machine, the whole port is guarded from web pages.  Beyond it, sessions
// guard the console, which takes any Host, but its own Origin only; tokens guard the systems, whatever the Origin.
class GuardedConsolePort {
 public:
  // All outlive it; no systems: null.
  GuardedConsolePort(http::Handler& console, http::Handler* systems, bool is_local, const http::HostCheck& hosts,
                     const Config& config, const Readiness& readiness)
      : own_pages_({.cors_origins = config.cors_origins, .any_host = true}),
        guarded_console_(console, own_pages_),
        port_(is_local ? console : guarded_console_, systems),
        guarded_port_(port_, hosts),
        ready_(is_local ? static_cast<http::Handler&>(guarded_port_) : port_, readiness) {}

  http::Handler& handler() { return ready_; }

 private:
  const http::HostCheck own_pages_;
  HostGuard guarded_console_;
  ConsolePort port_;
  HostGuard guarded_port_;
  ReadyPort ready_;
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
  const auto where = config.store.empty() ? data_flag(config) : " --store URL";
  return fmt::format("  Token         stator token --subject me{}\n", where);
}

void follow_parent(StopSignal& stop, pid_t parent) {
  if (stop.follow_parent(parent)) return;
  log::warning("parent_not_followed",
               {{"message",
                 "stop_with_parent is set, but the parent process cannot be watched: it is in another container, "
                 "or the kernel is too old; the server will not stop with it"}});
}

// SIGHUP: certificates are renewed under a server that goes on.
void reload(http::TlsContext& tls) {
  if (const auto reloaded = tls.reload()) {
    log::info("tls_reloaded");
  } else {
    log::error("tls_not_reloaded", {{"error", reloaded.error().message}});
  }
}

// Null without a certificate.  Errors: Usage.
Result<std::unique_ptr<http::TlsContext>> load_tls(const Config& config) {
  if (config.tls_cert.empty()) return std::unique_ptr<http::TlsContext>();
  return http::TlsContext::load(config.tls_cert, config.tls_key);
}

void warn_of_open_text(const Config& config, const http::TlsContext* tls) {
  if (tls != nullptr || is_loopback(config.host)) return;
  log::warning("not_encrypted", {{"message", "others on the network can read the traffic; set tls_cert and tls_key"}});
}

// Returns after the signal to stop.  Until then, SIGHUP renews certificates; `refresh` (none: empty) runs with it, and
// twice a second.
void serve_until_stopped(StopSignal& stop, http::TlsContext* tls, const std::function<void()>& refresh) {
  bool is_started = false;
  while (true) {
    const auto signal = !is_started ? stop.wait_for(kStartIsOver) : refresh ? stop.wait_for(kLookForKeys) : stop.wait();
    if (signal && *signal != SIGHUP) return log::info("stopping", {{"signal", *signal}});
    if (!std::exchange(is_started, true)) release_start_pages();  // now that nobody waits for the first answer
    if (refresh) refresh();
    if (signal && tls != nullptr) reload(*tls);
  }
}

// Warns that every web page in a browser on this machine can then read and change everything.
void warn_of_open_cors(const Config& config, bool signed_only) {
  const bool any = std::find(config.cors_origins.begin(), config.cors_origins.end(), "*") != config.cors_origins.end();
  if (!any || signed_only) return;
  log::warning(
      "open_to_all_web_pages",
      {{"message",
        fmt::format(
            "cors_origins is * and there are no access keys: every web page that somebody on this machine opens "
            "can read and change the data; name the origins, or make a key with `stator key add{}`",
            data_flag(config))}});
}

// A name other than localhost may belong to a proxy, through which other machines reach the server.
void warn_of_open_hosts(const Config& config, bool signed_only) {
  if (config.allowed_hosts.empty() || signed_only) return;
  log::warning("open_to_allowed_hosts",
               {{"message",
                 fmt::format("allowed_hosts is set and there are no access keys: every client that reaches the server "
                             "by these names can read and change everything; make a key with `stator key add{}`",
                             data_flag(config))}});
}

std::string place_of_data(const Config& config) {
  return config.store.empty() ? config.data : library::described_store(config.store);
}

// The lines that a person needs after the start.
void print_welcome(const Config& config, const Welcome& welcome) {
  std::string text = fmt::format("\n  DynamoDB API  {}\n", welcome.api);
  if (!welcome.console.empty()) {
    text +=
        fmt::format("  Console       {}{}\n", welcome.console,
                    console::assets().empty() ? "  (without its page: the program was built with --no-console)" : "");
  }
  text += welcome.systems;
  text +=
      fmt::format("  Data          {}\n", config.in_memory ? "in memory, gone when this stops" : place_of_data(config));
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

// Logs the start, and tells people where everything is.  Null: there is no console, no system, no TLS.
void announce(const Config& config, library::Instance& instance, const http::Server& api, const http::Server* console,
              const Systems* systems, const http::TlsContext* tls, bool signed_only) {
  log::info("started", {{"host", config.host},
                        {"port", api.port()},
                        {"tables", instance.engine().catalog().size()},
                        {"data", config.in_memory ? "memory" : place_of_data(config)}});
  warn_of_open_text(config, tls);
  Welcome welcome{.api = url(tls != nullptr ? "https" : "http", config.host, api.port()),
                  .console = {},
                  .signed_only = signed_only};
  if (console != nullptr) {
    const auto host = console_host(config);
    welcome.console = url(is_loopback(host) ? "http" : "https", host, console->port());
  }
  if (systems != nullptr) welcome.systems = list_systems(*systems, welcome.console) + token_hint(config);
  print_welcome(config, welcome);
}

// Null when a signal came before they were open.
Result<std::unique_ptr<Systems>> open_systems(StopSignal& stop, const Config& config, client::Client& client,
                                              const Clock& clock, Listener listener) {
  const StopWatch watch(stop);
  auto systems = Systems::open(config, client, clock, std::move(listener), watch.token());
  if (systems || !watch.token().stop_requested()) return systems;
  log::info("stopping", {{"signal", stop.wait_for(std::chrono::milliseconds(0)).value_or(0)}});
  log::info("stopped");
  return std::unique_ptr<Systems>();
}

// Lets load balancers notice that the server is about to stop, while it still answers.  A second SIGINT or SIGTERM ends
// it.
void drain(StopSignal& stop, Readiness& readiness, const Config& config) {
  readiness.stop();
  if (config.drain_seconds > 0) stop.wait_for(std::chrono::seconds(config.drain_seconds));
}

console::ConsoleOptions console_options(const Config& config, library::Instance& instance,
                                        const DynamoDbEndpoint& endpoint, std::uint16_t api_port) {
  const bool is_local = is_loopback(console_host(config));
  return {.secure = !is_local,
          .local = is_local,
          .read_only = config.console_read_only,
          .users_are_ours = config.jwks.empty(),
          .in_memory = config.in_memory,
          .version = std::string(version()),
          .api = api_address(config, api_port),
          .health = health_of(instance),
          .metrics = [&endpoint] { return endpoint.metrics(); },
          .numbers = [&endpoint] { return endpoint.numbers(); }};
}

// The console and the systems on their port.
class RunningConsole {
 public:
  // All but `config` outlive it; no TLS: null.  Errors: Usage.
  static Result<std::unique_ptr<RunningConsole>> start(const Config& config, const ConsoleParts& parts,
                                                       SharedLimits& limits, const http::HostCheck& hosts,
                                                       Readiness& readiness, const http::TlsContext* tls) {
    std::unique_ptr<RunningConsole> console(new RunningConsole(config, parts, hosts, readiness));
    auto options = limits.http_options(config, config.console_port);
    if (parts.systems == nullptr) options.threads = 1;
    options.host = console_host(config);
    if (!parts.options.local) options.tls = tls;
    console->server_ = TRY(http::Server::start(options, console->port_.handler()));
    return console;
  }

  const http::Server& server() const { return *server_; }
  void refresh() { service_.refresh(); }
  void stop() {
    service_.stop();
    server_->stop(kStopGrace);
  }

 private:
  RunningConsole(const Config& config, const ConsoleParts& parts, const http::HostCheck& hosts, Readiness& readiness)
      : service_(parts, config, config.in_memory ? std::string() : config.data),
        port_(service_.handler(), parts.systems != nullptr ? &parts.systems->service() : nullptr, parts.options.local,
              hosts, config, readiness) {}

  ConsoleService service_;
  GuardedConsolePort port_;
  std::unique_ptr<http::Server> server_;  // last: it uses everything above
};

}  // namespace

Result<void> run_server(const Config& config, Mode mode) {
  const auto parent = getppid();
  TRY(check_config(config, mode));
  SharedLimits limits(config);
  StopSignal stop;  // before any thread, so that all inherit its mask
  if (config.stop_with_parent) follow_parent(stop, parent);
  auto instance = TRY(library::Instance::open(limits.instance_options(config)));
  const SystemClock clock;
  http::SignatureVerifier signatures({.service = "dynamodb",
                                      .signed_headers = {"x-amz-target"},
                                      .keys_last = config.store.empty() ? std::chrono::seconds(0) : kKeysLast},
                                     clock);
  const std::shared_ptr<PrivateFiles> files = files_of(config, *instance);
  AccessKeyFollower keys(AccessKeyFile(files), signatures, instance->engine());
  TRY(keys.start(config.allow_unsigned));
  if (!is_loopback(config.host) && !signatures.has_keys()) return no_keys(config, AccessKeyFile(files));
  if (!is_loopback(config.host)) signatures.require();  // even if the last key is removed at this very moment
  warn_of_open_cors(config, signatures.required());
  warn_of_open_hosts(config, signatures.required());
  client::InProcessClient client(instance->operations());
  const bool console_is_local = is_loopback(console_host(config));
  Traffic traffic;
  console::LiveRequests live_requests(clock, partition_keys_of(instance->engine()));
  auto* const live = mode == Mode::Up ? &live_requests : nullptr;  // who would look otherwise
  std::unique_ptr<Systems> systems;
  if (mode == Mode::Up && (config.demo || !config.models.empty())) {
    systems = TRY(open_systems(stop, config, client, instance->clock(),
                               {.local = console_is_local,
                                .health = health_of(*instance),
                                .memory = &limits.memory(),
                                .traffic = &traffic,
                                .files = files.get(),
                                .watcher = live}));
    if (!systems) return {};
  }
  const http::HostCheck hosts({.allowed_hosts = config.allowed_hosts, .cors_origins = config.cors_origins});
  DynamoDbEndpoint endpoint(*instance, clock,
                            {.cors_origins = config.cors_origins,
                             .max_body_bytes = config.max_body_bytes,
                             .signatures = &signatures,
                             .hosts = &hosts,
                             .systems = systems ? &systems->service() : nullptr,
                             .memory = &limits.memory(),
                             .memory_limit = limits.plan().limit,
                             .traffic = &traffic,
                             .live = live});
  auto options = limits.http_options(config, config.port);
  const auto tls = TRY(load_tls(config));
  options.tls = tls.get();
  Readiness readiness(health_of(*instance));
  ReadyPort api_port(endpoint, readiness);
  const auto server = TRY(http::Server::start(options, api_port));
  endpoint.observe(*server);

  client::InProcessClient console_client(instance->operations(), &limits.memory());
  std::unique_ptr<RunningConsole> console;  // none: only the database is served
  if (mode == Mode::Up) {
    console = TRY(RunningConsole::start(config,
                                        {.client = console_client,
                                         .signatures = signatures,
                                         .clock = instance->clock(),
                                         .systems = systems.get(),
                                         .live = live,
                                         .memory = &limits.memory(),
                                         .shared = instance->engine().is_shared() ? files.get() : nullptr,
                                         .options = console_options(config, *instance, endpoint, server->port())},
                                        limits, hosts, readiness, tls.get()));
  }

  announce(config, *instance, *server, console ? &console->server() : nullptr, systems.get(), tls.get(),
           signatures.required());
  serve_until_stopped(stop, tls.get(), [&] {
    keys.poll();
    if (console) console->refresh();
  });
  drain(stop, readiness, config);
  instance->store().shorten_waits();
  if (console) console->stop();
  server->stop(kStopGrace);
  console.reset();  // its workers use the systems
  endpoint.stop();
  systems.reset();
  instance.reset();  // finishes the last writes while their endpoint can still answer
  log::info("stopped");
  return {};
}

Result<void> run_app(const Config& config) {
  const auto parent = getppid();
  TRY(check_config(config, Mode::App));
  SharedLimits limits(config);
  StopSignal stop;  // before any thread, so that all inherit its mask
  if (config.stop_with_parent) follow_parent(stop, parent);
  auto database = TRY(AppDatabase::open(config, limits));
  const bool local = is_loopback(config.host);
  Traffic traffic;
  const auto files = database.files(config);
  auto systems = TRY(open_systems(stop, config, database.client(), database.clock(),
                                  {.local = local,
                                   .health = database.health(),
                                   .memory = &limits.memory(),
                                   .traffic = &traffic,
                                   .files = files.get()}));
  if (!systems) return {};
  const http::HostCheck hosts({.allowed_hosts = config.allowed_hosts, .cors_origins = config.cors_origins});
  HostGuard guarded(systems->service(), hosts);
  auto options = limits.http_options(config, config.app_port);
  const auto tls = TRY(load_tls(config));
  options.tls = tls.get();
  // If other machines can reach it, tokens guard it.  The names by which they call it are not known here.
  Readiness readiness(database.health());
  ReadyPort port(local ? static_cast<http::Handler&>(guarded) : systems->service(), readiness);
  const auto server = TRY(http::Server::start(options, port));

  log::info("started", {{"host", config.host}, {"port", server->port()}, {"systems", systems->systems().size()}});
  warn_of_open_text(config, tls.get());
  const auto welcome =
      fmt::format("\n{}{}\n  Ctrl-C stops it.\n\n",
                  list_systems(*systems, url(tls ? "https" : "http", config.host, server->port())), token_hint(config));
  std::fwrite(welcome.data(), 1, welcome.size(), stdout);
  std::fflush(stdout);
  serve_until_stopped(stop, tls.get(), {});
  drain(stop, readiness, config);
  database.shorten_waits();
  server->stop(kStopGrace);
  systems.reset();
  log::info("stopped");
  return {};
}

}  // namespace stator::server
