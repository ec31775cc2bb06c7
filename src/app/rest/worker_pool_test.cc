#include "stator/app/rest/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace stator::app {
namespace {

TEST(WorkerPool, DoesEverythingItTookBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool(4, 1000);
    for (int i = 0; i < 500; ++i) {
      WorkerPool::Job job = [&] { ++done; };
      EXPECT_TRUE(pool.submit(job));
    }
  }
  EXPECT_EQ(done, 500);
}

TEST(WorkerPool, GivesBackWhatItCannotTake) {
  std::binary_semaphore started(0);
  std::binary_semaphore go_on(0);
  WorkerPool pool(1, 1);
  WorkerPool::Job first = [&] {
    started.release();
    go_on.acquire();
  };
  ASSERT_TRUE(pool.submit(first));
  started.acquire();
  WorkerPool::Job waits = [] {};
  EXPECT_TRUE(pool.submit(waits));
  WorkerPool::Job refused = [] {};
  EXPECT_FALSE(pool.submit(refused));
  EXPECT_TRUE(static_cast<bool>(refused));
  go_on.release();
}

TEST(WorkerPool, SurvivesAJobThatThrows) {
  Semaphore done;
  WorkerPool pool(1, 10);
  WorkerPool::Job bad = [] { throw std::runtime_error("a bug"); };
  WorkerPool::Job good = [&] { done.release(); };
  ASSERT_TRUE(pool.submit(bad));
  ASSERT_TRUE(pool.submit(good));
  done.acquire();
}

}  // namespace
}  // namespace stator::app
