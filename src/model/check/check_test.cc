#include "stator/model/check/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

// Entities whose keys take millions of steps: in a code, every byte can be the last of a part.
std::string large_entities(int count) {
  std::string entities;
  for (int i = 0; i < count; ++i) {
    entities += fmt::format(R"yaml(
  E{0}:
    keys: {{ PK: "{{code}}#{{id}}", SK: "E{0}" }}
    attributes: {{ code: {{ type: string, pattern: "([a-z]{{1,60}}[0-9]?){{1,15}}" }}, id: uuid }}
)yaml",
                            i);
  }
  return entities;
}

constexpr std::uint64_t kFewSteps = 1'000'000;

TEST(CheckLimits, EndWithWhatIsNotProved) {
  EXPECT_EQ(found("too-large-to-prove", kPlainTable, "entities:" + large_entities(60), {.steps = kFewSteps}),
            Lines{"error : the check has ended early, because it takes too many steps: which keys can be the same or "
                  "be forged, and what patterns read, is not proved"});
  constexpr std::string_view kSmall = R"yaml(
entities:
  A: { keys: { PK: "A#{x}", SK: "X" }, attributes: { x: { type: string, pattern: "[a-z]{1,60}" } } }
)yaml";
  EXPECT_EQ(found("too-large-to-prove", kPlainTable, kSmall, {.steps = kFewSteps}), Lines{});
}

TEST(CheckLimits, TellWhenOnlyPatternsAreNotProved) {
  constexpr std::string_view kModel = R"yaml(
entities:
  A: { keys: { PK: "A#{x}", SK: "{code}" }, attributes: { x: uuid, code: { type: string, max: 9 } } }
patterns:
  from_to:
    parameters:
      low: { type: string, pattern: "([a-z]{1,60}[0-9]?){1,15}" }
      high: { type: string, pattern: "([a-z]{1,60}[0-9]?){1,15}" }
    query: { PK: "A#{x}", SK: { between: ["{low}", "{high}"] } }
    returns: A
)yaml";
  EXPECT_EQ(found("too-large-to-prove", kPlainTable, kModel, {.steps = 20'000}),
            Lines{"error : the check has ended early, because it takes too many steps: what patterns read, and in "
                  "which order, is not proved"});
}

TEST(CheckLimits, EndWhenTheyAreToldTo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(
      found("too-large-to-prove", kPlainTable, "entities:" + large_entities(60), {.stop = stop.get_token()}).size(),
      1U);
}

TEST(CheckLimits, ConcludeNothingFromWhatIsNotProved) {
  const auto model = fmt::format("{}{}{}", R"yaml(
entities:
  A: { keys: { PK: "A#{x}", SK: "X" }, attributes: { x: uuid } }
  B: { keys: { PK: "A#{x}", SK: "X" }, attributes: { x: uuid } }
)yaml",
                                 large_entities(3), R"yaml(
patterns:
  these: { query: { PK: "A#{x}", SK: "X" }, returns: [A, B] }
accept:
  - { finding: key-collision, because: "ids come from one place" }
  - { finding: filtered-read, because: "nobody knows whether there is one" }
  - { finding: too-large-to-prove, because: "nobody knows what else there is" }
)yaml");
  const auto told = [&](std::string_view code) { return found(code, kPlainTable, model, {.steps = kFewSteps}); };
  EXPECT_EQ(told("key-collision").size(), 1U) << "it was found before";
  EXPECT_EQ(told("under-read"), Lines{});
  EXPECT_EQ(told("stale-acceptance"), Lines{});
  ASSERT_EQ(told("too-large-to-prove").size(), 1U);
  EXPECT_TRUE(told("too-large-to-prove").front().starts_with("error")) << "nobody can accept it";
}

TEST(Check, KeepsAThousandFindings) {
  std::string entities = "entities:\n";
  for (int i = 0; i < 60; ++i) {
    entities += fmt::format("  E{0}: {{ path: \"/e{0}/{{id}}\", keys: {{ PK: \"A#{{id}}\", SK: \"S\" }}, ", i);
    entities += "attributes: { id: string } }\n";
  }
  const auto findings = check(load_or_fail(fmt::format("model: test\n{}{}", kPlainTable, entities)));
  EXPECT_EQ(findings.size(), 1'000U) << "every two of them have the same keys";
}

TEST(CheckAcceptance, MarksWhatIsAcceptedAndTellsOfWhatIsNot) {
  const auto with = [](std::string_view code, std::string_view on) {
    return found(code, kTable,
                 fmt::format(R"yaml(
entities:
  POST:
    keys: {{ PK: "POST#{{id}}", SK: "X", GSI1PK: "POSTS", GSI1SK: "{{id}}" }}
    attributes: {{ id: {{ type: uuid, generated: uuid }} }}
patterns:
  posts: {{ query: {{ index: GSI1, GSI1PK: "POSTS" }}, returns: POST }}
accept:
  - {{ finding: hot-partition, on: {}, because: "ten posts a day" }}
)yaml",
                             on));
  };
  EXPECT_EQ(with("hot-partition", "GSI1"), Lines{"accepted warning GSI1: every POST is in one partition of GSI1, and a "
                                                 "partition takes at most 1,000 writes and "
                                                 "3,000 reads a second (GSI1PK 'POSTS')"});
  EXPECT_EQ(with("stale-acceptance", "GSI1"), Lines{});
  EXPECT_EQ(with("stale-acceptance", "GSI2"),
            Lines{"warning hot-partition: there is no finding hot-partition on GSI2 to accept"});
  EXPECT_FALSE(has_errors(check(load_or_fail(fmt::format("model: test\n{}{}", kPlainTable, R"yaml(
entities:
  A: { keys: { PK: "K#{x}", SK: "X" }, attributes: { x: uuid } }
  B: { keys: { PK: "K#{x}", SK: "X" }, attributes: { x: uuid } }
accept:
  - { finding: key-collision, because: "ids come from one place" }
)yaml")))));
}

}  // namespace
}  // namespace stator::model
