#pragma once

#include <string_view>

namespace stator::cli {

// The program: reads the arguments, runs the command, and answers the process's exit status.
// `commit` is the commit that it was built from, for `stator version`.
// 0: done.  1: the command failed, and one line on standard error says why.  2: the same, and the arguments are why.
int run(int argc, const char* const* argv, std::string_view commit);

}  // namespace stator::cli
