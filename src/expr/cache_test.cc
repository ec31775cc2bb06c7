#include "stator/expr/cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stator/expr/parser.h"

namespace stator::expr {
namespace {

TEST(Cache, KeepsKindsApart) {
  Cache cache;
  const auto tree = std::make_shared<const Tree>();
  cache.insert(Kind::Condition, "a", tree);
  EXPECT_EQ(cache.find(Kind::Condition, "a"), tree);
  EXPECT_EQ(cache.find(Kind::Filter, "a"), nullptr);
  EXPECT_EQ(cache.find(Kind::Condition, "b"), nullptr);
}

TEST(Cache, IsBounded) {
  Cache cache(64);
  for (int i = 0; i < 1000; ++i) cache.insert(Kind::Condition, std::to_string(i), std::make_shared<const Tree>());
  EXPECT_LE(cache.size(), 64U);
  EXPECT_GT(cache.size(), 32U);
}

TEST(Cache, ForgetsTheLeastRecentlyUsed) {
  Cache cache(64);
  cache.insert(Kind::Condition, "hot", std::make_shared<const Tree>());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(cache.find(Kind::Condition, "hot"), nullptr) << i;
    cache.insert(Kind::Condition, std::to_string(i), std::make_shared<const Tree>());
  }
  EXPECT_EQ(cache.find(Kind::Condition, "0"), nullptr);
}

TEST(Cache, IsSharedByThreads) {
  Cache cache(32);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (int i = 0; i < 2000; ++i) {
        const std::string text = "a = :v" + std::to_string(i % 50);
        auto tree = cache.find(Kind::Filter, text);
        if (tree == nullptr) {
          tree = *parse(Kind::Filter, text);
          cache.insert(Kind::Filter, text, tree);
        }
        ASSERT_EQ(print(*tree), text);
      }
    });
  }
}

}  // namespace
}  // namespace stator::expr
