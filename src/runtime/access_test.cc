#include "stator/runtime/access.h"

#include <gtest/gtest.h>

#include "stator/runtime/test_support.h"

namespace stator::runtime {
namespace {

// Alice has a library with a book, and shares it with Bob; Eve has nothing to do with it.
class SharingTest : public ::testing::Test {
 protected:
  SharingTest() {
    library = {{"LibraryId", *world.made("LIBRARY", {{"Name", text("Home")}}, alice).attributes.find("LibraryId")}};
    auto attributes = library;
    attributes.set("Title", text("Dune"));
    book = library;
    book.set("ItemId", *world.made("BOOK", attributes, alice).attributes.find("ItemId"));
    auto pointer = library;
    pointer.set("SharedToId", text("bob"));
    pointer.set("SharedFromId", text("alice"));
    world.made("SHARE", pointer, the_system());
  }

  World world{kShelf};
  const Caller alice = user("alice"), bob = user("bob"), eve = user("eve");
  Item library, book;
};

TEST_F(SharingTest, WhatBelongsToSomebodyElseIsNotFound) {
  EXPECT_EQ(told(world.get("LIBRARY", library, eve)), "404 NotFound");
  EXPECT_EQ(told(world.get("BOOK", book, eve)), "404 NotFound");
  EXPECT_EQ(told(world.update("BOOK", book, changes({{"Title", text("Mine")}}), eve)), "404 NotFound");
  EXPECT_EQ(told(world.remove("BOOK", book, eve)), "404 NotFound");
  auto named = book;
  named.set("OwnerId", text("alice"));
  EXPECT_EQ(told(world.get("BOOK", named, eve)), "404 NotFound") << "even when its owner is named";
}

TEST_F(SharingTest, SomebodyWhoIsNotSignedInIsToldToBe) {
  EXPECT_EQ(told(world.get("LIBRARY", library, nobody())), "401 Unauthenticated");
}

TEST_F(SharingTest, ARecipientReadsThroughThePointer) {
  EXPECT_EQ(told(world.get("LIBRARY", library, bob)), "ok");
  EXPECT_EQ(shown(*world.get("BOOK", book, bob), "Title"), "\"Dune\"");
}

TEST_F(SharingTest, ARecipientMayNotWrite) {
  EXPECT_EQ(told(world.update("BOOK", book, changes({{"Title", text("Mine")}}), bob)), "403 Forbidden");
  EXPECT_EQ(told(world.remove("LIBRARY", library, bob)), "403 Forbidden");
  auto attributes = library;
  attributes.set("Title", text("Emma"));
  EXPECT_EQ(told(world.create("BOOK", attributes, bob)), "403 Forbidden");
  EXPECT_EQ(told(world.create("BOOK", attributes, eve)), "404 NotFound; LibraryId names no LIBRARY");
}

TEST_F(SharingTest, ARecipientListsThroughThePointer) {
  EXPECT_EQ(world.run("contents", library, bob)->objects.size(), 1U);
  EXPECT_EQ(told(world.run("contents", library, eve)), "404 NotFound");
  EXPECT_TRUE(world.run("libraries", {}, eve)->objects.empty());
}

TEST_F(SharingTest, NothingIsSharedWithoutThePointer) {
  auto pointer = library;
  pointer.set("SharedToId", text("bob"));
  ASSERT_EQ(told(world.remove("SHARE", pointer, the_system())), "ok");
  EXPECT_EQ(told(world.get("BOOK", book, bob)), "404 NotFound");
}

TEST_F(SharingTest, ANameThatNoEntityCanHaveIsNotFound) {
  EXPECT_EQ(told(world.get("LIBRARY", {{"LibraryId", text("no uuid")}}, alice)), "404 NotFound");
  EXPECT_EQ(told(world.get("LIBRARY", {}, alice)), "404 NotFound");
}

TEST_F(SharingTest, ARoleIsNeededWhereTheModelSaysSo) {
  auto pointer = library;
  pointer.set("SharedFromId", text("eve"));
  EXPECT_EQ(told(world.create("SHARE", pointer, eve)), "403 Forbidden");
  EXPECT_EQ(told(world.create("SHARE", pointer, nobody())), "401 Unauthenticated");
  EXPECT_EQ(told(world.create("SHARE", pointer, admin())), "ok");
}

constexpr std::string_view kLists = R"yaml(
model: lists
table:
  name: Lists
  key: [PK]
  indexes:
    ByCurator: { key: [curatorId, createdAt], projection: all }
entities:
  LIST:
    path: /lists/{listId}
    owner: curatorId
    access: { read: [owner, { public: "isPublic = true" }], write: owner }
    keys: { PK: "list#{listId}" }
    attributes:
      curatorId: string
      listId: { type: uuid, generated: uuid }
      isPublic: { type: boolean, default: false }
      createdAt: { type: timestamp, generated: now }
patterns:
  by_curator:
    get: /curators/{curatorId}/lists
    query: { index: ByCurator, curatorId: "{curatorId|raw}" }
    returns: LIST
)yaml";

constexpr std::string_view kPosts = R"yaml(
model: posts
table: { name: Posts, key: [PK, SK] }
entities:
  POST:
    path: /posts/{postId}
    owner: authorId
    access: { read: [owner, { public: "isPublic = true" }], write: owner }
    soft_delete: { attribute: isDeleted }
    unfinished: isBeingMade
    keys: { PK: "post#{postId}", SK: "post" }
    attributes:
      authorId: string
      postId: { type: string, required: true }
      isPublic: { type: boolean, default: true }
      isDeleted: { type: boolean, internal: true }
      isBeingMade: boolean
  REMARK:
    path: /posts/{postId}/remarks/{remarkId}
    owner: authorId
    access: { read: [owner, { public: "isPublic = true" }], write: owner }
    parents: { post: { entity: POST, on_delete: cascade } }
    keys: { PK: "post#{postId}", SK: "remark#{remarkId}" }
    attributes:
      postId: string
      remarkId: { type: string, required: true }
      authorId: { type: string, copy_of: post.authorId }
      isPublic: { type: boolean, copy_of: post.isPublic }
actions:
  remark:
    post: /posts/{postId}/remark
    within: POST
    input: { remarkId: { type: string, required: true } }
    steps:
      - create: REMARK
        as: remark
        set: { postId: ":postId", remarkId: ":remarkId" }
    result: remark
patterns:
  post_and_remarks:
    query: { PK: "post#{postId}" }
    returns: [POST, REMARK]
)yaml";

class PostsTest : public ::testing::Test {
 protected:
  PostsTest() {
    world.made("POST", post, alice);
    world.made("REMARK", remark, alice);
  }

  World world{kPosts};
  const Caller alice = user("alice"), bob = user("bob");
  const Item post{{"postId", text("p")}}, remark{{"postId", text("p")}, {"remarkId", text("r")}};
};

TEST_F(PostsTest, WhatIsDeletedIsShownOnlyToThoseWhoMayRestoreIt) {
  ASSERT_EQ(told(world.get("POST", post, bob)), "ok");
  ASSERT_TRUE(world.remove("POST", post, alice).ok());
  for (const auto& [name, key] : {std::pair("POST", post), std::pair("REMARK", remark)}) {
    EXPECT_EQ(told(world.get(name, key, alice, true)), "ok") << name;
    EXPECT_EQ(told(world.get(name, key, bob, true)), "404 NotFound") << name;
    EXPECT_EQ(told(world.get(name, key, nobody(), true)), "404 NotFound") << name;
  }
}

TEST_F(PostsTest, WhatIsUnfinishedIsNotThereForAnybody) {
  const auto set_unfinished = [&](bool unfinished) {
    return world.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      auto* draft = TRY(transaction.load(*world.model().find_entity("POST"), post));
      return transaction.change(*draft, changes({{"isBeingMade", boolean(unfinished)}}), ValueSource::Model);
    });
  };
  ASSERT_EQ(told(set_unfinished(true)), "ok");
  for (const bool include_deleted : {false, true}) {
    EXPECT_EQ(told(world.get("POST", post, alice, include_deleted)), "404 NotFound");
    EXPECT_EQ(told(world.get("REMARK", remark, alice, include_deleted)), "404 NotFound");
  }
  EXPECT_EQ(told(world.update("POST", post, changes({{"isPublic", boolean(false)}}), alice)), "404 NotFound");
  EXPECT_EQ(told(world.remove("POST", post, alice)), "404 NotFound");
  const Item another{{"postId", text("p")}, {"remarkId", text("s")}};
  EXPECT_EQ(told(world.create("REMARK", another, alice)), "404 NotFound; postId names no POST");
  EXPECT_EQ(told(world.perform("remark", another, alice)), "404 NotFound");
  const auto listed = world.run("post_and_remarks", post, alice);
  ASSERT_EQ(told(listed), "ok");
  for (const auto& object : listed->objects) EXPECT_EQ(object.entity->name, "REMARK");
  ASSERT_EQ(told(set_unfinished(false)), "ok");
  EXPECT_EQ(told(world.get("REMARK", remark, bob)), "ok");
}

TEST_F(PostsTest, ACopyThatIsBehindShowsNothing) {
  ASSERT_EQ(told(world.get("REMARK", remark, bob)), "ok");
  ASSERT_TRUE(world.update("POST", post, changes({{"isPublic", boolean(false)}}), alice).ok());
  EXPECT_EQ(told(world.get("REMARK", remark, bob)), "404 NotFound");
  EXPECT_EQ(told(world.get("REMARK", remark, alice)), "ok");
}

TEST_F(PostsTest, AnActionCreatesWhatTheParentSaysTheOwnerOf) {
  auto inputs = post;
  inputs.set("remarkId", text("s"));
  const auto made = world.perform("remark", inputs, alice);
  ASSERT_EQ(told(made), "ok");
  EXPECT_EQ(shown(**made, "authorId"), "\"alice\"");
  inputs.set("remarkId", text("t"));
  EXPECT_EQ(told(world.perform("remark", inputs, bob)), "403 Forbidden");
}

TEST(PublicByAttributes, RowsArePublicWhileTheirConditionHolds) {
  World world(kLists);
  const auto alice = user("alice"), bob = user("bob");
  const auto list = world.made("LIST", {}, alice);
  const Item key{{"listId", *list.attributes.find("listId")}};
  const Item curator{{"curatorId", text("alice")}};
  EXPECT_EQ(told(world.get("LIST", key, bob)), "404 NotFound");
  EXPECT_EQ(told(world.get("LIST", key, nobody())), "404 NotFound");
  EXPECT_EQ(told(world.get("LIST", key, alice)), "ok");
  EXPECT_TRUE(world.run("by_curator", curator, bob)->objects.empty());
  EXPECT_EQ(world.run("by_curator", curator, alice)->objects.size(), 1U);
  ASSERT_TRUE(world.update("LIST", key, changes({{"isPublic", boolean(true)}}), alice).ok());
  EXPECT_EQ(told(world.get("LIST", key, bob)), "ok");
  EXPECT_EQ(told(world.get("LIST", key, nobody())), "ok");
  EXPECT_EQ(world.run("by_curator", curator, nobody())->objects.size(), 1U);
  EXPECT_EQ(told(world.update("LIST", key, changes({{"isPublic", boolean(false)}}), bob)), "403 Forbidden");
  EXPECT_EQ(told(world.update("LIST", key, changes({{"isPublic", boolean(false)}}), nobody())), "401 Unauthenticated");
}

// ------------------------------------------------------------------------------------------ rights on what is deleted

// Members see a tenant and what it has; admins delete it.  Both are rows of the tenant, and hidden with it.
constexpr std::string_view kTenants = R"yaml(
model: tenants
table: { name: Tenants, key: [PK, SK] }
entities:
  TENANT:
    path: /tenants/{tenant}
    owner: founder
    access: { create: signed-in, read: member, delete: admin }
    soft_delete: { attribute: gone }
    keys: { PK: "tenant#{tenant}", SK: "tenant" }
    attributes: { tenant: string, founder: string, gone: boolean }
  MEMBER:
    parents: { tenant: { entity: TENANT, on_delete: cascade } }
    keys: { PK: "tenant#{tenant}", SK: "member#{who}" }
    attributes: { tenant: string, who: string, founder: { copy_of: tenant.founder } }
  ADMIN:
    soft_delete: { attribute: left }
    parents: { tenant: { entity: TENANT, on_delete: cascade } }
    keys: { PK: "tenant#{tenant}", SK: "admin#{who}" }
    attributes: { tenant: string, who: string, founder: { copy_of: tenant.founder }, left: boolean }
  PROJECT:
    path: /tenants/{tenant}/projects/{project}
    owner: founder
    access: { create: signed-in, read: member }
    parents: { tenant: { entity: TENANT, on_delete: cascade } }
    keys: { PK: "tenant#{tenant}", SK: "project#{project}" }
    attributes: { tenant: string, project: string, founder: { copy_of: tenant.founder } }
grants:
  member: { pointer: MEMBER, key: { who: me, tenant: tenant }, gives: { founder: founder } }
  admin: { pointer: ADMIN, key: { who: me, tenant: tenant }, gives: { founder: founder } }
patterns:
  projects:
    get: /tenants/{tenant}/projects
    within: TENANT
    query: { PK: "tenant#{tenant}", SK: { begins_with: "project#" } }
    returns: PROJECT
  files:
    get: /tenants/{tenant}/files
    within: TENANT
    access: admin
    query: { PK: "tenant#{tenant}", SK: { begins_with: "project#" } }
    returns: PROJECT
)yaml";

class TenantsTest : public ::testing::Test {
 protected:
  TenantsTest() {
    world.made("TENANT", tenant, user("fay"));
    for (const auto* who : {"ann", "bob"}) join("MEMBER", who);
    for (const auto* who : {"ann", "carl"}) join("ADMIN", who);
    world.made("PROJECT", project, the_system());
  }
  void join(std::string_view pointer, std::string_view who) {
    world.made(pointer, {{"tenant", text("t")}, {"who", text(who)}}, the_system());
  }
  std::string restore(const Caller& caller) {
    return told(world.repository().restore(world.entity("TENANT"), tenant, caller));
  }
  std::string purge(const Caller& caller) {
    return told(world.repository().purge(world.entity("TENANT"), tenant, caller));
  }

  World world{kTenants};
  const Item tenant{{"tenant", text("t")}}, project{{"tenant", text("t")}, {"project", text("p")}};
  const Caller ann = user("ann"), bob = user("bob"), carl = user("carl"), eve = user("eve");
};

TEST_F(TenantsTest, WhoMayDeleteMaySeeAndRestoreWhatIsDeleted) {
  ASSERT_EQ(told(world.remove("TENANT", tenant, ann)), "ok");
  EXPECT_EQ(told(world.get("TENANT", tenant, ann)), "404 NotFound");
  EXPECT_EQ(told(world.get("TENANT", tenant, ann, true)), "ok");
  EXPECT_EQ(restore(ann), "ok");
  EXPECT_EQ(told(world.get("TENANT", tenant, bob)), "ok") << "members are back with their tenant";
}

TEST_F(TenantsTest, WhoMayDeleteMayPurgeWhatIsDeleted) {
  ASSERT_EQ(told(world.remove("TENANT", tenant, ann)), "ok");
  EXPECT_EQ(purge(ann), "ok");
  EXPECT_EQ(restore(ann), "404 NotFound");
}

TEST_F(TenantsTest, WhoMayDeleteAndNotReadSeesItOnceItIsDeleted) {
  EXPECT_EQ(told(world.get("TENANT", tenant, carl)), "404 NotFound");
  ASSERT_EQ(told(world.remove("TENANT", tenant, carl)), "ok");
  EXPECT_EQ(told(world.get("TENANT", tenant, carl, true)), "ok");
  EXPECT_EQ(told(world.get("PROJECT", project, carl, true)), "404 NotFound") << "projects are for members";
  EXPECT_EQ(restore(carl), "ok");
}

TEST_F(TenantsTest, WhatIsDeletedIsNotThereForOthers) {
  ASSERT_EQ(told(world.remove("TENANT", tenant, ann)), "ok");
  for (const auto& caller : {bob, eve}) {
    EXPECT_EQ(told(world.get("TENANT", tenant, caller, true)), "404 NotFound") << *caller.subject;
    EXPECT_EQ(told(world.get("PROJECT", project, caller, true)), "404 NotFound") << *caller.subject;
    EXPECT_EQ(restore(caller), "404 NotFound") << *caller.subject;
    EXPECT_EQ(purge(caller), "404 NotFound") << *caller.subject;
  }
}

TEST_F(TenantsTest, WhatBelongsToItIsThereForThoseWhoMayReadItAndDeleteTheTenant) {
  ASSERT_EQ(told(world.remove("TENANT", tenant, ann)), "ok");
  EXPECT_EQ(told(world.get("PROJECT", project, ann)), "404 NotFound");
  EXPECT_EQ(told(world.get("PROJECT", project, ann, true)), "ok");
  const PageOptions deleted{.limit = {}, .start = {}, .include_deleted = true};
  EXPECT_EQ(world.run("projects", tenant, ann, deleted)->objects.size(), 1U);
  EXPECT_EQ(told(world.run("projects", tenant, bob, deleted)), "404 NotFound");
}

TEST_F(TenantsTest, APointerThatIsDeletedItselfGivesNothing) {
  ASSERT_EQ(told(world.remove("ADMIN", {{"tenant", text("t")}, {"who", text("ann")}}, the_system())), "ok");
  EXPECT_EQ(told(world.remove("TENANT", tenant, ann)), "403 Forbidden");
  ASSERT_EQ(told(world.remove("TENANT", tenant, carl)), "ok");
  EXPECT_EQ(told(world.get("TENANT", tenant, ann, true)), "404 NotFound");
  EXPECT_EQ(restore(ann), "404 NotFound");
}

TEST_F(TenantsTest, APatternIsForThoseWhoHaveAGrantThatItNames) {
  EXPECT_EQ(world.run("files", tenant, ann)->objects.size(), 1U) << "seen as a member, let in as an admin";
  EXPECT_EQ(told(world.run("files", tenant, bob)), "403 Forbidden");
}

// ------------------------------------------------------------------------------------------- parents, joins and owners

// Boards that some see and others help to keep; a note is on the board that its path says, which is not in its key.
constexpr std::string_view kBoards = R"yaml(
model: boards
table: { name: Boards, key: [PK, SK] }
entities:
  BOARD:
    path: /boards/{board}
    owner: keeper
    access: { read: [owner, seeing, helping, { public: "open = true" }], write: [owner, helping] }
    keys: { PK: "keeper#{keeper}", SK: "board#{board}" }
    attributes: { keeper: string, board: string, title: string, open: boolean }
  SEER:   { keys: { PK: "seer#{who}", SK: "board#{board}" }, attributes: { who: string, board: string, keeper: string } }
  HELPER: { keys: { PK: "helper#{who}", SK: "board#{board}" }, attributes: { who: string, board: string, keeper: string } }
  NOTE:
    path: /boards/{board}/notes/{note}
    access: { read: public, write: signed-in }
    keys: { PK: "note#{note}", SK: "note" }
    attributes: { board: string, note: string, done: boolean }
  MARK:
    access: { write: signed-in }
    keys: { PK: "mark#{mark}", SK: "mark" }
    attributes: { mark: { type: uuid, generated: uuid }, board: string }
grants:
  seeing: { pointer: SEER, key: { who: me, board: board }, gives: { keeper: keeper } }
  helping: { pointer: HELPER, key: { who: me, board: board }, gives: { keeper: keeper } }
actions:
  mark:
    post: /boards/{board}/mark
    within: BOARD
    access: [owner, helping]
    steps: [{ create: MARK, as: mark, set: { board: ":board" } }]
  finish:
    post: /boards/{board}/notes/{note}/finish
    within: NOTE
    steps:
      - { read: NOTE, as: note, key: { note: ":note" } }
      - { update: note, set: { done: "true" } }
      - { check: "attribute_exists(:board)", else: { message: "cannot be" } }
)yaml";

class BoardsTest : public ::testing::Test {
 protected:
  BoardsTest() {
    world.made("BOARD", {{"board", text("b")}}, ann);
    for (const auto* who : {"sue", "both"}) allow("SEER", who);
    for (const auto* who : {"hal", "both"}) allow("HELPER", who);
  }
  void allow(std::string_view pointer, std::string_view who) {
    world.made(pointer, {{"who", text(who)}, {"board", text("b")}, {"keeper", text("ann")}}, the_system());
  }
  std::string retitle(const Caller& caller) {
    return told(world.update("BOARD", named_by(caller), changes({{"title", text("x")}}), caller));
  }
  std::string mark(const Caller& caller) { return told(world.perform("mark", named_by(caller), caller)); }
  // A caller without a pointer gives the owner of the board.
  Item named_by(const Caller& caller) const {
    Item name{{"board", text("b")}};
    if (caller.subject == "bob") name.set("keeper", text("ann"));
    return name;
  }

  World world{kBoards};
  const Caller ann = user("ann"), sue = user("sue"), hal = user("hal"), both = user("both"), bob = user("bob");
};

TEST_F(BoardsTest, AGrantLetsInOnlyThoseWhoHaveIt) {
  for (const auto& caller : {ann, hal}) {
    EXPECT_EQ(retitle(caller), "ok") << *caller.subject;
    EXPECT_EQ(mark(caller), "ok") << *caller.subject;
  }
  EXPECT_EQ(retitle(sue), "403 Forbidden");
  EXPECT_EQ(mark(sue), "403 Forbidden");
}

TEST_F(BoardsTest, WhoHasTwoGrantsHasTheWiderOne) {
  EXPECT_EQ(retitle(both), "ok");
  EXPECT_EQ(mark(both), "ok");
}

TEST_F(BoardsTest, WhatEveryoneSeesIsStillForItsHelpers) {
  ASSERT_TRUE(world.update("BOARD", {{"board", text("b")}}, changes({{"open", boolean(true)}}), ann).ok());
  const Item name{{"keeper", text("ann")}, {"board", text("b")}};
  const auto retitled = [&](const Caller& caller) {
    return told(world.update("BOARD", name, changes({{"title", text("y")}}), caller));
  };
  EXPECT_EQ(retitled(hal), "ok");
  EXPECT_EQ(retitled(bob), "403 Forbidden");
}

TEST_F(BoardsTest, AnActionIsBelowThePathOfWhatItIsWithin) {
  world.made("NOTE", {{"board", text("b")}, {"note", text("n")}}, ann);
  EXPECT_EQ(told(world.perform("finish", {{"board", text("c")}, {"note", text("n")}}, bob)), "404 NotFound");
  EXPECT_EQ(told(world.perform("finish", {{"board", text("b")}, {"note", text("n")}}, bob)), "ok");
}

constexpr std::string_view kOpenLists = R"yaml(
model: lists
table: { name: Lists, key: [PK, SK] }
entities:
  LIST:
    owner: userId
    access: { create: signed-in, read: [owner, { public: "open = true" }], update: owner, delete: owner }
    keys: { PK: "LIST#{listId}", SK: "LIST" }
    attributes:
      listId: { type: uuid, generated: uuid }
      userId: { type: string, min: 1, max: 100 }
      title: { type: string, required: true }
      open: { type: boolean, default: false }
      saves: { count: SAVED.list }
  ENTRY:
    owner: listOwner
    parents: { list: { entity: LIST, on_delete: cascade } }
    keys: { PK: "LIST#{listId}", SK: "ENTRY#{entryId}" }
    attributes:
      listId: uuid
      entryId: { type: uuid, generated: uuid }
      listOwner: { type: string, max: 100, copy_of: list.userId }
  SAVED:
    owner: userId
    parents: { list: { entity: LIST } }
    keys: { PK: "USER#{userId}", SK: "SAVED#{listId}" }
    attributes:
      userId: { type: string, min: 1, max: 100 }
      listId: { type: uuid, required: true, immutable: true }
      title: { type: string, copy_of: list.title }
patterns:
  saved:
    query: { PK: "USER#{me}", SK: { begins_with: "SAVED#" } }
    returns: SAVED
    join: { relation: list, as: list }
)yaml";

TEST(Parents, AreOnlyForThoseWhoMaySeeThem) {
  World world(kOpenLists);
  const auto ann = user("ann");
  const auto bob = user("bob");
  const auto made = world.made("LIST", {{"title", text("private")}}, ann);
  const Item list = {{"listId", *made.attributes.find("listId")}};
  EXPECT_EQ(told(world.create("SAVED", list, bob)),
            told(world.create("SAVED", {{"listId", text("0d9e5d0c-4f6c-4d0c-9f5f-6f2f4c1b2a3d")}}, bob)))
      << "what one may not see is as if it was not there";
  EXPECT_EQ(shown(*world.get("LIST", list, ann), "saves"), "0");

  ASSERT_TRUE(world.update("LIST", list, changes({{"open", boolean(true)}}), ann).ok());
  EXPECT_EQ(told(world.create("SAVED", list, bob)), "ok");
  const auto& saved = *world.model().find_pattern("saved");
  EXPECT_EQ(world.repository().run(saved, {}, bob)->objects.front().joined.size(), 1U);

  ASSERT_TRUE(world.update("LIST", list, changes({{"open", boolean(false)}}), ann).ok());
  EXPECT_TRUE(world.repository().run(saved, {}, bob)->objects.front().joined.empty()) << "it is private again";
}

TEST(Owner, MayComeFromTheParent) {
  World world(kOpenLists);
  const auto made = world.made("LIST", {{"title", text("open")}, {"open", boolean(true)}}, user("ann"));
  const Item list = {{"listId", *made.attributes.find("listId")}};
  EXPECT_EQ(told(world.create("ENTRY", list, user("ann"))), "ok");
  EXPECT_EQ(told(world.create("ENTRY", list, user("bob"))), "403 Forbidden");
}

TEST(Names, MayBeWhatTheKeyIsDerivedFrom) {
  World world(R"yaml(
model: words
table: { name: Words, key: [PK] }
entities:
  WORD:
    path: /words/{word}
    access: { read: public, write: public }
    keys: { PK: "word#{folded}" }
    attributes:
      word: { type: string, required: true, immutable: true, max: 50 }
      folded: { type: string, derived: "fold(word)" }
      note: string
)yaml");
  world.made("WORD", {{"word", text("Creme")}}, nobody());
  const Item name{{"word", text("Creme")}};
  EXPECT_EQ(told(world.update("WORD", name, changes({{"note", text("of milk")}}), nobody())), "ok");
  EXPECT_EQ(shown(*world.get("WORD", name, nobody()), "note"), "\"of milk\"");
  EXPECT_EQ(told(world.get("WORD", {{"word", text("milk")}}, nobody())), "404 NotFound");
  EXPECT_EQ(told(world.get("WORD", {{"word", text("CREME")}}, nobody())), "404 NotFound") << "it is called otherwise";
  EXPECT_EQ(told(world.create("WORD", {{"word", text("CREME")}}, nobody())), "409 Exists") << "and has the only place";
  EXPECT_EQ(told(world.remove("WORD", name, nobody())), "ok");
}

TEST(Names, MayBeInTheKeyBesideWhatIsDerivedFromThem) {
  World world(R"yaml(
model: measures
table: { name: Measures, key: [PK, SK] }
entities:
  MEASURE:
    path: /devices/{device}/measures/{at}
    access: { read: public, write: public }
    keys: { PK: "device#{device}#{day}", SK: "{at}" }
    attributes:
      device: { type: string, required: true, max: 10 }
      at: { type: timestamp, required: true }
      day: { type: date, derived: "date(at)" }
      value: number
)yaml");
  const Item name{{"device", text("d")}, {"at", text("2026-11-16T01:02:03.000Z")}};
  world.made("MEASURE", name, nobody());
  EXPECT_EQ(told(world.update("MEASURE", name, changes({{"value", number(1)}}), nobody())), "ok");
  EXPECT_EQ(shown(*world.get("MEASURE", name, nobody()), "value"), "1");
  EXPECT_EQ(told(world.remove("MEASURE", name, nobody())), "ok");
}

}  // namespace
}  // namespace stator::runtime
