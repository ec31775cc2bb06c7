#include "stator/app/rest/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <memory>
#include <semaphore>

#include "stator/base/test_eventually.h"

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

TEST(WorkerPool, TakesNothingFromItsJobsWhileItEnds) {
  std::binary_semaphore started(0);
  std::atomic<bool> refused = false;
  auto pool = std::make_unique<WorkerPool>(4, 10);
  WorkerPool::Job job = [&, raw = pool.get()] {
    started.release();
    refused = eventually([&] {
      WorkerPool::Job another = [] {};
      return !raw->submit(another);
    });
  };
  ASSERT_TRUE(pool->submit(job));
  started.acquire();
  pool.reset();
  EXPECT_TRUE(refused);
}

long threads_of_this_process() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

TEST(WorkerPool, StartsAThreadWhenNoOtherIsIdle) {
  long before = 0;
  ASSERT_TRUE(eventually([&] {  // threads of other tests may still be ending
    before = threads_of_this_process();
    const WorkerPool pool(8, 10);
    return threads_of_this_process() == before;
  }));
  std::binary_semaphore started(0);
  std::binary_semaphore go_on(0);
  WorkerPool pool(8, 10);
  WorkerPool::Job first = [&] {
    started.release();
    go_on.acquire();
  };
  ASSERT_TRUE(pool.submit(first));
  started.acquire();
  EXPECT_EQ(threads_of_this_process(), before + 1);
  std::binary_semaphore done(0);
  WorkerPool::Job second = [&] { done.release(); };
  ASSERT_TRUE(pool.submit(second));
  done.acquire();
  EXPECT_EQ(threads_of_this_process(), before + 2);
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
