#include "stator/model/check/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

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
