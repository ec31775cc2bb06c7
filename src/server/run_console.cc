#include "stator/server/run_console.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "stator/base/log.h"
#include "stator/client/credentials.h"
#include "stator/client/remote.h"
#include "stator/http/browser/host_check.h"
#include "stator/http/origin.h"
#include "stator/http/server.h"
#include "stator/server/console_service.h"
#include "stator/server/host_guard.h"
#include "stator/server/stop_signal.h"
#include "stator/server/version.h"

namespace stator::server {
namespace {

constexpr std::chrono::seconds kConsoleStopGrace{2};

http::Response console_health() {
  return {.status = 200, .content_type = "application/json", .headers = {}, .body = "{\"status\":\"ok\"}\n"};
}

http::Response no_metrics() {
  return {.status = 404,
          .content_type = "text/plain",
          .headers = {},
          .body = "This console has no metrics; ask its endpoint.\n"};
}

}  // namespace

Result<void> run_console(const ConsoleSettings& settings) {
  StopSignal stop;  // before any thread, so that all inherit its mask
  const auto origin = TRY(http::Origin::parse(settings.endpoint));
  auto remote = TRY(client::RemoteOptions::from_environment(settings.endpoint, client::process_environment()));
  auto region = remote.region;
  const auto client = TRY(client::RemoteClient::open(remote));
  const SystemClock clock;
  const http::SignatureVerifier no_keys({.service = "dynamodb", .signed_headers = {}}, clock);
  ConsoleService console({.client = *client,
                          .signatures = no_keys,
                          .clock = clock,
                          .options = {.read_only = settings.read_only,
                                      .version = std::string(version()),
                                      .endpoint = origin.url(),
                                      .region = std::move(region),
                                      .health = console_health,
                                      .metrics = no_metrics}},
                         Config(), settings.folder);
  const http::HostCheck hosts({});
  HostGuard guarded(console.handler(), hosts);
  http::ServerOptions options;
  options.port = settings.port;
  options.threads = 1;
  const auto server = TRY(http::Server::start(options, guarded));
  log::info("started", {{"host", options.host}, {"port", server->port()}, {"endpoint", origin.url()}});
  const auto welcome = fmt::format("\n  Console       http://{}:{}\n  Endpoint      {}{}\n\n  Ctrl-C stops it.\n\n",
                                   options.host, server->port(), origin.url(), settings.read_only ? ", read-only" : "");
  std::fwrite(welcome.data(), 1, welcome.size(), stdout);
  std::fflush(stdout);
  while (stop.wait() == SIGHUP) {
  }
  console.stop();
  server->stop(kConsoleStopGrace);
  log::info("stopped");
  return {};
}

}  // namespace stator::server
