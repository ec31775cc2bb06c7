#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stator/model/check/testing/found.h"

namespace stator::model {
namespace {

// Tenants with members; what is to be checked comes behind.
Lines found_in_tenants(std::string_view code, std::string_view rest) {
  return found(code, kTable,
               fmt::format(R"yaml(
entities:
  TENANT:
    path: /tenants/{{tenant}}
    owner: founder
    access: {{ create: signed-in, read: member }}
    keys: {{ PK: "tenant#{{tenant}}", SK: "tenant" }}
    attributes: {{ tenant: {{ type: uuid, generated: uuid }}, founder: {{ type: string, max: 40 }} }}
  MEMBER:
    path: /tenants/{{tenant}}/members/{{who}}
    owner: founder
    access: {{ create: owner, read: member }}
    parents: {{ tenant: {{ entity: TENANT, on_delete: cascade }} }}
    keys: {{ PK: "tenant#{{tenant}}", SK: "member#{{who}}", GSI1PK: "user#{{who}}", GSI1SK: "{{tenant}}" }}
    attributes:
      tenant: uuid
      who: {{ type: string, max: 40 }}
      founder: {{ copy_of: tenant.founder }}
      role: {{ type: string, max: 10 }}
grants:
  member: {{ pointer: MEMBER, key: {{ who: me, tenant: tenant }}, gives: {{ founder: founder }} }}
{}
)yaml",
                           rest));
}

TEST(CheckAccess, WantsGrantsThatCanLetSomebodyIn) {
  const auto action = [](std::string_view words) {
    return found_in_tenants("unusable-grant", fmt::format(R"yaml(
actions:
  invite:
    post: /tenants/{{tenant}}/invite
    input: {{ tenant: uuid, who: string, role: string }}
    {}
    steps:
      - {{ create: MEMBER, set: {{ tenant: ":tenant", who: ":who", role: ":role" }} }}
)yaml",
                                                          words));
  };
  EXPECT_EQ(action("access: [owner, member]"), Lines{"error invite: the grant member lets no caller in: a grant is "
                                                     "about one entity, and the action is `within` none"});
  EXPECT_EQ(action("access: [owner, member]\n    within: TENANT"), Lines{});
  EXPECT_EQ(action("access: [owner]"), Lines{});

  const auto pattern = [](std::string_view route, std::string_view words) {
    return found_in_tenants("unusable-grant", fmt::format(R"yaml(
patterns:
  members: {{ get: "{}", query: {{ index: GSI1, GSI1PK: "user#{{who}}" }}, returns: MEMBER, {} }}
)yaml",
                                                          route, words));
  };
  EXPECT_EQ(pattern("/members/{who}", "access: member"),
            Lines{"error members: the grant member lets no caller in: its pointer is looked up by tenant, which is no "
                  "parameter"});
  EXPECT_EQ(pattern("/tenants/{tenant}/of/{who}", "access: member"), Lines{});
  EXPECT_EQ(pattern("/members/{who}", "order: ascending"), Lines{})
      << "the grants of its rows are for other routes, too";
}

TEST(CheckAccess, WantsRowsThatSomebodyCanSee) {
  const auto mine = [](std::string_view code, std::string_view words) {
    return found_in_tenants(code, fmt::format(R"yaml(
patterns:
  mine: {{ get: /mine, query: {{ index: GSI1, GSI1PK: "user#{{me}}" }}, returns: MEMBER{} }}
)yaml",
                                              words));
  };
  EXPECT_EQ(mine("unseen-rows", ""),
            Lines{"error mine: its answer is always empty, because no caller may see a MEMBER: its access admits only "
                  "owners and grants, and neither applies to these rows"});
  EXPECT_EQ(mine("unseen-rows", ", access: signed-in"), Lines{});
  EXPECT_EQ(mine("wider-access", ", access: signed-in"), Lines{}) << "it reads what is under the caller's own name";
  EXPECT_EQ(mine("unseen-rows", ", access: [owner, member]"), Lines{});
}

TEST(CheckAccess, WantsOwnersThatAreUsers) {
  const auto with = [](std::string_view org, std::string_view repo) {
    return found("owner-not-user", kPlainTable,
                 fmt::format(R"yaml(
entities:
  ORG:
    {}
    keys: {{ PK: "org#{{orgName}}", SK: "org" }}
    attributes: {{ orgName: {{ type: string, max: 40 }}, admin: {{ type: string, max: 40 }} }}
  REPO:
    {}
    keys: {{ PK: "repo#{{of}}#{{repo}}", SK: "repo" }}
    attributes: {{ of: {{ type: string, max: 40 }}, repo: {{ type: string, max: 40 }}, orgName: {{ type: string, max: 40 }} }}
)yaml",
                             org, repo));
  };
  const auto of_org = "owner: of\n    parents: { org: { entity: ORG, by: { orgName: of } } }";
  EXPECT_EQ(with("owner: admin", of_org),
            Lines{"error REPO: its owner, of, is the name of a ORG: any caller with that name as its subject owns it"});
  EXPECT_EQ(with("owner: orgName", of_org), Lines{}) << "a user";
  EXPECT_EQ(with("owner: admin", "owner: orgName").size(), 1U) << "by the same word, without a relation";
  EXPECT_EQ(with("access: { read: public }", "owner: orgName"), Lines{}) << "it may be about a user";
  EXPECT_EQ(with("owner: admin", "owner: of"), Lines{});
}

TEST(CheckAccess, LooksThroughCopiesOfOwners) {
  const auto with = [](std::string_view source) {
    return found("owner-not-user", kPlainTable,
                 fmt::format(R"yaml(
entities:
  ORG:
    owner: admin
    keys: {{ PK: "org#{{org}}", SK: "org" }}
    attributes: {{ org: {{ type: string, max: 40 }}, admin: {{ type: string, max: 40 }} }}
  TEAM:
    owner: whose
    parents: {{ org: {{ entity: ORG, on_delete: cascade }} }}
    keys: {{ PK: "org#{{org}}", SK: "team#{{team}}" }}
    attributes: {{ org: string, team: {{ type: uuid, generated: uuid }}, whose: {{ copy_of: org.{} }} }}
)yaml",
                             source))
        .size();
  };
  EXPECT_EQ(with("admin"), 0U);
  EXPECT_EQ(with("org"), 1U);
}

TEST(CheckAccess, WarnsOfWhatNothingCreates) {
  const auto with = [](std::string_view badge, std::string_view actions = "") {
    return found("never-created", kPlainTable,
                 fmt::format(R"yaml(
entities:
  USER:
    path: /users/{{user}}
    access: {{ read: public, write: signed-in }}
    keys: {{ PK: "user#{{user}}", SK: "user" }}
    attributes: {{ user: {{ type: uuid, generated: uuid }} }}
  BADGE:
    {}
    keys: {{ PK: "badge#{{badge}}", SK: "badge" }}
    attributes: {{ badge: {{ type: uuid, generated: uuid }} }}
{}
)yaml",
                             badge, actions));
  };
  EXPECT_EQ(with("access: { read: public }"),
            Lines{"warning BADGE: nothing creates a BADGE: it has no route that does, and no action does"});
  EXPECT_EQ(with("path: '/badges/{badge}'\n    access: { read: public }"),
            Lines{"warning BADGE: nothing creates a BADGE: its access lets nobody create one, and no action does"});
  EXPECT_EQ(with("path: '/badges/{badge}'\n    access: { create: signed-in }"), Lines{});
  EXPECT_EQ(with("access: { read: public }", R"yaml(
actions:
  award: { post: /award, steps: [ { create: BADGE, set: {} } ] }
)yaml"),
            Lines{});
  EXPECT_EQ(with("access: { read: public }", "actions: { award: { post: /award, native: true } }"), Lines{});
}

TEST(CheckAccess, WarnsOfDeletionsThatNobodyCanTakeBack) {
  const auto with = [](std::string_view words, std::string_view soft = "{ attribute: gone }") {
    return found("one-way-deletion", kPlainTable,
                 fmt::format(R"yaml(
entities:
  NOTE:
    path: /notes/{{note}}
    {}
    soft_delete: {}
    keys: {{ PK: "note#{{note}}", SK: "note" }}
    attributes:
      note: {{ type: uuid, generated: uuid }}
      user: {{ type: string, max: 40 }}
      gone: boolean
      at: timestamp
grants:
  noted: {{ pointer: NOTE, key: {{ note: note }}, gives: {{ user: user }} }}
actions:
  drop:
    post: /notes/{{note}}/drop
    steps: [ {{ read: NOTE, as: note, key: {{ note: ":note" }} }}, {{ delete: note }} ]
)yaml",
                             words, soft));
  };
  EXPECT_EQ(with("owner: user"), Lines{});
  EXPECT_EQ(with("owner: user\n    operations: [create, get, delete]"),
            Lines{"warning NOTE: a NOTE can be deleted, and stays for ever: no route restores or purges it"});
  EXPECT_EQ(with("owner: user\n    operations: [create, get, delete]", "{ attribute: gone, at: at, keep: 30d }"),
            Lines{});
  const Lines shut = {
      "warning NOTE: a NOTE can be deleted, and then no caller may restore or purge it: its `delete` access lets no "
      "caller in after the deletion"};
  EXPECT_EQ(with("owner: user\n    access: { delete: noted }"), shut) << "the pointer is deleted with it";
  EXPECT_EQ(with("owner: user\n    access: { delete: [] }"), shut) << "an action deletes it";
  EXPECT_EQ(with("owner: user\n    access: { delete: [noted, role:admin] }"), Lines{});
}

}  // namespace
}  // namespace stator::model
