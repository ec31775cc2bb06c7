#include "stator/server/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace stator::server {
namespace {

constexpr std::uint64_t kGiga = 1 << 30;

// A machine whose files say so.
std::uint64_t memory_of(const std::map<std::string, std::string>& files) {
  auto root = (std::filesystem::temp_directory_path() / "stator-memory-XXXXXX").string();
  EXPECT_NE(mkdtemp(root.data()), nullptr);
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = root + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const auto memory = available_memory(root);
  std::filesystem::remove_all(root);
  return memory;
}

const std::pair<const std::string, std::string> kMachine = {"/proc/meminfo",
                                                            "MemTotal:        8388608 kB\nMemFree:  1 kB\n"};

TEST(AvailableMemory, IsTheMachines) { EXPECT_EQ(memory_of({kMachine}), 8 * kGiga); }

TEST(AvailableMemory, IsTheContainers) {
  EXPECT_EQ(memory_of({kMachine, {"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/memory.max", "1073741824\n"}}),
            kGiga);
  EXPECT_EQ(memory_of({kMachine,
                       {"/proc/self/cgroup", "0::/system.slice/stator.service\n"},
                       {"/sys/fs/cgroup/system.slice/memory.max", "1073741824\n"},
                       {"/sys/fs/cgroup/system.slice/stator.service/memory.max", "max\n"}}),
            kGiga)
      << "the outer group has the limit";
  EXPECT_EQ(memory_of({kMachine,
                       {"/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n"},
                       {"/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "2147483648\n"}}),
            2 * kGiga);
}

TEST(AvailableMemory, IsTheMachinesWhereAContainerMayHaveMore) {
  EXPECT_EQ(memory_of({kMachine,
                       {"/proc/self/cgroup", "4:memory:/\n"},
                       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}}),
            8 * kGiga);
}

TEST(AvailableMemory, IsNothingWhenNobodyTells) { EXPECT_EQ(memory_of({}), 0U); }

TEST(ParseBytes, TakesUnits) {
  EXPECT_EQ(parse_bytes("512MB"), 512U << 20);
  EXPECT_EQ(parse_bytes("2GB"), 2 * kGiga);
  EXPECT_EQ(parse_bytes("65536KB"), 64U << 20);
  EXPECT_EQ(parse_bytes("1000"), 1000U);
  for (const char* wrong : {"", "MB", "1.5GB", "-1", "1 MB", "1TB", "99999999999GB"}) {
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
  }
}

std::uint64_t caches_of(const MemoryPlan& plan) { return plan.block_cache + 3 * plan.write_buffer + plan.range_cache; }

TEST(PlanMemory, FitsItsLimit) {
  for (const std::uint64_t limit : {kLeastMemoryLimit, kGiga / 2, 12 * kGiga}) {
    const auto plan = plan_memory(limit);
    EXPECT_LE(plan.requests + plan.data, limit);
    EXPECT_LE(plan.requests + caches_of(plan), limit);
  }
}

TEST(PlanMemory, GivesHalfToTheCachesByDefault) {
  const auto plan = plan_memory(8 * kGiga);
  EXPECT_NEAR(static_cast<double>(caches_of(plan)), 4.0 * kGiga, 0.02 * kGiga);
  EXPECT_NEAR(static_cast<double>(plan.requests), 3.0 * kGiga, 0.02 * kGiga);
}

TEST(PlanMemory, GivesTheCachesWhatTheSettingSays) {
  const auto plan = plan_memory(8 * kGiga, 6 * kGiga - kGiga / 8);
  EXPECT_EQ(caches_of(plan), 6 * kGiga - kGiga / 8);
  EXPECT_LE(plan.requests + caches_of(plan), 8 * kGiga);
  EXPECT_GE(plan.requests, kGiga) << "and the rest to requests";
  EXPECT_EQ(caches_of(plan_memory(8 * kGiga, kLeastCache)), kLeastCache);
}

}  // namespace
}  // namespace stator::server
