#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/outcome.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

class Transaction;
struct Draft;

// Who asks.
struct Caller {
  std::optional<std::string> subject;  // none: nobody signed in
  std::vector<std::string> roles;
  bool system = false;  // the system itself: no access rule applies
};

// One entity: its logical attributes, without keys.
struct Object {
  const model::Entity* entity = nullptr;
  value::Item attributes;     // hidden ones included; what is served is the app's to know
  std::uint64_t version = 0;  // 0 when the entity is not versioned
  std::string nested_as;      // the pattern's Nest::as, when it has children
  std::vector<Object> nested;
  bool continued = false;                              // a nested parent whose children began on an earlier page
  std::vector<std::pair<std::string, Object>> joined;  // Join::as -> what it points to
};

// Where a page ended: one start key per shard.  Opaque to callers; app signs it.
struct PageEnd {
  std::vector<value::Item> keys;  // an empty item: this shard has not begun; see `done`
  std::vector<bool> done;
};

struct Page {
  std::vector<Object> objects;
  std::optional<PageEnd> next;
};

struct PageRequest {
  std::optional<unsigned> limit;
  std::optional<PageEnd> start;
  bool include_deleted = false;  // what the pattern is within may be soft-deleted, and so may what it returns
};

struct ReadOptions {
  bool include_deleted = false;
  bool consistent = true;
};

// What a request expects to find before it changes anything.
struct Precondition {
  bool present = false;                                // If-Match: *
  bool absent = false;                                 // If-None-Match: *
  std::optional<std::vector<std::uint64_t>> versions;  // If-Match: it is there, in one of these
  std::vector<std::uint64_t> other_than;               // If-None-Match: it is in none of these

  bool is_given() const { return present || absent || versions || !other_than.empty(); }
  // nullopt: there is no such entity.
  bool holds(std::optional<std::uint64_t> version) const;
};

struct WriteOptions {
  Precondition precondition;
  bool include_deleted = false;
};

// What became of a put.
struct PutResult {
  Object object;
  bool created = false;
};

// A checked model at work, over any DynamoDB.
//
// Every write is one TransactWriteItems with everything that belongs to it (records, counters, reservations, checks of parents,
// sources of copies), or a single conditional write where nothing else does; a lost race is retried a bounded number of times.
// Access rules are applied here, so that nobody above can forget them: what a caller may not see is NotFound.
// Blocking, thread-safe.
class Repository {
 public:
  // All outlive the repository.
  Repository(std::shared_ptr<const model::Model> model, client::Client& client, const Clock& clock, Random& random);
  ~Repository();

  const model::Model& model() const;
  client::Client& client() const;

  // Creates the table when it is missing; otherwise checks that it is the one the model describes (keys, indexes, stream, TTL)
  // and says what differs.
  Outcome<Done> open();

  // `attributes` are what a user gave; whatever may not be set is refused by name, all problems at once.
  Outcome<Object> create(const model::Entity& entity, const value::Item& attributes, const Caller& caller);
  // `key` holds the attributes that name the entity; the owner is filled in from the caller.
  Outcome<Object> get(const model::Entity& entity, const value::Item& key, const Caller& caller,
                      const ReadOptions& options = {});
  // What an action is within, for a caller whom its access lets in; `inputs` name it.
  Outcome<Object> get_within(const model::Action& action, const value::Item& inputs, const Caller& caller,
                             const ReadOptions& options = {});
  // `changes.values` are set, `changes.nulls` cleared.
  Outcome<Object> update(const model::Entity& entity, const value::Item& key, const model::PlainObject& changes,
                         const Caller& caller, const WriteOptions& options = {});
  // Creates the entity that `key` names, or changes it as update() does when it is there.  What is soft-deleted, or somebody
  // else's, is NotFound.  Attributes that cannot be changed may be given when they are what they are.
  Outcome<PutResult> put(const model::Entity& entity, const value::Item& key, const model::PlainObject& given,
                         const Caller& caller, const Precondition& precondition = {});
  Outcome<Done> remove(const model::Entity& entity, const value::Item& key, const Caller& caller,
                       const WriteOptions& options = {});
  // Of a soft-deleted entity.
  Outcome<Object> restore(const model::Entity& entity, const value::Item& key, const Caller& caller,
                          const WriteOptions& options = {});
  Outcome<Done> purge(const model::Entity& entity, const value::Item& key, const Caller& caller,
                      const WriteOptions& options = {});

  Outcome<Page> run(const model::Pattern& pattern, const value::Item& parameters, const Caller& caller,
                    const PageRequest& page = {});
  // The entity of Action::result, if it names one.  The precondition is of what the action is about (action_subject.h).
  Outcome<std::optional<Object>> perform(const model::Action& action, const value::Item& inputs, const Caller& caller,
                                         const Precondition& precondition = {});

  // What a change of that entity by a request (create, put, update) entails, in the same transaction: it may look at the draft, refuse it,
  // change it further, and change other things.  Like `build` below, it is called again when a race is lost.  To be told before
  // anybody asks for anything.
  using Follow = std::function<Outcome<Done>(Transaction& transaction, Draft& draft)>;
  void follow(const model::Entity& entity, Follow follow);

  // What makes room when a new number is asked for and there is none behind the last one (`Full`), in transactions of its own; the
  // create, put or update is then tried once more.  `naming` is what that was given.  To be told before anybody asks for anything.
  using MakeRoom = std::function<Outcome<Done>(const value::Item& naming)>;
  void make_room(const model::Entity& entity, MakeRoom make_room);

  // For what a model cannot say: a transaction put together by C++ (transaction.h), under all rules but those of access.  `build` is
  // called again when a race is lost, so it should do nothing but read and change drafts.
  Outcome<Done> transact(const std::function<Outcome<Done>(Transaction&)>& build);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stator::runtime
