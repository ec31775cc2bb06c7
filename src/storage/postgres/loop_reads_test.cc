#include "stator/storage/postgres/loop_reads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <vector>

#include "stator/base/test_event_loop.h"
#include "stator/base/test_eventually.h"
#include "stator/storage/postgres/test_place.h"
#include "stator/storage/postgres/test_proxy.h"
#include "stator/storage/testing/test_placement.h"

// On the release build alone: PostgreSQL does the work, and none of it is ours to watch.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace stator::storage::postgres {
namespace {

using storage::testing::PostgresServer;
using testing::PostgresPlace;
using testing::Proxy;
using testing::put_at;

using Answer = std::optional<Result<ReadAhead>>;

ReadWish wish_for(std::vector<Bytes> keys) { return {.keys = std::move(keys), .entries = std::nullopt}; }
ReadWish range_wish(KeyRange range, Direction direction = Direction::Forward, std::uint64_t most = UINT64_MAX) {
  return {.keys = {}, .entries = ReadWish::Entries{.range = std::move(range), .direction = direction, .most = most}};
}

std::uint64_t reads_asked(const Store& store) {
  for (const auto& each : store.statistics().statements) {
    if (each.kind == "read") return each.round_trips;
  }
  return 0;
}

// The time of the system, or a later one.
class ShiftedClock final : public SystemClock {
 public:
  SteadyTime steady_now() const override { return SystemClock::steady_now() + std::chrono::seconds(ahead_); }
  void advance(std::chrono::seconds by) { ahead_ += by.count(); }

 private:
  std::atomic<std::int64_t> ahead_{0};
};

// A store behind a proxy, and a reader of it on a loop.
class LoopReadsTest : public ::testing::Test {
 public:
  void SetUp() override { open({.url = {}}); }

  void open(PostgresOptions options) {
    TearDown();
    options.url = PostgresServer::url_at(proxy_.folder());
    options.sharing = PostgresSharing::Shared;
    options.clock = clock_;
    place_.emplace(options);
    store_ = place_->open();
    reader_ = store_->reader_on(loop_);
  }
  void TearDown() override {
    reader_.reset();
    store_.reset();
  }

  Answer asked(ReadWish wish) {
    Answer answer;
    reader_->read(std::move(wish), [&](Result<ReadAhead> read) { answer = std::move(read); });
    EXPECT_TRUE(loop_.turn_until([&] { return answer.has_value(); }));
    return answer;
  }
  // When there is a connection.
  Result<ReadAhead> read(const ReadWish& wish) {
    Answer answer;
    EXPECT_TRUE(eventually([&] {
      answer = asked(wish);
      return *answer || (*answer).error().message != "there is no connection";
    }));
    return std::move(*answer);
  }
  std::string got(const Bytes& key) {
    const auto found = read(wish_for({key}));
    if (!found) return "error: " + found.error().message;
    return found->get(key).value().value_or("(missing)");
  }
  std::string walked(const ReadWish& wish) {
    const auto found = read(wish);
    if (!found) return "error: " + found.error().message;
    const auto snapshot = found->snapshot();
    const auto cursor = snapshot->cursor(wish.entries->range, wish.entries->direction);
    std::string text;
    for (; cursor->valid(); cursor->next()) text += fmt::format("{}={} ", cursor->key(), cursor->value());
    return text + (cursor->status() ? "end" : "more");
  }

  Proxy proxy_{PostgresServer::shared().socket_path()};
  std::shared_ptr<ShiftedClock> clock_ = std::make_shared<ShiftedClock>();
  std::optional<PostgresPlace> place_;
  std::unique_ptr<Store> store_;
  TestEventLoop loop_;
  std::unique_ptr<LoopReader> reader_;
};

TEST_F(LoopReadsTest, FindTheValuesAtKeys) {
  const Bytes long_key = "k" + Bytes(5000, 'x');
  ASSERT_TRUE(put_at(*store_, "k1", "one"));
  ASSERT_TRUE(put_at(*store_, long_key, "long"));
  EXPECT_EQ(got("k1"), "one");
  EXPECT_EQ(got("k2"), "(missing)");
  EXPECT_EQ(got(long_key), "long");
  const auto found = read(wish_for({"k2", long_key, "k1"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->get("k2").value(), std::nullopt);
  EXPECT_EQ(found->get(long_key).value(), "long");
  EXPECT_EQ(found->get("k1").value(), "one");
  EXPECT_EQ(found->epoch(), store_->epoch());
  EXPECT_FALSE(found->get("k3")) << "it was not asked for";
}

TEST_F(LoopReadsTest, ShareAStatement) {
  ASSERT_TRUE(put_at(*store_, "k1", "one"));
  EXPECT_EQ(got("k1"), "one");
  const auto before = reads_asked(*store_);
  int answers = 0;
  for (int i = 0; i < 40; ++i) {
    const auto key = fmt::format("k{}", i);
    reader_->read(wish_for({key}), [&, key](Result<ReadAhead> read) {
      EXPECT_EQ(read.value().get(key).value().has_value(), key == "k1");
      ++answers;
    });
  }
  ASSERT_TRUE(loop_.turn_until([&] { return answers == 40; }));
  EXPECT_LE(reads_asked(*store_) - before, 2U) << "one for the first, and one for all that came meanwhile";
}

TEST_F(LoopReadsTest, ReadRanges) {
  Batch batch;
  for (const char* key : {"a", "b", "c", "d"}) batch.put(key, Bytes("of ") + key);
  ASSERT_TRUE(store_->commit(std::move(batch)));
  EXPECT_EQ(walked(range_wish({"b", "d"})), "b=of b c=of c end");
  EXPECT_EQ(walked(range_wish({"b", ""}, Direction::Backward)), "d=of d c=of c b=of b end");
  EXPECT_EQ(walked(range_wish({"b", ""}, Direction::Forward, 2)), "b=of b c=of c end");
  EXPECT_EQ(walked(range_wish({"x", "y"})), "end");
  const auto found = read(range_wish({"b", "d"}));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->snapshot()->cursor({"a", "d"}, Direction::Forward)->status()) << "it was not asked for";
  EXPECT_FALSE(found->snapshot()->cursor({"b", "d"}, Direction::Backward)->status());
}

TEST_F(LoopReadsTest, LeaveWhatIsLargeToOthers) {
  ASSERT_TRUE(put_at(*store_, "large", Bytes(100'000, 'x')));
  ASSERT_TRUE(put_at(*store_, "small", "s"));
  const auto large = read(wish_for({"small", "large"}));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::Busy);
  EXPECT_EQ(got("small"), "s");
  Batch batch;
  for (int i = 0; i < 2000; ++i) batch.put(fmt::format("m{:04}", i), "v");
  ASSERT_TRUE(store_->commit(std::move(batch)));
  EXPECT_TRUE(walked(range_wish(KeyRange::prefix("m"))).ends_with("m1023=v more"));
}

TEST_F(LoopReadsTest, KeepToTheirLanes) {
  open({.url = {}, .lanes = 4, .placement = std::make_shared<storage::testing::TestPlacement>()});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(put_at(*store_, fmt::format("k{}", i), std::to_string(i)));
  const auto found = read(wish_for({"k1", "k2", "k3", "k19", "k20"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->get("k3").value(), "3");
  EXPECT_EQ(found->get("k19").value(), "19");
  EXPECT_EQ(found->get("k20").value(), std::nullopt);
  EXPECT_EQ(read(wish_for({"counter"})).error().code, ErrorCode::Busy) << "each lane has a part of it";
  EXPECT_EQ(read(range_wish(KeyRange::prefix("k"))).error().code, ErrorCode::Busy);
}

TEST_F(LoopReadsTest, NoticeAnotherEpoch) {
  ASSERT_TRUE(put_at(*store_, "k", "old"));
  EXPECT_EQ(got("k"), "old");
  const auto other = place_->open();
  Batch batch;
  batch.put("k", "new");
  batch.made_in_epoch(other->epoch());
  batch.begins_epoch();
  const auto epoch = other->commit(std::move(batch));
  ASSERT_TRUE(epoch) << epoch.error().message;
  EXPECT_EQ(read(wish_for({"k"})).error().code, ErrorCode::Outdated);
  EXPECT_EQ(read(wish_for({"k", "l"})).error().code, ErrorCode::Outdated);
  EXPECT_EQ(read(range_wish({"a", "z"})).error().code, ErrorCode::Outdated);
  store_->enter_epoch(*epoch);
  EXPECT_EQ(got("k"), "new");
}

TEST_F(LoopReadsTest, FailWhenTheirConnectionBreaksAndComeBack) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  proxy_.hold(true);
  std::vector<Answer> answers(3);
  for (auto& answer : answers) {
    reader_->read(wish_for({"k"}), [&](Result<ReadAhead> read) { answer = std::move(read); });
    loop_.turn();
  }
  EXPECT_FALSE(answers[0]) << "the server has not got the question";
  proxy_.break_connections();
  proxy_.hold(false);
  ASSERT_TRUE(loop_.turn_until([&] { return answers[0] && answers[1] && answers[2]; }));
  for (const auto& answer : answers) EXPECT_FALSE(*answer);
  EXPECT_TRUE(eventually([&] { return got("k") == "1"; }));
}

TEST_F(LoopReadsTest, AreAnsweredWhenAPausedServerGoesOn) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  proxy_.hold(true);
  Answer answer;
  reader_->read(wish_for({"k"}), [&](Result<ReadAhead> read) { answer = std::move(read); });
  for (int i = 0; i < 20; ++i) loop_.turn();
  EXPECT_FALSE(answer);
  proxy_.hold(false);
  ASSERT_TRUE(loop_.turn_until([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->value().get("k").value(), "1");
}

TEST_F(LoopReadsTest, GiveUpAServerThatDoesNotAnswer) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  proxy_.hold(true);
  Answer answer;
  reader_->read(wish_for({"k"}), [&](Result<ReadAhead> read) { answer = std::move(read); });
  loop_.turn();
  clock_->advance(std::chrono::seconds(9));
  reader_->on_tick();
  EXPECT_FALSE(answer);
  clock_->advance(std::chrono::seconds(2));
  reader_->on_tick();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, ErrorCode::Storage);
  proxy_.hold(false);
  clock_->advance(std::chrono::seconds(2));  // until the next connection
  EXPECT_TRUE(eventually([&] { return got("k") == "1"; }));
}

TEST_F(LoopReadsTest, LeaveSlowStatementsToOthers) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  const auto other = Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url()}).value();
  other->add_once("BEGIN");
  other->add_once(fmt::format("LOCK TABLE {}.entries", place_->options().schema));
  ASSERT_TRUE(other->run());
  const auto slow = asked(wish_for({"k"}));
  ASSERT_TRUE(slow);
  EXPECT_FALSE(*slow);
  other->add_once("ROLLBACK");
  ASSERT_TRUE(other->run());
  EXPECT_EQ(got("k"), "1");
}

TEST_F(LoopReadsTest, TakeNoAnswerFromAServerThatIsBehind) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  ASSERT_TRUE(put_at(*store_, "k", "2"));
  EXPECT_EQ(got("k"), "2");
  testing::run_sql(fmt::format("UPDATE {}.lanes SET sequence = 1", place_->options().schema));
  for (const auto& wish : {wish_for({"k"}), wish_for({"k", "l"}), range_wish({"a", "z"})}) {
    const auto answer = asked(wish);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(*answer);
  }
}

TEST_F(LoopReadsTest, WaitUntilItIsKnownWhetherACommitHappened) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  proxy_.refuse_after_cut(true);
  proxy_.cut(Proxy::Cut::AfterCommit);
  EXPECT_FALSE(put_at(*store_, "k", "2"));
  const auto refused = asked(wish_for({"k"}));
  ASSERT_FALSE(*refused) << "nobody may see what may not have happened";
  EXPECT_EQ(refused->error().code, ErrorCode::Storage);
  proxy_.refuse_after_cut(false);
  ASSERT_TRUE(store_->recover());
  EXPECT_TRUE(eventually([&] { return got("k") == "2"; }));
}

TEST_F(LoopReadsTest, ThatWereAskedBeforeACommitInDoubtAreNotAnswered) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  Answer answer;
  reader_->read(wish_for({"k", "l"}), [&](Result<ReadAhead> read) { answer = std::move(read); });  // asks at once
  proxy_.refuse_after_cut(true);
  proxy_.cut(Proxy::Cut::AfterCommit);
  EXPECT_FALSE(put_at(*store_, "k", "2"));
  EXPECT_FALSE(answer);
  ASSERT_TRUE(loop_.turn_until([&] { return answer.has_value(); }));
  EXPECT_FALSE(*answer) << "nobody may see what may not have happened";
  proxy_.refuse_after_cut(false);
  ASSERT_TRUE(store_->recover());
}

TEST_F(LoopReadsTest, AreAnsweredAlsoWhenAnotherReaderThrows) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  int answers = 0;
  for (int i = 0; i < 4; ++i) {
    reader_->read(wish_for({"k"}), [&answers, throws = i % 2 == 1](const Result<ReadAhead>& read) {
      ++answers;
      EXPECT_TRUE(read);
      if (throws) throw std::runtime_error("no memory");
    });
  }
  EXPECT_TRUE(loop_.turn_until([&] { return answers == 4; }));
  EXPECT_EQ(got("k"), "1");
}

TEST_F(LoopReadsTest, EndWithTheirLoop) {
  ASSERT_TRUE(put_at(*store_, "k", "1"));
  EXPECT_EQ(got("k"), "1");
  bool answered = false;
  reader_->read(wish_for({"k"}), [&](const Result<ReadAhead>&) { answered = true; });
  reader_.reset();
  for (int i = 0; i < 5; ++i) loop_.turn();
  EXPECT_FALSE(answered);
  EXPECT_EQ(store_->server()->connections_used, 1U) << "that of the commits is left";
}

}  // namespace
}  // namespace stator::storage::postgres

#endif
