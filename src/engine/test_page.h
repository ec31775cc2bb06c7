#pragma once

#include <fstream>
#include <iterator>
#include <string>

#ifndef STATOR_TOP
#define STATOR_TOP "."  // the build of the tests says where the checkout is
#endif

namespace stator::engine::testing {

// The text of a page of the documentation, for tests that compare it with the code.
inline std::string page(const std::string& path_from_top) {
  std::ifstream file(STATOR_TOP "/" + path_from_top);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace stator::engine::testing
