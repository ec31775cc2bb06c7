#include "stator/storage/testing/faulty_store.h"

#include <gtest/gtest.h>

#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"

namespace stator::storage::testing {
namespace {

const bool registered = register_contract_tests(
    "FaultyStoreContract", place_for([] { return std::make_unique<FaultyStore>(open_memory_store()); }));

Batch one_put() {
  Batch batch;
  batch.put("k", "v");
  return batch;
}

ErrorCode code_of(const Result<CommitSequence>& result) { return result ? ErrorCode::Internal : result.error().code; }

TEST(FaultyStore, FailsCommitsWithoutATrace) {
  FaultyStore store(open_memory_store());
  store.fail_commits(2);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  EXPECT_EQ(store.last_commit().value, 0U);
  EXPECT_EQ(store.get("k")->has_value(), false);
  EXPECT_TRUE(store.commit(one_put()));
  EXPECT_EQ(store.commits_tried(), 3U);
}

TEST(FaultyStore, FailsCommitsThatTookEffect) {
  FaultyStore store(open_memory_store());
  store.fail_commits_after_the_fact(1);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  EXPECT_EQ(store.last_commit().value, 1U);
  EXPECT_EQ(store.get("k")->value(), "v");
}

TEST(FaultyStore, FindsAtRecoveryThatACommitTookEffect) {
  FaultyStore store(open_memory_store());
  store.fail_commits_found_at_recovery(1);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  EXPECT_EQ(store.get("k")->has_value(), false);
  EXPECT_TRUE(store.recover());
  EXPECT_EQ(store.get("k")->value(), "v");
}

TEST(FaultyStore, AnswersConflict) {
  FaultyStore store(open_memory_store());
  store.report_shared(true);
  EXPECT_TRUE(store.capabilities().shared);
  store.conflict_commits(1);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Conflict);
  EXPECT_TRUE(store.commit(one_put()));
}

TEST(FaultyStore, StaysBrokenUntilItMayRecover) {
  FaultyStore store(open_memory_store());
  store.fail_commits(1);
  store.fail_recover(true);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  EXPECT_FALSE(store.recover());
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  store.fail_recover(false);
  EXPECT_TRUE(store.recover());
  EXPECT_TRUE(store.commit(one_put()));
  EXPECT_EQ(store.recoveries_tried(), 2U);
}

TEST(FaultyStore, TakesOnlyWhatFreesSpaceWhileItsDiskIsFull) {
  FaultyStore store(open_memory_store());
  store.be_in_trouble(StoreTrouble::DiskFull);
  EXPECT_EQ(store.health().trouble, StoreTrouble::DiskFull);
  EXPECT_EQ(code_of(store.commit(one_put())), ErrorCode::Storage);
  EXPECT_FALSE(store.recover());
  Batch batch;
  batch.erase("k");
  batch.frees_space();
  EXPECT_TRUE(store.commit(std::move(batch)));
  store.be_in_trouble(StoreTrouble::None);
  EXPECT_TRUE(store.recover());
  EXPECT_TRUE(store.commit(one_put()));
}

TEST(FaultyStore, FailsReads) {
  FaultyStore store(open_memory_store());
  EXPECT_TRUE(store.commit(one_put()));
  const auto snapshot = store.snapshot();
  store.fail_reads(true);
  EXPECT_FALSE(store.get("k"));
  EXPECT_FALSE(snapshot->get("k"));
  const auto cursor = snapshot->cursor({}, Direction::Forward);
  EXPECT_FALSE(cursor->valid());
  EXPECT_FALSE(cursor->status());
  store.fail_reads(false);
  EXPECT_EQ(snapshot->get("k")->value(), "v");
}

}  // namespace
}  // namespace stator::storage::testing
