#pragma once

#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/cli/command_tree.h"

namespace stator::cli {

// A script for bash, zsh or fish that completes commands, options and their values.
// Errors: Usage, for another shell.
Result<std::string> completion(std::string_view shell, const CommandTree& program);

}  // namespace stator::cli
