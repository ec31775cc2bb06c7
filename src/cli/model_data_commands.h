#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

namespace stator::cli {

// Commands that work with a model's data: in a data folder, or at an endpoint.

// stator model verify FILE
extern const std::string_view kModelVerifyHelp;
void add_model_verify_options(CLI::App& action);
int verify_model(const CLI::App& action);

// stator model parked FILE
extern const std::string_view kModelParkedHelp;
void add_model_parked_options(CLI::App& action);
int show_parked(const CLI::App& action);

// stator model migrate OLD NEW
extern const std::string_view kModelMigrateHelp;
void add_model_migrate_options(CLI::App& action);
int migrate_model(const CLI::App& action);

}  // namespace stator::cli
