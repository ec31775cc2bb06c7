#pragma once

#include <fstream>
#include <iterator>
#include <string>

#ifndef STATOR_TOP
#define STATOR_TOP "."  // the build of the tests says where the checkout is
#endif

namespace stator::engine::testing {

// The text of a page of the documentation, for tests that hold it to what the code does.
inline std::string page(const std::string& path_from_top) {
  std::ifstream file(STATOR_TOP "/" + path_from_top);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace stator::engine::testing
