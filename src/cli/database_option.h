#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/library/instance.h"
#include "stator/server/config.h"

// The options that say where a command's tables are: --endpoint, --data, --config.
namespace stator::cli {

extern const std::string_view kWhereHelp;
void add_where_options(CLI::App& action);

// The settings of a command that takes --data and --config.  Errors: Usage.
Result<server::LoadedConfig> load_settings(const CLI::App& command);

// A data folder, or an endpoint; the other is empty.
struct Where {
  std::string folder, endpoint;
};
// Errors: Usage.
Result<Where> find_database(const CLI::App& action);

struct Database {
  std::unique_ptr<library::Instance> instance;  // none: at an endpoint
  std::unique_ptr<client::Client> client;
};
// Errors: Usage, Storage, Corruption.
Result<Database> open_database(const CLI::App& action);

}  // namespace stator::cli
