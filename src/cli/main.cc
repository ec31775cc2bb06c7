#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "stator/cli/cli.h"
#include "stator/cli/commit.h"

// For jemalloc, which takes the place of malloc: freed memory goes back to the system after a second, also when the
// thread that freed it sleeps.  By default a burst of large answers would stay for as long as its threads are idle.
extern "C" {
const char* malloc_conf = "background_thread:true,max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0";
}

int main(int argc, char** argv) {
  // Stator writes data and secrets, which only their owner may read.  Here rather than file by file, because
  // RocksDB makes its files itself, and every command makes some.
  ::umask(077);
  // A file that reaches the limit of the process (ulimit -f) is a write that fails, and not a reason to die without a
  // word.  Here, because every command that writes files can reach it.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return stator::cli::run(argc, argv, stator::cli::kCommit);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "stator: internal error: %s\n", exception.what());
    return 1;
  }
}
