#include "stator/console/saved_queries.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace stator::console {
namespace {

constexpr std::string_view kQuery =
    R"({"id":"q1","kind":"query","name":"Ann","table":"Books","body":{"limit":5},"at":"t"})";

struct SavedQueriesTest : ::testing::Test {
  ManualClock clock;
  std::string file;
  SavedQueries queries{clock, [this](std::string_view text) {
                         file = text;
                         return Result<void>();
                       }};
};

TEST_F(SavedQueriesTest, AreKeptInTheFile) {
  ASSERT_TRUE(queries.save("q1", kQuery));
  ASSERT_TRUE(queries.append_history(R"({"id":"h1","kind":"partiql","name":"","body":"SELECT"})"));
  ASSERT_TRUE(queries.append_history(R"({"id":"h2","kind":"query","name":"x","body":null,"at":"u"})"));
  EXPECT_EQ(queries.saved().value(), fmt::format(R"({{"items":[{}]}})", kQuery));
  EXPECT_EQ(queries.history().value(),
            R"({"items":[{"id":"h2","kind":"query","name":"x","body":null,"at":"u"},)"
            R"({"id":"h1","kind":"partiql","name":"","body":"SELECT","at":"2023-11-14T22:13:20.000Z"}]})");
  SavedQueries again(clock);
  ASSERT_TRUE(again.load(file));
  EXPECT_EQ(again.saved().value(), queries.saved().value());
  EXPECT_EQ(again.history().value(), queries.history().value());
}

TEST_F(SavedQueriesTest, AreReplacedAndRemoved) {
  ASSERT_TRUE(queries.save("q1", kQuery));
  ASSERT_TRUE(queries.save("q1", R"({"kind":"query","name":"Bob","body":1,"at":"t"})"));
  EXPECT_EQ(queries.saved().value(), R"({"items":[{"id":"q1","kind":"query","name":"Bob","body":1,"at":"t"}]})");
  EXPECT_TRUE(queries.remove("q1"));
  EXPECT_EQ(queries.remove("q1").error().code, ErrorCode::ResourceNotFound);
  EXPECT_EQ(queries.saved().value(), R"({"items":[]})");
  ASSERT_TRUE(queries.append_history(kQuery));
  ASSERT_TRUE(queries.clear_history());
  EXPECT_EQ(queries.history().value(), R"({"items":[]})");
}

TEST_F(SavedQueriesTest, RefuseWhatIsNone) {
  for (const auto* body : {"", "[]", "{", "7", R"({"name":"x"})", R"({"kind":7})", R"({"kind":""})"}) {
    EXPECT_EQ(queries.save("q1", body).error().code, ErrorCode::Validation) << body;
  }
  for (const auto* id : {"a/b", "a b", "../x", "é"}) {
    EXPECT_EQ(queries.save(id, kQuery).error().code, ErrorCode::Validation) << id;
  }
  EXPECT_EQ(queries.save(std::string(65, 'a'), kQuery).error().code, ErrorCode::Validation);
  const auto large = fmt::format(R"({{"kind":"query","body":"{}"}})", std::string(SavedQueries::kMostEntryBytes, 'x'));
  EXPECT_EQ(queries.save("q1", large).error().code, ErrorCode::LimitExceeded);
  EXPECT_EQ(queries.saved().value(), R"({"items":[]})");
  EXPECT_FALSE(queries.load("damaged"));
}

TEST_F(SavedQueriesTest, AreBounded) {
  SavedQueries many(clock);
  std::size_t kept = 0;
  for (int i = 0; i < 10'000; ++i) kept += many.save(fmt::format("q{}", i), R"({"kind":"query"})") ? 1U : 0U;
  EXPECT_EQ(kept, SavedQueries::kMostSaved);
  EXPECT_EQ(many.save("one-more", R"({"kind":"query"})").error().code, ErrorCode::LimitExceeded);
  EXPECT_TRUE(many.save("q7", R"({"kind":"query","name":"changed"})")) << "what is there can be changed";
  const auto large = fmt::format(R"({{"id":"h","kind":"query","body":"{}"}})", std::string(15'000, 'x'));
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(many.append_history(large));
  EXPECT_LE(many.history().value().size(), SavedQueries::kMostHistoryBytes + 1'000);
}

TEST_F(SavedQueriesTest, SayWhenTheFileCannotBeWritten) {
  SavedQueries failing(clock, [](std::string_view) { return Result<void>(Error{ErrorCode::Storage, "disk full"}); });
  EXPECT_EQ(failing.save("q1", kQuery).error().code, ErrorCode::Storage);
  EXPECT_EQ(failing.append_history(kQuery).error().code, ErrorCode::Storage);
  EXPECT_EQ(failing.saved().value(), R"({"items":[]})") << "what was refused is not there";
  EXPECT_EQ(failing.history().value(), R"({"items":[]})");
}

TEST_F(SavedQueriesTest, AreTheSameAtAllServersOfADatabase) {
  std::optional<std::string> text;
  const SharedText shared{.read = [&] { return Result<std::optional<std::string>>(text); },
                          .change = [&](const SharedText::Change& change) -> Result<void> {
                            text = TRY(change(text));
                            return {};
                          }};
  SavedQueries one(clock, shared), other(clock, shared);
  EXPECT_EQ(one.saved().value(), R"({"items":[]})");
  ASSERT_TRUE(one.save("q1", kQuery));
  ASSERT_TRUE(other.save("q2", R"({"kind":"query","name":"Bob","body":1,"at":"t"})"));
  EXPECT_EQ(one.saved().value(), other.saved().value());
  EXPECT_NE(one.saved().value().find("Bob"), std::string::npos);
  ASSERT_TRUE(other.append_history(kQuery));
  EXPECT_NE(one.history().value(), R"({"items":[]})");
  EXPECT_TRUE(one.remove("q2"));
  EXPECT_EQ(other.remove("q2").error().code, ErrorCode::ResourceNotFound);
  ASSERT_TRUE(one.clear_history());
  EXPECT_EQ(other.history().value(), R"({"items":[]})");
  text = "damaged";
  EXPECT_FALSE(one.saved());
  EXPECT_FALSE(one.save("q1", kQuery));
  EXPECT_EQ(text, "damaged") << "somebody may want to have a look at it";
}

TEST_F(SavedQueriesTest, CanBeReadBackWhateverIsAccepted) {
  for (std::size_t size = SavedQueries::kMostEntryBytes - 200; size <= SavedQueries::kMostEntryBytes; ++size) {
    std::string json = R"({"kind":"query","name":"n","body":")";
    json.append(size - json.size() - 2, 'a').append("\"}");
    (void)queries.save("edge", json);
    SavedQueries again(clock);
    ASSERT_TRUE(file.empty() || again.load(file).ok()) << size;
  }
}

}  // namespace
}  // namespace stator::console
