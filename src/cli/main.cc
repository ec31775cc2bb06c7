#include <sys/stat.h>

#include <cstdio>
#include <exception>

#include "stator/cli/cli.h"

int main(int argc, char** argv) {
  // What Stator writes is data and secrets, which are their owner's alone.  Here rather than file by file, because RocksDB makes its files
  // itself, and every command makes some.
  ::umask(077);
  try {
    return stator::cli::run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "stator: internal error: %s\n", exception.what());
    return 1;
  }
}
