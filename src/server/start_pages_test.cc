#include "stator/server/start_pages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace stator::server {
namespace {

// Resident pages of files, in KB.
int resident_file_pages() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoi(line.substr(8));
  }
  return 0;
}

TEST(StartPages, AreNoLongerResidentAndComeBackWhenTheyAreNeeded) {
  const auto before = resident_file_pages();
  release_start_pages();
  const auto after = resident_file_pages();
  EXPECT_LT(after, before);
  EXPECT_EQ(std::to_string(before) + " KB", fmt::format("{} KB", before));
}

}  // namespace
}  // namespace stator::server
