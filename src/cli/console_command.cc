#include "stator/cli/console_command.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "stator/cli/command.h"
#include "stator/server/run_console.h"

namespace stator::cli {
namespace {

constexpr std::string_view kConsoleHelp =
    R"(Show any DynamoDB endpoint in the console: Amazon DynamoDB, DynamoDB Local, or a Stator elsewhere.  The console
is a web page on this machine; nobody else can reach it.  Region and credentials are those of the usual AWS variables
and profile files; an endpoint on this machine needs none.  Ctrl-C, or SIGTERM, stops it.

A console of a Stator's own (`stator up`, port 8001) also shows models, live requests and charts.  An endpoint has
these not.

Usage: stator console --endpoint URL [OPTIONS]

Options:
  --endpoint URL
      The endpoint: http://localhost:8000, https://dynamodb.eu-central-1.amazonaws.com
  --port PORT
      Port of the console; 0 takes a free one.  Default 8001.
  --read-only
      Show data and change none: everything that writes is refused.
  --data FOLDER
      Keep saved queries and the history in console.json in this folder.  Without it they are gone when the console
      stops.

Examples:
  stator console --endpoint http://localhost:8000 --port 8002
  AWS_PROFILE=work stator console --endpoint https://dynamodb.eu-central-1.amazonaws.com --read-only
)";

}  // namespace

ConsoleCommand::ConsoleCommand(CLI::App& app) : app_(add_command(app, "console", std::string(kConsoleHelp))) {
  for (const auto* flag : {"--endpoint", "--port", "--data"}) {
    app_->add_option(flag)->expected(1)->allow_extra_args(false);
  }
  app_->add_flag("--read-only");
}

int ConsoleCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  server::ConsoleSettings settings;
  settings.endpoint = option(*app_, "--endpoint").value_or("");
  if (settings.endpoint.empty()) {
    return fail(kWrongArguments, "console needs an endpoint: stator console --endpoint http://localhost:8000");
  }
  if (const auto port = option(*app_, "--port")) {
    const auto* end = port->data() + port->size();
    const auto read = std::from_chars(port->data(), end, settings.port);
    if (read.ec != std::errc() || read.ptr != end) {
      return fail(kWrongArguments, fmt::format("--port expects a whole number from 0 to 65535, not \"{}\"", *port));
    }
  }
  settings.read_only = app_->count("--read-only") > 0;
  settings.folder = option(*app_, "--data").value_or("");
  const auto ran = server::run_console(settings);
  return ran ? kDone : fail(kFailed, ran.error().message);
}

}  // namespace stator::cli
