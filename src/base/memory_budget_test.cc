#include "stator/base/memory_budget.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

constexpr std::size_t kLimit = 1 << 20;

TEST(MemoryBudget, GrantsUpToItsLimitAndTakesBack) {
  MemoryBudget budget(kLimit);
  MemoryClaim answer(&budget, MemoryPart::Answers);
  EXPECT_TRUE(answer.resize(kLimit / 2));
  EXPECT_FALSE(answer.resize(kLimit + 1));
  EXPECT_EQ(answer.bytes(), kLimit / 2) << "a refused claim keeps what it has";
  EXPECT_EQ(budget.used(MemoryPart::Answers), kLimit / 2);
  EXPECT_EQ(budget.refusals(), 1U);
  answer.reset();
  EXPECT_EQ(budget.used(), 0U);
}

TEST(MemoryBudget, KeepsHalfFromUnfinishedBodies) {
  MemoryBudget budget(kLimit);
  MemoryClaim body(&budget, MemoryPart::Bodies);
  EXPECT_FALSE(body.resize(kLimit / 2 + 1));
  EXPECT_TRUE(body.resize(kLimit / 2));
  MemoryClaim values(&budget, MemoryPart::Values);
  EXPECT_TRUE(values.resize(kLimit / 4));
}

TEST(MemoryBudget, KeepsAnEighthForSmallClaims) {
  MemoryBudget budget(kLimit);
  MemoryClaim large(&budget, MemoryPart::Answers);
  EXPECT_FALSE(large.resize(kLimit));
  EXPECT_TRUE(large.resize(kLimit - kLimit / 8));
  MemoryClaim small(&budget, MemoryPart::Answers);
  EXPECT_TRUE(small.resize(MemoryBudget::kSmallBytes));
}

TEST(MemoryBudget, TakesALargeClaimThatGrowsInSmallStepsForALargeOne) {
  MemoryBudget budget(kLimit);
  MemoryClaim claim(&budget, MemoryPart::Answers);
  std::size_t bytes = 0;
  while (claim.resize(bytes + 1000)) bytes += 1000;
  EXPECT_LE(bytes, kLimit - kLimit / 8);
}

TEST(MemoryClaim, IsGivenBackOnce) {
  MemoryBudget budget(kLimit);
  {
    MemoryClaim first(&budget, MemoryPart::Values);
    ASSERT_TRUE(first.resize(1000));
    MemoryClaim second = std::move(first);
    EXPECT_EQ(second.bytes(), 1000U);
    first = std::move(second);
    EXPECT_EQ(budget.used(), 1000U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(MemoryClaim, IsAlwaysGrantedWithoutABudget) {
  MemoryClaim claim;
  EXPECT_TRUE(claim.resize(kLimit * 1000));
}

}  // namespace
}  // namespace stator
