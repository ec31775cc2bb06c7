#include "stator/storage/testing/temporary_folder.h"

#include <cstdlib>
#include <filesystem>

#include "stator/base/assert.h"

namespace stator::storage::testing {

TemporaryFolder::TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "stator-test-XXXXXX").string()) {
  STATOR_ASSERT(::mkdtemp(path_.data()) != nullptr, "the folder for temporary files can be written to");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace stator::storage::testing
