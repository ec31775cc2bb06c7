#include "stator/expr/cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "stator/expr/parser.h"

namespace stator::expr {
namespace {

std::shared_ptr<const Tree> tree(Kind kind) { return TreeBuilder(kind).finish(); }

TEST(Cache, KeepsKindsApart) {
  Cache cache;
  const auto condition = tree(Kind::Condition);
  cache.insert("a", condition);
  EXPECT_EQ(cache.find(Kind::Condition, "a"), condition);
  EXPECT_EQ(cache.find(Kind::Filter, "a"), nullptr);
  EXPECT_EQ(cache.find(Kind::Condition, "b"), nullptr);
}

TEST(Cache, IsBounded) {
  Cache cache(1 << 20);
  for (int i = 0; i < 20000; ++i) {
    cache.insert(std::to_string(i), tree(Kind::Condition));
    cache.insert(std::to_string(i), tree(Kind::Update));
  }
  EXPECT_LE(cache.bytes(), std::size_t{1} << 20);
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    for (const auto kind : {Kind::Condition, Kind::Update}) found += cache.find(kind, std::to_string(i)) != nullptr;
  }
  EXPECT_GT(found, 500);
}

TEST(Cache, PassesOnWhatIsTooBig) {
  Cache cache(100);
  cache.insert("a", tree(Kind::Condition));
  EXPECT_EQ(cache.find(Kind::Condition, "a"), nullptr);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(Cache, ForgetsTheLeastRecentlyUsed) {
  Cache cache(1 << 18);
  cache.insert("hot", tree(Kind::Condition));
  for (int i = 0; i < 5000; ++i) {
    ASSERT_NE(cache.find(Kind::Condition, "hot"), nullptr) << i;
    cache.insert(std::to_string(i), tree(Kind::Condition));
  }
  EXPECT_EQ(cache.find(Kind::Condition, "0"), nullptr);
}

TEST(Cache, IsSharedByThreads) {
  Cache cache(1 << 16);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (int i = 0; i < 2000; ++i) {
        const std::string text = "a = :v" + std::to_string(i % 50);
        auto found = cache.find(Kind::Filter, text);
        if (found == nullptr) {
          found = *parse(Kind::Filter, text);
          cache.insert(text, found);
        }
        ASSERT_EQ(print(*found), text);
      }
    });
  }
}

}  // namespace
}  // namespace stator::expr
