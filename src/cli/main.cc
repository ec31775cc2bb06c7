#include <cstdio>
#include <exception>

#include "stator/cli/cli.h"

int main(int argc, char** argv) {
  try {
    return stator::cli::run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "stator: internal error: %s\n", exception.what());
    return 1;
  }
}
