#include "stator/storage/testing/temporary_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "stator/base/assert.h"

namespace stator::storage::testing {

namespace {

namespace fs = std::filesystem;

// In memory where there is room: the tests sync thousands of times, and none of them can pull the plug.
fs::path place_for_folders() {
  constexpr std::uintmax_t kRoom = 256 << 20;
  std::error_code code;
  const auto space = fs::space("/dev/shm", code);
  if (!code && space.available >= kRoom && ::access("/dev/shm", W_OK) == 0) return "/dev/shm";
  return fs::temp_directory_path();
}

}  // namespace

TemporaryFolder::TemporaryFolder() : path_((place_for_folders() / "stator-test-XXXXXX").string()) {
  STATOR_ASSERT(::mkdtemp(path_.data()) != nullptr, "the folder for temporary files can be written to");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace stator::storage::testing
