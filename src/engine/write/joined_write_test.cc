#include "stator/engine/write/joined_write.h"

#include <gtest/gtest.h>

namespace stator::engine {
namespace {

WriteOutcome written(std::size_t actions) {
  WriteOutcome outcome{.written = true, .repeated = false, .actions = {}};
  outcome.actions.resize(actions);
  return outcome;
}

Error not_found() { return {ErrorCode::ResourceNotFound, "Requested resource not found"}; }

class JoinedWriteTest : public ::testing::Test {
 protected:
  std::optional<Result<WriteOutcome>> answer;
  JoinedWrite joined{3, 2, [this](Result<WriteOutcome> whole) { answer.emplace(std::move(whole)); }};
};

TEST_F(JoinedWriteTest, AnswersWhenAllPartsAreThere) {
  joined.finish({0, 2}, written(2));
  EXPECT_FALSE(answer);
  joined.finish({1}, written(1));
  ASSERT_TRUE(answer && answer->ok());
  EXPECT_EQ((*answer)->actions.size(), 3U);
}

TEST_F(JoinedWriteTest, HasTheErrorOfAWriteWithoutEffect) {
  joined.finish({0, 2}, not_found());
  joined.finish({1}, not_found());
  ASSERT_TRUE(answer && !answer->ok());
  EXPECT_EQ(answer->error().code, ErrorCode::ResourceNotFound);
}

// ResourceNotFound of an old catalog is repeated, because it had no effect.
TEST_F(JoinedWriteTest, IsBusyIfAPartWasWritten) {
  joined.finish({0, 2}, written(2));
  joined.finish({1}, not_found());
  ASSERT_TRUE(answer && !answer->ok());
  EXPECT_EQ(answer->error().code, ErrorCode::Busy);
}

}  // namespace
}  // namespace stator::engine
