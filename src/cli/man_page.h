#pragma once

#include <string>
#include <string_view>

#include "stator/cli/command_tree.h"

namespace stator::cli {

// "stator-model-check.1".
std::string man_page_name(const CommandTree& command);

// The help of one command as a manual page, in roff.  `program` is the tree that the command is in.
std::string man_page(const CommandTree& program, const CommandTree& command, std::string_view version);

}  // namespace stator::cli
