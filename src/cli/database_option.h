#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/library/instance.h"
#include "stator/server/config.h"

// The options that say where a command's tables are: --endpoint, --data, --store, --config.
namespace stator::cli {

extern const std::string_view kWhereHelp;
void add_where_options(CLI::App& action);  // without --store
void add_store_option(CLI::App& action);

// The settings of a command that takes some of --data, --store and --config.  Errors: Usage.
Result<server::LoadedConfig> load_settings(const CLI::App& command);

// The same for parts that belong to a server, such as its access keys: a data folder beside a store is refused, because
// the server would not look there.  Errors: Usage.
Result<server::LoadedConfig> load_server_settings(const CLI::App& command);

// A data folder, an endpoint or a store.
struct Where {
  std::string folder, endpoint, store;
};
// Errors: Usage.
Result<Where> find_database(const CLI::App& action);

struct OpenedDatabase {
  std::unique_ptr<library::Instance> instance;  // none: at an endpoint
  std::unique_ptr<client::Client> client;
};
// Errors: Usage, Storage, Corruption.
Result<OpenedDatabase> open_database(const CLI::App& action);

}  // namespace stator::cli
