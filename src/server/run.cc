#include "stator/server/run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "stator/base/log.h"
#include "stator/client/client.h"
#include "stator/console/console.h"
#include "stator/http/server.h"
#include "stator/library/instance.h"
#include "stator/server/endpoint.h"
#include "stator/server/stop_signal.h"

namespace stator::server {
namespace {

constexpr std::chrono::seconds kStopGrace{10};

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
void print_welcome(const Config& config, Mode mode, std::uint16_t port, std::uint16_t console_port) {
  std::string text = fmt::format("\n  DynamoDB API  http://{}:{}\n", config.host, port);
  if (mode == Mode::Up) text += fmt::format("  Console       http://{}:{}\n", config.host, console_port);
  text += fmt::format("  Data          {}\n", config.in_memory ? "in memory, gone when this stops" : config.data);
  text += fmt::format(
      "\n  AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1 \\\n"
      "    aws dynamodb list-tables --endpoint-url http://{}:{}\n\n  Ctrl-C stops it.\n\n",
      config.host, port);
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
  DynamoDbEndpoint endpoint(*instance, {.cors_origins = config.cors_origins, .max_body_bytes = config.max_body_bytes});
  const auto server = TRY(http::Server::start(http_options(config, config.port), endpoint));
  endpoint.observe(*server);

  client::InProcessClient client(instance->service());
  console::Console console(client);
  std::unique_ptr<http::Server> console_server;
  if (mode == Mode::Up) {
    auto options = http_options(config, config.console_port);
    options.threads = 1;
    console_server = TRY(http::Server::start(options, console));
  }

  log::info("started", {{"host", config.host},
                        {"port", server->port()},
                        {"tables", instance->engine().catalog().size()},
                        {"data", config.in_memory ? "memory" : config.data}});
  print_welcome(config, mode, server->port(), console_server ? console_server->port() : std::uint16_t{0});
  const int signal = stop.wait();
  log::info("stopping", {{"signal", signal}});
  if (console_server) console_server->stop(kStopGrace);
  server->stop(kStopGrace);
  instance.reset();  // what is still being written is finished while its endpoint is there to be told
  log::info("stopped");
  return {};
}

}  // namespace stator::server
