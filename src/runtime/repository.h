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
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

class Transaction;
struct Draft;

// The caller of an operation.
struct Caller {
  std::optional<std::string> subject;  // none: not signed in
  std::vector<std::string> roles;
  bool system = false;  // the system itself: no access rule applies
};

// One entity: its logical attributes, without keys.
struct Object {
  const model::Entity* entity = nullptr;
  value::Item attributes;     // also hidden ones; the app removes them from answers
  std::uint64_t version = 0;  // 0 when the entity is not versioned
  std::string nested_as;      // the pattern's Nest::as, when it has children
  std::vector<Object> nested;
  bool continued = false;                              // a nested parent; its children began on an earlier page
  std::vector<std::pair<std::string, Object>> joined;  // Join::as -> the joined entity
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

struct PageOptions {
  std::optional<unsigned> limit;
  std::optional<PageEnd> start;
  bool include_deleted = false;  // also soft-deleted rows, also below a soft-deleted entity in `within`
};

struct ReadOptions {
  bool include_deleted = false;
  bool consistent = true;
};

// The condition of a request on the entity that it changes: If-Match and If-None-Match.
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

// The outcome of a put.
struct PutResult {
  Object object;
  bool created = false;
};

// A checked model at work, over any DynamoDB.
//
// Every write is one TransactWriteItems with everything that belongs to it (records, counters, reservations, checks of
// parents, sources of copies), or a single conditional write where nothing else does; a lost race is retried a bounded
// number of times. Access rules are applied here, so that no caller of this class can forget them: an entity that the
// user may not see is NotFound. Blocking, thread-safe.
class Repository {
 public:
  // All outlive the repository.
  Repository(std::shared_ptr<const model::Model> model, client::Client& client, const Clock& clock, Random& random);
  ~Repository();

  const model::Model& model() const;
  client::Client& client() const;

  // Creates the table when it is missing; otherwise checks that it is the one the model describes (keys, indexes,
  // stream, TTL) and reports the differences.  `stop` ends its wait for the table.
  Result<void, Problem> open(const std::stop_token& stop = {});

  // `attributes` are the values that a user gave.  If some of them may not be set, the problem names all of these.
  Result<Object, Problem> create(const model::Entity& entity, const value::Item& attributes, const Caller& caller);
  // `key` holds the attributes that name the entity; the owner is filled in from the caller.
  Result<Object, Problem> get(const model::Entity& entity, const value::Item& key, const Caller& caller,
                              const ReadOptions& options = {});
  // The entity that an action is `within`, for a caller whom the action's access lets in; `inputs` name the entity.
  Result<Object, Problem> get_within(const model::Action& action, const value::Item& inputs, const Caller& caller,
                                     const ReadOptions& options = {});
  // `changes.values` are set, `changes.nulls` cleared.
  Result<Object, Problem> update(const model::Entity& entity, const value::Item& key, const model::PlainObject& changes,
                                 const Caller& caller, const WriteOptions& options = {});
  // Creates the entity that `key` names, or changes it like update() when it exists.  An entity that is soft-deleted or
  // has another owner is NotFound.  An attribute that cannot be changed may be given with its present value.
  Result<PutResult, Problem> put(const model::Entity& entity, const value::Item& key, const model::PlainObject& given,
                                 const Caller& caller, const Precondition& precondition = {});
  Result<void, Problem> remove(const model::Entity& entity, const value::Item& key, const Caller& caller,
                               const WriteOptions& options = {});
  // Of a soft-deleted entity.
  Result<Object, Problem> restore(const model::Entity& entity, const value::Item& key, const Caller& caller,
                                  const WriteOptions& options = {});
  Result<void, Problem> purge(const model::Entity& entity, const value::Item& key, const Caller& caller,
                              const WriteOptions& options = {});

  Result<Page, Problem> run(const model::Pattern& pattern, const value::Item& parameters, const Caller& caller,
                            const PageOptions& page = {});
  // The entity of Action::result, if it names one.  The precondition is of the action's subject (action_subject.h).
  Result<std::optional<Object>, Problem> perform(const model::Action& action, const value::Item& inputs,
                                                 const Caller& caller, const Precondition& precondition = {});

  // Registers a function that is called in the transaction of every request that creates or changes the entity (create,
  // put, update).  The function can read the draft, refuse it, change it, and change other entities.  Like `build`
  // below, it is called again when a race is lost.  Register it before the first request.
  using Follow = std::function<Result<void, Problem>(Transaction& transaction, Draft& draft)>;
  void follow(const model::Entity& entity, Follow follow);

  // Registers a function that frees numbers when a new one is needed and none is left after the last one (`Full`).  It
  // uses its own transactions; the create, put or update is then tried once more.  `naming` are the attributes that the
  // request gave.  Register it before the first request.
  using MakeRoom = std::function<Result<void, Problem>(const value::Item& naming)>;
  void make_room(const model::Entity& entity, MakeRoom make_room);

  // A transaction that C++ builds (transaction.h), for systems whose models cannot express it.  All rules apply except
  // access rules.  `build` is called again when a race is lost, so it should only read and change drafts.
  Result<void, Problem> transact(const std::function<Result<void, Problem>(Transaction&)>& build);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stator::runtime
