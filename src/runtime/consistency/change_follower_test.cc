#include "stator/runtime/consistency/change_follower.h"

#include <gtest/gtest.h>

#include "stator/runtime/dynamo/fake_stream.h"

namespace stator::runtime {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view kNotes = R"yaml(
model: notes
table: { name: Notes, key: [PK, SK] }
entities:
  NOTE:
    access: { read: public, write: public }
    keys: { PK: "note#{name}", SK: "note" }
    attributes: { name: { type: string, required: true } }
)yaml";

class Following : public ::testing::Test {
 protected:
  Following() { EXPECT_EQ(told(follower.begin(WallTime())), "ok"); }

  // Writes a note, whose record becomes one of this shard.
  void write(std::string_view name, FakeStream::Shard& shard) {
    world.made("NOTE", {{"name", text(name)}}, nobody());
    stream.take(shard, "Notes");
  }
  // The names that are told now.
  Strings told_now(ChangeFollower::Time until = ChangeFollower::Time::max()) {
    Strings names;
    const auto note = [&](const std::vector<Change>& changes) -> Result<void, Problem> {
      for (const auto& change : changes) names.push_back(*change.after->find("name")->as_string());
      return {};
    };
    EXPECT_EQ(told(follower.drain(note, until)), "ok");
    return names;
  }

  World world{kNotes};
  FakeStream stream{world.client()};
  FakeStream::Shard& a = stream.add("a");
  const SystemClock clock;
  ChangeFollower follower{stream, clock, "arn",
                          std::chrono::hours(1)};  // new shards are looked for only where one ends
};

TEST_F(Following, ReadsAChildWhenItsParentHasEnded) {
  write("one", a);
  EXPECT_EQ(told_now(), Strings{"one"});
  write("two", a);
  a.closed = true;
  auto& b = stream.add("b", "a");
  write("three", b);
  b.closed = true;
  write("four", stream.add("c", "b"));
  EXPECT_EQ(told_now(), (Strings{"two", "three", "four"}));
  EXPECT_EQ(told_now(), Strings());
}

TEST_F(Following, StopsWhenItsTimeIsOverAndGoesOnThere) {
  for (const auto* name : {"one", "two", "three"}) write(name, a);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(told_now(now), (Strings{"one", "two"})) << "a page";
  EXPECT_EQ(told_now(now), Strings{"three"});
}

TEST_F(Following, ReadsOnePageBehindWhatItWasAskedForAndGoesOnThere) {
  for (const auto* name : {"one", "two", "three"}) write(name, a);
  Strings names;
  const auto note = [&](const std::vector<Change>& changes) -> Result<void, Problem> {
    for (const auto& change : changes) names.push_back(*change.after->find("name")->as_string());
    return {};
  };
  EXPECT_EQ(told(follower.drain(note, ChangeFollower::Time::max(), WallTime())), "ok");
  EXPECT_EQ(names, (Strings{"one", "two"})) << "a page, which is later than that time";
  EXPECT_EQ(told_now(), Strings{"three"});
}

TEST_F(Following, GoesOnBehindTheLastRecordWhenAnIteratorExpires) {
  write("one", a);
  EXPECT_EQ(told_now(), Strings{"one"});
  stream.expire_iterators();
  write("two", a);
  EXPECT_EQ(told_now(), Strings{"two"});
}

TEST_F(Following, SaysWhenTheStreamHasForgottenSomething) {
  write("one", a);
  EXPECT_EQ(told_now(), Strings{"one"});
  for (const auto* name : {"two", "three"}) write(name, a);
  a.trimmed = 2;
  EXPECT_EQ(follower.drain([](const auto&) -> Result<void, Problem> { return {}; }).error().code,
            StreamReader::kTrimmed);
}

}  // namespace
}  // namespace stator::runtime
