#pragma once

#include <string>
#include <unordered_map>

#include "stator/app/rest/extension.h"
#include "stator/base/clock.h"
#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"

namespace stator::systems::media_library {

// Fills the user directory from tokens.  The first request of a user whose token has a name and a verified e-mail
// address creates the entry, and that user cannot choose another address.  A user without an address in the token gives
// one in a request; that address is not verified.
//
// An existing entry is not changed: users change their name themselves, and an address that another user has stays with
// that user.  A user who has left can come back when all rows of the former one are removed.  Known entries are
// remembered for a while, so that not every request reads the directory.  Thread-safe.
class Directory {
 public:
  Directory(runtime::Repository& repository, const Clock& clock);

  // Problems: Invalid, when the call would give its caller another address than the token has.
  Result<void, runtime::Problem> look_at(const app::RouteMatch& match, const app::RestCall& call);
  // Problems: Conflict, when rows of a former user of the same name are still being removed.
  Result<void, runtime::Problem> check_entry(const runtime::Draft& user);

 private:
  Result<void, runtime::Problem> check_address(const app::RestCall& call) const;
  void enter(const app::TokenUser& identity);
  // Creates the entry if there is none.  True when nothing is left to do: the entry exists, or none can be created.
  bool enter_if_absent(const app::TokenUser& identity);
  // Whether there are rows of an unregistered user that are going to be removed: rows of libraries that a former user
  // had, or that are gone.
  Result<bool, runtime::Problem> has_remains(const std::string& subject);
  bool remembers(const std::string& subject);
  void remember(const std::string& subject);
  void forget(const std::string& subject);

  runtime::Repository& repository_;
  const Clock& clock_;
  Random random_ = Random::from_system();
  runtime::Dynamo dynamo_;
  Mutex mutex_;
  std::unordered_map<std::string, WallTime> entered_ GUARDED_BY(mutex_);  // subject -> until when that is believed
};

}  // namespace stator::systems::media_library
