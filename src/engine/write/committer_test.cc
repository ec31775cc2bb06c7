#include "stator/engine/write/committer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <semaphore>

#include "stator/base/test_eventually.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/faulty_store.h"

namespace stator::engine {
namespace {

using storage::CommitSequence;
using storage::testing::FaultyStore;
using Mode = Committer::Mode;
using Committed = Result<CommitSequence>;

// A work put together from functions.
class Job final : public Work {
 public:
  using Effect = std::function<void(PendingCommit&)>;
  using Done = std::function<void(const Committed&)>;
  explicit Job(Effect effect, Done done = {}, bool alone = false)
      : effect_(std::move(effect)), done_(std::move(done)), alone_(alone) {}
  void execute(PendingCommit& commit) override { effect_(commit); }
  void finish(const Committed& committed) override {
    if (done_) done_(committed);
  }
  bool alone() const override { return alone_; }
  bool frees_space() const override { return freeing; }

  bool freeing = false;

 private:
  Effect effect_;
  Done done_;
  bool alone_;
};

Job::Effect put(std::string key, std::string value) {
  return [=](PendingCommit& commit) { commit.put(key, value); };
}

// Reads a number, adds one and writes it back: shows whether anything was lost or done twice.
Job::Effect increment(std::string key) {
  return [=](PendingCommit& commit) {
    const auto before = commit.get(key).value();
    commit.put(key, std::to_string((before ? std::stoi(*before) : 0) + 1));
  };
}

// Keeps a commit from ending until it is opened, so that works can gather behind it.
class Gate {
 public:
  void pass() {
    if (used_.exchange(true)) return;
    reached_.release();
    opened_.acquire();
  }
  void wait_until_reached() { reached_.acquire(); }
  void open() { opened_.release(); }

 private:
  std::atomic<bool> used_{false};
  std::binary_semaphore reached_{0};
  std::binary_semaphore opened_{0};
};

enum class Threads : std::uint8_t { None, One, Two };

class CommitterTest : public ::testing::TestWithParam<Threads> {
 protected:
  void open(std::function<Result<void>()> recovered = {}) {
    store.report_two_steps(GetParam() == Threads::Two);
    committer = std::make_unique<Committer>(store, clock, GetParam() == Threads::None ? Mode::Inline : Mode::OwnThread,
                                            std::move(recovered));
  }

  // Submits a work and waits for its answer.
  Committed commit(Job::Effect effect) {
    std::promise<Committed> answer;
    committer->submit(std::make_unique<Job>(std::move(effect), [&](const Committed& c) { answer.set_value(c); }));
    return answer.get_future().get();
  }

  Committed commit_freeing(Job::Effect effect) {
    std::promise<Committed> answer;
    auto job = std::make_unique<Job>(std::move(effect), [&](const Committed& c) { answer.set_value(c); });
    job->freeing = true;
    committer->submit(std::move(job));
    return answer.get_future().get();
  }

  // Lets `submit_all` submit while a commit is under way, and waits until everything is done.
  void during_a_commit(const std::function<void()>& submit_all) {
    Gate gate;
    store.before_commit([&](const storage::Batch& batch) {
      gate.pass();
      batches.push_back(batch);
    });
    std::thread first([&] { ignore_error(commit(put("first", "")), "there to be waited for"); });
    gate.wait_until_reached();
    submit_all();
    gate.open();
    first.join();
    committer.reset();
    store.before_commit({});
  }

  std::string value(std::string_view key) { return store.get(key).value().value_or("(none)"); }

  FaultyStore store{storage::open_memory_store()};
  ManualClock clock;
  std::vector<storage::Batch> batches;  // of during_a_commit
  std::unique_ptr<Committer> committer;
};

INSTANTIATE_TEST_SUITE_P(Modes, CommitterTest, ::testing::Values(Threads::None, Threads::One, Threads::Two),
                         [](const auto& threads) {
                           return threads.param == Threads::None  ? "Inline"
                                  : threads.param == Threads::One ? "OwnThread"
                                                                  : "TwoThreads";
                         });

TEST_P(CommitterTest, AnswersWithTheSequenceOfTheCommit) {
  open();
  const auto one = commit(put("a", "1"));
  const auto two = commit(put("b", "2"));
  ASSERT_TRUE(one && two);
  EXPECT_LT(*one, *two);
  EXPECT_EQ(*two, store.last_commit());
  EXPECT_EQ(value("a"), "1");
  EXPECT_EQ(committer->statistics().commits, 2U);
}

TEST_P(CommitterTest, LetsEverythingThatWaitsShareACommit) {
  open();
  std::atomic<int> answers = 0;
  during_a_commit([&] {
    for (int i = 0; i < 100; ++i) {
      committer->submit(std::make_unique<Job>(increment("n"), [&](const Committed& c) { answers += c.ok() ? 1 : 0; }));
    }
  });
  EXPECT_EQ(answers, 100);
  EXPECT_EQ(value("n"), "100");
  EXPECT_EQ(store.commits_tried(), 2U);
}

TEST_P(CommitterTest, GivesAWorkThatIsAloneACommitOfItsOwn) {
  open();
  std::string order;  // small letters execute, capital ones finish
  const auto job = [&](char name, bool alone) {
    return std::make_unique<Job>(
        [&order, name](PendingCommit& commit) {
          order.push_back(name);
          commit.put(std::string(1, name), "");
        },
        [&order, name](const Committed&) { order.push_back(static_cast<char>(name - 'a' + 'A')); }, alone);
  };
  during_a_commit([&] {
    for (const char name : {'a', 'b'}) committer->submit(job(name, false));
    for (const char name : {'c', 'd'}) committer->submit(job(name, true));
    for (const char name : {'e', 'f'}) committer->submit(job(name, false));
  });
  EXPECT_EQ(order, "abABcCdDefEF");
  EXPECT_EQ(store.commits_tried(), 5U);
}

TEST_P(CommitterTest, KeepsACommitWithinBounds) {
  open();
  during_a_commit([&] {
    for (int i = 0; i < 2500; ++i) committer->submit(std::make_unique<Job>(increment("n")));
  });
  EXPECT_EQ(value("n"), "2500");
  EXPECT_EQ(store.commits_tried(), 4U) << "one to wait behind, and 2500 by 1024";

  open();
  during_a_commit([&] {
    for (int i = 0; i < 6; ++i) committer->submit(std::make_unique<Job>(put("large", std::string(3 << 20, 'x'))));
  });
  EXPECT_EQ(batches.size() - 4, 3U)
      << "one to wait behind, and 6 by 3: a group ends with the work that brings it to 8 MB";
}

TEST_P(CommitterTest, CommitsNothingForWorksWithoutEffect) {
  open();
  ASSERT_TRUE(commit(put("a", "1")));
  const auto nothing = commit([](PendingCommit& commit) { EXPECT_TRUE(commit.get("a").value()); });
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, store.last_commit());
  EXPECT_EQ(store.commits_tried(), 1U);
}

TEST_P(CommitterTest, ShowsAWorkWhatThoseBeforeItInTheGroupDid) {
  open();
  ASSERT_TRUE(commit(put("b", "old")));
  std::vector<std::optional<Bytes>> seen;
  during_a_commit([&] {
    committer->submit(std::make_unique<Job>([](PendingCommit& commit) {
      commit.put("a", "1");
      commit.put("a", "2");
      commit.erase("b");
    }));
    committer->submit(std::make_unique<Job>([&](PendingCommit& commit) {
      for (const auto* key : {"a", "b", "c"}) seen.push_back(commit.get(key).value());
    }));
  });
  EXPECT_EQ(seen, (std::vector<std::optional<Bytes>>{"2", std::nullopt, std::nullopt}));
}

TEST_P(CommitterTest, FindsWhatItWroteAmongAsMuchAsACommitCanHold) {
  // Far more keys than there are slots, so that every read has to look among what was written.
  constexpr int kKeys = 60'000;
  open();
  int wrong = 0;
  ASSERT_TRUE(commit([&](PendingCommit& pending) {
    const auto value_at = [&](int i) { return pending.get("k" + std::to_string(i)).value(); };
    for (int i = 0; i < kKeys; ++i) {
      if (value_at(i)) ++wrong;
      pending.put("k" + std::to_string(i), std::to_string(i));
    }
    for (int i = 0; i < kKeys; i += 2) pending.erase("k" + std::to_string(i));
    for (int i = 0; i < kKeys; ++i) {
      if (value_at(i) != (i % 2 == 0 ? std::nullopt : std::optional(std::to_string(i)))) ++wrong;
    }
  }));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(value("k0"), "(none)");
  EXPECT_EQ(value("k59999"), "59999");
}

TEST_P(CommitterTest, KnowsWhatIsStillAsItWasRead) {
  open();
  ASSERT_TRUE(commit(put("a", "1")));
  const auto seen = committer->freshness().now();
  const auto fresh = [&](std::string_view key, std::uint64_t at) {
    bool answer = false;
    EXPECT_TRUE(commit([&](PendingCommit& commit) { answer = commit.is_fresh(key, at); }));
    return answer;
  };
  EXPECT_TRUE(fresh("a", seen));
  ASSERT_TRUE(commit(put("b", "1")));
  EXPECT_TRUE(fresh("a", seen));
  EXPECT_FALSE(fresh("b", seen));
  EXPECT_TRUE(fresh("b", committer->freshness().now()));
  ASSERT_TRUE(commit([&](PendingCommit& commit) {
    const auto now = committer->freshness().now();
    EXPECT_TRUE(commit.is_fresh("a", now));
    commit.erase("a");
    EXPECT_FALSE(commit.is_fresh("a", now)) << "written by this very commit";
  }));
}

TEST_P(CommitterTest, DoesNotTrustWhatAFailedCommitMayHaveWritten) {
  open();
  store.fail_commits(1);
  ASSERT_FALSE(commit(put("a", "1")));
  const auto seen = committer->freshness().now();
  clock.advance(std::chrono::seconds{2});
  bool fresh = true;
  ASSERT_TRUE(commit([&](PendingCommit& commit) { fresh = commit.is_fresh("a", seen); }));
  EXPECT_FALSE(fresh);
}

TEST_P(CommitterTest, TriesAgainAfterAConflict) {
  store.report_shared(true);
  open();
  ASSERT_TRUE(commit(increment("n")));
  store.conflict_commits(3);
  EXPECT_TRUE(commit(increment("n")));
  EXPECT_EQ(value("n"), "2");
  EXPECT_EQ(committer->statistics().conflicts, 3U);
  EXPECT_EQ(committer->statistics().works, 2U);
}

TEST_P(CommitterTest, TellsASharedStoreWhatItRead) {
  store.report_shared(true);
  open();
  ASSERT_TRUE(commit(put("a", "1")));
  const auto last = store.read_point();
  std::vector<Bytes> keys_read;
  storage::ReadPoint read_at;
  store.before_commit([&](const storage::Batch& batch) {
    keys_read = batch.keys_read();
    read_at = batch.read_at();
  });
  ASSERT_TRUE(commit([&](PendingCommit& commit) {
    EXPECT_FALSE(commit.is_fresh("a", committer->freshness().now())) << "others may have written it";
    ASSERT_TRUE(commit.get("a"));
    commit.put("b", "2");
    ASSERT_TRUE(commit.get("b"));  // its own
  }));
  EXPECT_EQ(keys_read, std::vector<Bytes>{"a"});
  EXPECT_EQ(read_at, last);
}

TEST_P(CommitterTest, GivesUpWhereConflictsDoNotEnd) {
  store.report_shared(true);
  open();
  store.conflict_commits(100'000);
  const auto answer = commit(increment("n"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::Conflict);
  EXPECT_EQ(value("n"), "(none)");
  EXPECT_LT(store.commits_tried(), 1000U);
  store.conflict_commits(0);
  EXPECT_TRUE(commit(increment("n"))) << "a conflict is no failure";
}

TEST_P(CommitterTest, RefusesWritesWhileTheStoreFails) {
  open();
  store.fail_commits(1);
  store.fail_recover(true);
  const auto failed = commit(put("a", "1"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::ReadOnly);
  EXPECT_EQ(failed.error().message,
            "The database is read-only: its disk is full or failing. Reads go on, and writes will when it recovers.");
  EXPECT_TRUE(committer->statistics().read_only);

  const auto tried = store.commits_tried();
  const auto refused = commit(put("a", "2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
  EXPECT_EQ(refused.error().message,
            "The database is read-only: its disk is full or failing. Reads go on, and writes will when it recovers.");
  EXPECT_EQ(store.commits_tried(), tried);
  EXPECT_EQ(store.recoveries_tried(), 0U) << "not before the interval is over";
  EXPECT_TRUE(commit([](PendingCommit&) {})) << "what writes nothing goes on";

  clock.advance(std::chrono::seconds{1});
  EXPECT_FALSE(commit(put("a", "3")));
  EXPECT_FALSE(commit(put("a", "4")));
  EXPECT_EQ(store.recoveries_tried(), 1U) << "once in an interval";
  EXPECT_EQ(value("a"), "(none)");

  store.fail_recover(false);
  clock.advance(std::chrono::seconds{1});
  EXPECT_TRUE(commit(put("a", "5")));
  EXPECT_EQ(value("a"), "5");
  EXPECT_FALSE(committer->statistics().read_only);
  EXPECT_EQ(committer->statistics().failures, 1U);
}

TEST_P(CommitterTest, StaysReadOnlyWhenTheStoreIsDamaged) {
  open();
  store.be_in_trouble(storage::StoreTrouble::Damaged);
  const auto failed = commit(put("a", "1"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::ReadOnly);
  EXPECT_EQ(
      failed.error().message,
      "The database is read-only: a data file is damaged. Reads of other data go on; GET /health and the server's log "
      "name the file.");
  store.be_in_trouble(storage::StoreTrouble::None);
  for (int i = 0; i < 3; ++i) {
    clock.advance(std::chrono::seconds{1});
    EXPECT_FALSE(commit(put("a", "2")));
  }
  EXPECT_EQ(store.recoveries_tried(), 0U) << "opening it again mends nothing";
}

TEST_P(CommitterTest, RefusesWritesWithTheCauseWhileTheStoreIsClosed) {
  open();
  store.fail_commits(1);
  store.fail_recover(true);
  ASSERT_FALSE(commit(put("a", "1")));
  store.fail_reads(true);
  clock.advance(std::chrono::seconds{1});
  for (int i = 0; i < 2; ++i) {
    const auto refused = commit([](PendingCommit&) { ADD_FAILURE() << "a work that reads would fail with Storage"; });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
    EXPECT_EQ(refused.error().message,
              "The database is closed: its disk is full or failing, and its files could not be opened again. Reads and "
              "writes go on when it recovers.");
  }
  store.fail_reads(false);
  store.fail_recover(false);
  clock.advance(std::chrono::seconds{1});
  EXPECT_TRUE(commit(put("a", "2")));
}

TEST_P(CommitterTest, SaysWhenItsStoreCannotBeReachedOrBelongsToAnother) {
  open();
  store.be_in_trouble(storage::StoreTrouble::Unreachable);
  EXPECT_EQ(commit(put("a", "1")).error().message,
            "The database is read-only: its store cannot be reached. Reads and writes go on when it can be reached "
            "again.");
  store.be_in_trouble(storage::StoreTrouble::TakenOver);
  clock.advance(std::chrono::seconds{1});
  EXPECT_EQ(
      commit(put("a", "1")).error().message,
      "The database is read-only: another server has taken over its store. Use that one, or restart this one when "
      "that one has stopped.");
}

TEST_P(CommitterTest, LetsDeletesThroughWhenTheDiskIsFull) {
  open();
  ASSERT_TRUE(commit(put("a", "1")));
  store.be_in_trouble(storage::StoreTrouble::DiskFull);
  const auto refused = commit(put("b", "1"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "The database is read-only: its disk is full. Reads and deletes go on, and other writes will when there is "
            "room.");
  EXPECT_TRUE(commit_freeing([](PendingCommit& pending) { pending.erase(KeyBytes("a")); }));
  EXPECT_EQ(value("a"), "(none)");
  EXPECT_FALSE(commit(put("b", "2"))) << "still";
  EXPECT_TRUE(committer->statistics().read_only);

  store.be_in_trouble(storage::StoreTrouble::None);
  clock.advance(std::chrono::seconds{1});
  EXPECT_TRUE(commit(put("b", "3")));
  EXPECT_FALSE(committer->statistics().read_only);
}

TEST_P(CommitterTest, ADeleteThatFindsTheDiskFullGoesThrough) {
  open();
  ASSERT_TRUE(commit(put("a", "1")));
  store.be_in_trouble(storage::StoreTrouble::DiskFull);
  EXPECT_TRUE(commit_freeing([](PendingCommit& pending) { pending.erase(KeyBytes("a")); }));
  EXPECT_EQ(value("a"), "(none)");
  EXPECT_TRUE(committer->statistics().read_only);
}

TEST_P(CommitterTest, DeletesThatAreRefusedDoNotEachOpenTheStoreAgain) {
  open();
  ASSERT_TRUE(commit(put("a", "1")));
  store.be_in_trouble(storage::StoreTrouble::DiskFull);
  store.fail_commits(1000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(commit_freeing([](PendingCommit& pending) { pending.erase(KeyBytes("a")); }));
  }
  EXPECT_LE(store.recoveries_tried(), 2U);
}

TEST_P(CommitterTest, IsReadOnlyFromTheStartOnAFullDisk) {
  store.be_in_trouble(storage::StoreTrouble::DiskFull);
  open();
  EXPECT_TRUE(committer->statistics().read_only);
  EXPECT_FALSE(commit(put("a", "1")));
  store.be_in_trouble(storage::StoreTrouble::None);
  clock.advance(std::chrono::seconds{1});
  EXPECT_TRUE(commit(put("a", "2")));
}

TEST_P(CommitterTest, FailsAllWorksOfACommitThatFails) {
  open();
  std::atomic<int> refused = 0;
  during_a_commit([&] {
    for (int i = 0; i < 10; ++i) {
      committer->submit(std::make_unique<Job>(increment("n"), [&](const Committed& c) { refused += c ? 0 : 1; }));
    }
    store.fail_commits(2);  // the one at the gate too
  });
  EXPECT_EQ(refused, 10);
  EXPECT_EQ(value("n"), "(none)");
}

// A disk that failed may have kept the last commit after all, which shows when the store recovers.  What is planned
// before that is planned on sand.
TEST_P(CommitterTest, ExecutesAfterRecoveringNotBefore) {
  int reloads = 0;
  open([&]() -> Result<void> {
    ++reloads;
    EXPECT_EQ(value("n"), "1");
    return {};
  });
  store.fail_commits_found_at_recovery(1);
  ASSERT_FALSE(commit(increment("n")));
  EXPECT_EQ(value("n"), "(none)");
  clock.advance(std::chrono::seconds{1});
  ASSERT_TRUE(commit(increment("n")));
  EXPECT_EQ(value("n"), "2");
  EXPECT_EQ(reloads, 1);
}

TEST_P(CommitterTest, StaysReadOnlyWhereItsOwnerCannotRecover) {
  bool can = false;
  open([&]() -> Result<void> {
    if (can) return {};
    return Error{ErrorCode::Corruption, "cannot read the catalog"};
  });
  store.fail_commits(1);
  ASSERT_FALSE(commit(put("a", "1")));
  clock.advance(std::chrono::seconds{1});
  const auto refused = commit(put("a", "2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::ReadOnly);
  can = true;
  clock.advance(std::chrono::seconds{1});
  EXPECT_TRUE(commit(put("a", "3")));
}

TEST_P(CommitterTest, FinishesWhatWasSubmittedBeforeItEnds) {
  open();
  std::atomic<int> answers = 0;
  for (int i = 0; i < 1000; ++i) {
    committer->submit(std::make_unique<Job>(increment("n"), [&](const Committed& c) { answers += c.ok() ? 1 : 0; }));
  }
  committer.reset();
  EXPECT_EQ(answers, 1000);
  EXPECT_EQ(value("n"), "1000");
}

TEST_P(CommitterTest, FinishesWhatItsAnswersSubmitBeforeItStopsAndRefusesTheRest) {
  open();
  bool followed = false;
  committer->submit(std::make_unique<Job>(put("a", "1"), [&](const Committed&) {
    committer->submit(std::make_unique<Job>(put("b", "2"), [&](const Committed& done) { followed = done.ok(); }));
  }));
  committer->stop();
  EXPECT_TRUE(followed);
  EXPECT_EQ(store.get("b").value(), "2");
  Committed refused = CommitSequence{};
  committer->submit(std::make_unique<Job>(put("c", "3"), [&](const Committed& done) { refused = done; }));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Busy);
  EXPECT_EQ(store.get("c").value(), std::nullopt);
}

TEST_P(CommitterTest, TakesWorksFromManyThreads) {
  open();
  std::atomic<int> answers = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        committer->submit(
            std::make_unique<Job>(increment("n"), [&](const Committed& c) { answers += c.ok() ? 1 : 0; }));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  committer.reset();
  EXPECT_EQ(answers, 2000);
  EXPECT_EQ(value("n"), "2000");
}

TEST_P(CommitterTest, LetsAnAnswerSubmitTheNextWork) {
  open();
  std::promise<void> end;
  std::function<void(int)> go_on = [&](int left) {
    committer->submit(std::make_unique<Job>(increment("n"), [&, left](const Committed&) {
      if (left == 0) return end.set_value();
      go_on(left - 1);
    }));
  };
  go_on(99);
  end.get_future().wait();
  EXPECT_EQ(value("n"), "100");
}

TEST_P(CommitterTest, RefusesMoreThanItCanHold) {
  open();
  constexpr std::size_t kMany = Committer::kMaxWaiting + 10;
  std::atomic<std::size_t> done = 0, busy = 0;
  during_a_commit([&] {
    for (std::size_t i = 0; i < kMany; ++i) {
      committer->submit(std::make_unique<Job>([](PendingCommit&) {},
                                              [&](const Committed& c) {
                                                if (c) ++done;
                                                if (!c && c.error().code == ErrorCode::Busy) ++busy;
                                              }));
    }
  });
  EXPECT_EQ(done, Committer::kMaxWaiting);
  EXPECT_EQ(busy, 10U);
}

TEST_P(CommitterTest, NotesTheTimeOfACommitOnceASecond) {
  open();
  const auto noted = [&] {
    return storage::testing::entries(*store.snapshot(), storage::KeyRange::prefix(commit_time_prefix())).size();
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(commit(put("a", "1")));
  EXPECT_EQ(noted(), 1U);
  clock.advance(std::chrono::milliseconds{999});
  ASSERT_TRUE(commit(put("a", "1")));
  EXPECT_EQ(noted(), 1U);
  clock.advance(std::chrono::milliseconds{1});
  store.fail_commits(1);
  ASSERT_FALSE(commit(put("a", "1")));
  EXPECT_EQ(noted(), 1U);
  // A note that was lost with its commit is made by the next: changes are forgotten by these times.
  clock.advance(std::chrono::seconds{1});
  if (GetParam() != Threads::Two) {  // a store with two steps is not shared, so it has no conflicts
    store.report_shared(true);
    store.conflict_commits(1);
  }
  ASSERT_TRUE(commit(put("a", "1")));
  EXPECT_EQ(noted(), 2U);
}

TEST_P(CommitterTest, AddsUpTheStatisticsOfACommit) {
  open();
  during_a_commit([&] {
    for (int i = 1; i <= 10; ++i) {
      committer->submit(std::make_unique<Job>([i](PendingCommit& commit) { commit.add_statistics({1}, {0}, 1, i); }));
    }
    committer->submit(std::make_unique<Job>([](PendingCommit& commit) { commit.add_statistics({1}, {1}, -1, 0); }));
  });
  ASSERT_EQ(batches.size(), 2U);
  std::vector<std::int64_t> deltas;
  for (const auto& operation : batches[1].operations()) {
    if (operation.kind == storage::Batch::Kind::Add) deltas.push_back(operation.delta);
  }
  EXPECT_EQ(deltas, (std::vector<std::int64_t>{10, 55, -1})) << "nothing is added where nothing has changed";
}

// The disk is busy with a first commit until `open_disk()`.
class TwoThreads : public ::testing::Test {
 protected:
  TwoThreads() {
    store.report_two_steps(true);
    committer = std::make_unique<Committer>(store, clock, Mode::OwnThread);
    store.before_publish([this] { gate.pass(); });
    submit(increment("n"));
    gate.wait_until_reached();
  }

  void submit(Job::Effect effect) {
    committer->submit(std::make_unique<Job>(std::move(effect),
                                            [this](const Committed& committed) { committed ? ++done : ++failed; }));
  }
  // As many as are written while the disk is busy.
  void submit_many(int count, const Job::Effect& effect) {
    for (int i = 0; i < count; ++i) submit(effect);
  }
  void open_disk() {
    gate.open();
    committer.reset();
  }

  FaultyStore store{storage::open_memory_store()};
  ManualClock clock;
  Gate gate;
  std::atomic<int> done = 0, failed = 0;
  std::unique_ptr<Committer> committer;
};

TEST_F(TwoThreads, WriteWhileTheDiskIsBusyAndShowNothingBefore) {
  std::atomic<int> executed = 0;
  submit_many(20, [&](PendingCommit& commit) {
    increment("n")(commit);
    ++executed;
  });
  // The last few may wait for the disk, being too few to be written alone.
  EXPECT_TRUE(eventually([&] { return executed > 12; })) << "on top of the commit that nobody sees yet";
  EXPECT_EQ(store.get("n").value(), std::nullopt);
  EXPECT_EQ(done, 0);
  open_disk();
  EXPECT_EQ(store.get("n").value(), "21");
  EXPECT_EQ(done, 21);
}

TEST_F(TwoThreads, LetFewWorksWaitForTheDiskTogether) {
  submit_many(3, increment("n"));
  open_disk();
  EXPECT_EQ(store.get("n").value(), "4");
  EXPECT_EQ(store.commits_tried(), 2U);
}

TEST_F(TwoThreads, DoNotAnswerByWhatIsNotOnDiskYet) {
  store.fail_commits_found_at_recovery(1);
  std::atomic<int> found = 0;
  submit_many(10, put("other", "1"));
  submit_many(10, [&](PendingCommit& commit) {
    if (commit.get("other").value()) ++found;
  });
  EXPECT_TRUE(eventually([&] { return found > 0; }));
  EXPECT_EQ(done, 0);
  open_disk();
  EXPECT_EQ(failed, 10 + found) << "also those that only read what was lost";
  EXPECT_EQ(done, 11 - found) << "the commit that the disk was busy with, and reads that came too late to see it";
}

TEST_F(TwoThreads, FailTogetherAndRecoverTogether) {
  submit_many(20, increment("n"));
  store.fail_commits_after_the_fact(1);
  submit_many(20, increment("n"));
  gate.open();
  EXPECT_TRUE(eventually([&] { return done + failed == 41; }));
  EXPECT_GE(failed, 1);
  clock.advance(std::chrono::seconds{1});
  submit(increment("n"));
  committer.reset();
  EXPECT_EQ(done + failed, 42);
  const auto value = std::stoi(*store.get("n").value());
  EXPECT_GE(value, done) << "what was answered is there";
  EXPECT_EQ(value, std::stoi(*store.inner().get("n").value()));
}

// A store on a full disk replays its log to go on in its reserve, and finds there what it could not publish.
TEST_F(TwoThreads, ExecuteNoDeleteAgainThatAFullDiskHasKept) {
  gate.open();
  EXPECT_TRUE(eventually([&] { return done == 1; }));
  Gate second;
  store.before_publish([&] { second.pass(); });
  submit(increment("n"));
  second.wait_until_reached();
  std::atomic<int> executed = 0;
  for (int i = 0; i < 10; ++i) {
    auto job = std::make_unique<Job>(
        [&](PendingCommit& commit) {
          ++executed;
          increment("deletes")(commit);
        },
        [this](const Committed& committed) { committed ? ++done : ++failed; });
    job->freeing = true;
    committer->submit(std::move(job));
  }
  // It waits until everything before it is published, and tries to recover when that fails.
  committer->submit(std::make_unique<Job>([](PendingCommit&) {}, [](const Committed&) {}, /*alone=*/true));
  EXPECT_TRUE(eventually([&] { return store.get_written("deletes").value() == "10"; }));
  store.be_in_trouble(storage::StoreTrouble::DiskFull);
  store.keep_written_in_trouble();
  second.open();
  committer.reset();
  EXPECT_EQ(executed, 10);
  EXPECT_EQ(store.get("deletes").value(), "10");
  EXPECT_EQ(done, 12) << "all of them were kept";
}

TEST_F(TwoThreads, CountWhatOthersAddedAndNobodySeesYet) {
  std::atomic<std::int64_t> counted = 0;
  submit_many(20, [&](PendingCommit& commit) {
    commit.add("count", 5);
    counted = commit.counter("count").value();
  });
  EXPECT_TRUE(eventually([&] { return counted >= 40; }));
  EXPECT_EQ(store.get("count").value(), std::nullopt);
  open_disk();
  EXPECT_EQ(counted, 100);
}

TEST_F(TwoThreads, EndWheneverTheyAreTold) {
  open_disk();
  for (int round = 0; round < 2000; ++round) {
    committer = std::make_unique<Committer>(store, clock, Mode::OwnThread);
    submit_many(round % 4, increment("n"));
    committer.reset();
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(store.get("n").value(), std::to_string(done));
}

TEST_F(TwoThreads, GiveAWorkThatIsAloneTheStoreForItself) {
  std::string order;
  submit_many(10, [&](PendingCommit& commit) {
    order += order.ends_with('w') ? "" : "w";
    commit.put("a", "1");
  });
  committer->submit(std::make_unique<Job>(
      [&](PendingCommit& commit) {
        EXPECT_EQ(store.get("a").value(), "1") << "everything before it is published";
        order += "X";
        commit.put("b", "1");
      },
      [&](const Committed&) { order += "!"; }, true));
  submit_many(10, [&](PendingCommit& commit) {
    order += order.ends_with('w') ? "" : "w";
    commit.put("a", "2");
  });
  open_disk();
  EXPECT_EQ(order, "wX!w");
  EXPECT_EQ(store.get("a").value(), "2");
}

// Inline, one thread commits what others bring; when they keep bringing, one of them has to take over.
TEST(InlineCommitter, DoesNotKeepOneThreadForever) {
  FaultyStore store(storage::open_memory_store());
  const ManualClock clock;
  Committer committer(store, clock, Mode::Inline);
  constexpr int kWorks = 1000;
  std::atomic<int> brought = 0;
  std::atomic<bool> first_is_back = false;
  std::counting_semaphore<> wanted(0);
  std::thread other([&] {
    for (; brought < kWorks; ++brought) {
      wanted.acquire();
      if (first_is_back) return;
      committer.submit(std::make_unique<Job>(increment("n")));
    }
  });
  store.before_commit([&, first = std::this_thread::get_id()](const storage::Batch&) {
    if (std::this_thread::get_id() != first) return;
    // Do not let the queue run dry while the first thread commits; the other one may be waiting to take over, though.
    const int before = brought;
    wanted.release();
    const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (brought == before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  });
  committer.submit(std::make_unique<Job>(put("first", "")));
  first_is_back = true;
  wanted.release();
  other.join();
  EXPECT_LT(brought, kWorks) << "the first thread came back when nothing was brought any more";
}

}  // namespace
}  // namespace stator::engine
