#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

// Issues of a repository.
Lines found_in_issues(std::string_view code, std::string_view repo, std::string_view relation, std::string_view issue) {
  return found(code, kPlainTable,
               fmt::format(R"yaml(
entities:
  REPO:
    path: /repos/{{repo}}
    access: {{ read: public, write: signed-in }}
    keys: {{ PK: "repo#{{repo}}", SK: "repo" }}
    attributes: {{ repo: {}, last: {{ last: true }} }}
  ISSUE:
    access: {{ read: public, write: signed-in }}
    parents: {{ repo: {{ entity: REPO, {} }} }}
    {}
)yaml",
                           repo, relation, issue));
}

constexpr std::string_view kNumbered = R"yaml(
    path: /repos/{repo}/issues/{number}
    keys: { PK: "repo#{repo}", SK: "issue#{number:08}" }
    attributes: { repo: string, number: { next: { by: repo.last }, max: 99999999 } }
)yaml";

TEST(CheckNumbers, WarnsOfNumbersThatNameAnotherRowLater) {
  const auto with = [](std::string_view words) {
    return found("reused-number", kPlainTable,
                 fmt::format(R"yaml(
entities:
  TICKET:
    path: /tickets/{{number}}
    access: {{ read: public, write: signed-in }}
    {}
    keys: {{ PK: "tickets", SK: "ticket#{{number:06}}" }}
    attributes: {{ number: {{ next: {{ in: tickets }}, min: 1, max: 999999 }} }}
patterns:
  tickets: {{ query: {{ PK: "tickets" }}, returns: TICKET }}
)yaml",
                             words));
  };
  EXPECT_EQ(with("versioned: true"),
            Lines{"warning TICKET.number: number names a TICKET, and after the last TICKET is deleted its number is "
                  "given again: links and tags of the old one lead to the new one"});
  EXPECT_EQ(with("append_only: true"), Lines{});
  EXPECT_EQ(with("operations: [create, get]"), Lines{});
  EXPECT_EQ(found_in_issues("reused-number", "{ type: string, max: 40 }", "on_delete: cascade", kNumbered), Lines{});
}

TEST(CheckNumbers, WarnsOfParentsThatBeginAgainWhileTheirChildrenStay) {
  const auto with = [](std::string_view repo, std::string_view relation) {
    return found_in_issues("numbers-begin-again", repo, relation, kNumbered);
  };
  EXPECT_EQ(with("{ type: string, max: 40 }", "on_delete: nothing"),
            Lines{"warning ISSUE.number: a deleted REPO leaves its ISSUE behind, and a new REPO of the same name gives "
                  "their numbers again"});
  EXPECT_EQ(with("{ type: string, max: 40 }", "on_delete: cascade"), Lines{});
  EXPECT_EQ(with("{ type: string, generated: uuid }", "on_delete: nothing"), Lines{});
}

TEST(CheckNumbers, WantsTheParentInAKeyThatHasItsNumber) {
  EXPECT_EQ(
      found_in_issues("key-not-unique", "{ type: string, max: 40 }", "on_delete: nothing", R"yaml(
    path: /issues/{number}
    keys: { PK: "issue#{number:08}", SK: "issue" }
    attributes: { repo: string, number: { next: { by: repo.last }, max: 99999999 } }
)yaml"),
      Lines{"error ISSUE: the key of ISSUE has number in it and not repo: the ISSUE of two REPO can have the same "
            "number"});
  EXPECT_EQ(found_in_issues("key-not-unique", "{ type: string, max: 40 }", "on_delete: cascade", kNumbered), Lines{});
}

TEST(CheckNumbers, KnowsThatAParentGivesEachNumberOnce) {
  const auto with = [](std::string_view number) {
    return found("not-unique", kTable,
                 fmt::format(R"yaml(
entities:
  REPO:
    keys: {{ PK: "repo#{{repo}}", SK: "repo" }}
    attributes: {{ repo: {{ type: string, max: 40 }}, last: {{ last: true }} }}
  PULL:
    parents: {{ repo: {{ entity: REPO }} }}
    keys: {{ PK: "repo#{{repo}}", SK: "pull#{{pull:08}}" }}
    attributes: {{ repo: string, pull: {{ next: {{ by: repo.last }}, max: 99999999 }} }}
  ISSUE:
    parents: {{ repo: {{ entity: REPO }} }}
    keys: {{ PK: "issue#{{issue}}", SK: "issue", GSI1PK: "repo#{{repo}}", GSI1SK: "{{number:08}}" }}
    attributes: {{ issue: {{ type: uuid, generated: uuid }}, repo: string, number: {{ {}, max: 99999999 }} }}
patterns:
  issue:
    query: {{ index: GSI1, GSI1PK: "repo#{{repo}}", GSI1SK: "{{number:08}}" }}
    returns: ISSUE
    single: true
)yaml",
                             number))
        .size();
  };
  EXPECT_EQ(with("next: { by: repo.last }"), 0U);
  EXPECT_EQ(with("next: { in: issue, distinct: true }, min: 1"), 0U);
  EXPECT_EQ(with("next: { in: issue }, min: 1"), 1U);
}

}  // namespace
}  // namespace stator::model
