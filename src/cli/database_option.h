#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/client/client.h"
#include "stator/library/instance.h"

// The options that say where a command's tables are: --endpoint, --data, --config.
namespace stator::cli {

extern const std::string_view kWhereHelp;
void add_where_options(CLI::App& action);

// What was given for an option; the last, if it was given several times.
std::optional<std::string> option(const CLI::App& action, const std::string& name);

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
