#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/rules/rules.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// The row of the consistency table with the announcements of migrations to programs of other models.
inline constexpr std::string_view kHoldRow = "hold";
std::string consistency_table_name(std::string_view table);

// How each entity's primary key is made: tells apart models that look for the same entity in different places.
value::Item primary_keys(const model::Model& model);

struct Announcement {
  value::Item keys;     // entities whose rows move or have moved to other primary keys, with the rules of these keys
  bool moving = false;  // rows are on their way: some lie in their old places, some in their new ones
  AddedKeysOf added;    // keys that programs of the old model have to write for those of the new model

  bool empty() const { return keys.empty() && added.empty(); }
  value::Item to_row() const;  // without the keys of the consistency table
  // Errors: Validation, when a program that knows more has written it.
  static Result<Announcement> from_row(const value::Item& row);
};

// A running program's knowledge of migrations of its table.
//
// An announcement is read when something is written, and trusted for kLease.  A program sends no write that it has
// planned with an older view.  A migration therefore waits for kEffective after it has announced something, which is
// the lease and a time for writes that are under way, and relies on every program from then on.  Thread-safe.
class MigrationNotice {
 public:
  static constexpr std::chrono::milliseconds kLease{1'000};
  static constexpr std::chrono::milliseconds kEffective{5'000};

  MigrationNotice(const model::Model& model, client::Client& client, Random& random, const Clock& clock);

  struct View {
    Rules rules;         // with the keys that were announced
    value::Item moving;  // entities whose rows move, or lie where this model does not look for them

    // Refuses a write that has looked at entities whose rows are being moved, or were moved.  Problems: Unavailable.
    Result<void, Problem> check(const std::set<const model::Entity*>& looked_at) const;
  };
  using Shared = std::shared_ptr<const View>;
  // Reads the announcement unless that was done a moment ago.  The same view until something is announced.
  Result<Shared, Problem> look();

 private:
  Result<Shared, Problem> read();
  Result<Shared, Problem> view_of(const std::optional<value::Item>& row) const;

  const model::Model& model_;
  const std::string table_;
  const value::Item keys_;  // how the model makes primary keys
  Dynamo dynamo_;

  Mutex mutex_;
  Shared view_ GUARDED_BY(mutex_);
  std::optional<value::Item> row_ GUARDED_BY(mutex_);  // that the view was made of
  SteadyTime asked_ GUARDED_BY(mutex_);                // before the row was read
  bool asking_ GUARDED_BY(mutex_) = false;             // somebody reads it, while the view is still good
};

}  // namespace stator::runtime
