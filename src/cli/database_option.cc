#include "stator/cli/database_option.h"

#include <fmt/format.h>

#include "stator/cli/command.h"
#include "stator/client/remote.h"

namespace stator::cli {
namespace {

// Also of a command that does not have the option.
std::optional<std::string> given(const CLI::App& command, const std::string& name) {
  return command.get_option_no_throw(name) == nullptr ? std::nullopt : option(command, name);
}

}  // namespace

const std::string_view kWhereHelp =
    R"(  --endpoint URL
      Where the table is: any DynamoDB endpoint, a running Stator included.  Region and credentials come from the
      usual AWS variables and profile files.
  --data FOLDER
      The table is in this data folder, and no server runs on it; else from $STATOR_DATA, else from stator.yaml.
  --store URL
      The table is in this store, such as postgres://host/database; else from $STATOR_STORE, else from stator.yaml.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.
)";

void add_where_options(CLI::App& action) {
  for (const auto* name : {"--endpoint", "--data", "--config"}) {
    action.add_option(name)->expected(1)->allow_extra_args(false);
  }
}

void add_store_option(CLI::App& action) { action.add_option("--store")->expected(1)->allow_extra_args(false); }

Result<server::LoadedConfig> load_settings(const CLI::App& command) {
  server::ConfigSources sources{.environment = server::stator_environment()};
  sources.file = option(command, "--config");
  if (const auto folder = given(command, "--data")) sources.flags.emplace_back("data", *folder);
  if (const auto store = given(command, "--store")) sources.flags.emplace_back("store", *store);
  return server::load_config(sources);
}

Result<server::LoadedConfig> load_server_settings(const CLI::App& command) {
  auto loaded = TRY(load_settings(command));
  if (given(command, "--data") && !loaded.config.store.empty()) {
    return usage_error(
        "the setting store is set, and then the server does not look into a data folder: leave --data out");
  }
  return loaded;
}

Result<Where> find_database(const CLI::App& action) {
  auto endpoint = option(action, "--endpoint");
  if (endpoint && action.count("--data") > 0) {
    return usage_error("--endpoint and --data cannot both say where the table is");
  }
  if (given(action, "--store") && (endpoint || action.count("--data") > 0)) {
    return usage_error(
        fmt::format("--store and {} cannot both say where the table is", endpoint ? "--endpoint" : "--data"));
  }
  if (endpoint) return Where{.folder = {}, .endpoint = std::move(*endpoint), .store = {}};
  auto loaded = TRY(load_settings(action));
  // A folder that is named is meant, whatever the settings of the server say.
  if (action.count("--data") > 0) loaded.config.store.clear();
  return Where{.folder = std::move(loaded.config.data), .endpoint = {}, .store = std::move(loaded.config.store)};
}

Result<OpenedDatabase> open_database(const CLI::App& action) {
  const auto where = TRY(find_database(action));
  OpenedDatabase database;
  if (!where.endpoint.empty()) {
    const auto options = TRY(client::RemoteOptions::from_environment(where.endpoint, client::process_environment()));
    database.client = TRY(client::RemoteClient::open(options));
    return database;
  }
  database.instance = TRY(library::Instance::open({.data_folder = where.folder, .store = where.store}));
  database.client = std::make_unique<client::InProcessClient>(database.instance->operations());
  return database;
}

}  // namespace stator::cli
