#include "stator/cli/database_option.h"

#include "stator/client/remote.h"
#include "stator/server/config.h"

namespace stator::cli {

const std::string_view kWhereHelp =
    R"(  --endpoint URL
      Where the table is: any DynamoDB endpoint, a running Stator included.  Region and credentials come from the
      usual AWS variables and profile files.
  --data FOLDER
      The table is in this data folder, and no server runs on it; else from $STATOR_DATA, else from stator.yaml.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.
)";

std::optional<std::string> option(const CLI::App& action, const std::string& name) {
  const auto* found = action.get_option(name);
  if (found->count() == 0) return std::nullopt;
  return found->results().back();
}

void add_where_options(CLI::App& action) {
  for (const auto* name : {"--endpoint", "--data", "--config"}) {
    action.add_option(name)->expected(1)->allow_extra_args(false);
  }
}

Result<Where> find_database(const CLI::App& action) {
  auto endpoint = option(action, "--endpoint");
  const auto folder = option(action, "--data");
  if (endpoint && folder) return Error{ErrorCode::Usage, "--endpoint and --data cannot both say where the table is"};
  if (endpoint) return Where{.folder = {}, .endpoint = std::move(*endpoint)};
  server::ConfigSources sources{.environment = server::stator_environment()};
  sources.file = option(action, "--config");
  if (folder) sources.flags.emplace_back("data", *folder);
  auto loaded = TRY(server::load_config(sources));
  return Where{.folder = std::move(loaded.config.data), .endpoint = {}};
}

Result<Database> open_database(const CLI::App& action) {
  const auto where = TRY(find_database(action));
  Database database;
  if (!where.endpoint.empty()) {
    const auto options = TRY(client::RemoteOptions::from_environment(where.endpoint, client::process_environment()));
    database.client = TRY(client::RemoteClient::open(options));
    return database;
  }
  database.instance = TRY(library::Instance::open({.data_folder = where.folder}));
  database.client = std::make_unique<client::InProcessClient>(database.instance->service());
  return database;
}

}  // namespace stator::cli
