#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stator/runtime/consistency/consistency_manager.h"
#include "stator/runtime/consistency/verify.h"
#include "stator/runtime/test_support.h"

// For tests of the parts that keep a table consistent.
namespace stator::runtime {

// A client between a manager and its database that lets calls fail, as if the manager or the database were killed.
class FailingClient final : public client::Client {
 public:
  enum class Fate : std::uint8_t {
    Done,     // as it should be
    Refused,  // nothing happened
    Lost,     // it happened, and the answer was lost
  };
  using Judge = std::function<Fate(std::string_view operation, std::string_view json)>;

  FailingClient(client::Client& client, Judge judge) : client_(client), judge_(std::move(judge)) {}

  // Fails from the k-th call on; `fate` is the outcome of that call.
  static Judge dies_at(unsigned k, Fate fate) {
    return [calls = std::make_shared<std::atomic<unsigned>>(0), k, fate](std::string_view, std::string_view) {
      const auto call = (*calls)++;
      if (call < k) return Fate::Done;
      return call == k ? fate : Fate::Refused;
    };
  }

  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    switch (judge_(operation, json)) {
      case Fate::Done: return client_.call(operation, json, std::move(reply));
      case Fate::Lost:
        return client_.call(operation, json,
                            [reply = std::move(reply)](const api::Reply&) mutable { reply(failure()); });
      case Fate::Refused: return reply(failure());
    }
  }

 private:
  static api::Reply failure() {
    return {.outcome = api::Fault{.type = "com.amazonaws.dynamodb.v20120810#InternalServerError",
                                  .message = "the test says no",
                                  .server_side = true},
            .table = {}};
  }

  client::Client& client_;
  Judge judge_;
};

// Libraries of Alice's, and managers that look after them.
class Shelf {
 public:
  explicit Shelf(std::string_view yaml = kShelf, World::Time time = World::Time::Passes) : world(yaml, time) {}

  World world;
  ManualClock clock{SystemClock().now()};
  const Caller alice = user("alice");
  const Traffic* traffic = nullptr;  // that its managers know of

  std::unique_ptr<ConsistencyManager> manager() { return manager(world.client()); }
  std::unique_ptr<ConsistencyManager> manager(client::Client& client) {
    ConsistencyOptions options;
    options.attempts = 2;
    options.first_wait = std::chrono::milliseconds(0);
    options.poll = std::chrono::milliseconds(5);
    options.traffic = traffic;
    // Shares the world's model.
    const std::shared_ptr<const model::Model> model(&world.model(), [](const model::Model*) {});
    return std::make_unique<ConsistencyManager>(model, client, clock, world.random(), options);
  }
  // Propagates all changes that wait.
  void propagate_all() {
    const auto caught_up = manager()->catch_up();
    EXPECT_EQ(told(caught_up), "ok");
  }
  void let_leases_run_out() { clock.advance(std::chrono::minutes(1)); }

  // "copy CollectionName" and the like, in order.
  std::vector<std::string> findings(bool repair = false) {
    VerifyOptions options;
    options.repair = repair;
    return findings(options);
  }
  // The findings that do not follow from changes which wait in the stream.
  std::vector<std::string> findings_beside_pending() {
    Reconciler reconciler(world.model(), world.dynamo(), world.random());
    const auto changes = PendingChanges::read(reconciler);
    EXPECT_EQ(told(changes), "ok");
    VerifyOptions options;
    options.changes = &*changes;
    return findings(options);
  }
  std::vector<std::string> findings(VerifyOptions options) {
    Reconciler reconciler(world.model(), world.dynamo(), world.random());
    std::vector<std::string> found;
    options.report = [&](const RowFinding& finding, FindingState state) {
      if (state == FindingState::Pending) return;
      found.push_back(std::string(finding_name(finding.kind)) + " " + finding.entity + "." + finding.what);
    };
    const auto verified = verify(reconciler, options);
    EXPECT_EQ(told(verified), "ok");
    std::sort(found.begin(), found.end());
    return found;
  }

  Item library(std::string_view name) {
    return {{"LibraryId", *world.made("LIBRARY", {{"Name", text(name)}}, alice).attributes.find("LibraryId")}};
  }
  Item collection(const Item& library, std::string_view name) {
    const auto made = world.made("COLLECTION", both(library, {{"Name", text(name)}}), alice);
    return both(library, {{"CollectionId", *made.attributes.find("CollectionId")}});
  }
  Item book(const Item& where, const Item& attributes) {
    const auto made = world.made("BOOK", both(where, attributes), alice);
    return {{"LibraryId", *where.find("LibraryId")}, {"ItemId", *made.attributes.find("ItemId")}};
  }
  std::string now(std::string_view entity, const Item& key, std::string_view attribute) {
    const auto found = world.get(entity, key, alice);
    return found.ok() ? shown(*found, attribute) : told(found);
  }
  // The first row of that type.
  Item row_of(std::string_view type) {
    for (const auto& row : world.rows()) {
      if (*row.find("EntityType") == text(type)) return row;
    }
    return {};
  }
  void put(const Item& row) {
    RowWrite write;
    write.table = world.model().table.name;
    write.item = row;
    EXPECT_TRUE(world.dynamo().write(write).ok());
  }
  void erase(const Item& row) {
    RowWrite write;
    write.kind = RowWrite::Kind::Delete;
    write.table = world.model().table.name;
    write.item = model::primary_key_of(world.model().table, row);
    EXPECT_TRUE(world.dynamo().write(write).ok());
  }

  static Item both(Item one, const Item& other) {
    for (const auto& [name, content] : other) one.set(name, content);
    return one;
  }
};

}  // namespace stator::runtime
