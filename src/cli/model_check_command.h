#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

namespace stator::cli {

// stator model check FILE...
extern const std::string_view kModelCheckHelp;
void add_model_check_options(CLI::App& action);
int check_models(const CLI::App& action);

}  // namespace stator::cli
