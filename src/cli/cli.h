#pragma once

namespace stator::cli {

// The program: reads the arguments, runs the command, and answers the process's exit status.
// 0: done.  1: the command failed, and one line on standard error says why.  2: the same, and the arguments are why.
int run(int argc, const char* const* argv);

}  // namespace stator::cli
