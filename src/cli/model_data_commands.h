#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace stator::cli {

// Commands that work with a model's data: in a data folder, or at an endpoint.

// stator model verify FILE
std::string model_verify_help();
void add_model_verify_options(CLI::App& action);
int verify_model(const CLI::App& action);

// stator model parked FILE
std::string model_parked_help();
void add_model_parked_options(CLI::App& action);
int show_parked(const CLI::App& action);

// stator model migrate OLD NEW
std::string model_migrate_help();
void add_model_migrate_options(CLI::App& action);
int migrate_model(const CLI::App& action);

}  // namespace stator::cli
