#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "stator/app/rest/rest_call.h"
#include "stator/app/rest/routes/page_token.h"
#include "stator/app/rest/routes/router.h"
#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/runtime/repository.h"

// C++ of a system, for rules that a model cannot express.
namespace stator::app {

// One call of a native action.  Its inputs are checked, and its access lets the caller in.
struct NativeCall {
  const RestCall& call;
  const value::Item& inputs;  // defaults filled in
  // The entity that the action is within, which the caller may see.  Deleted, if a GET asks for that with
  // `includeDeleted`.
  const std::optional<runtime::Object>& within;
  const runtime::Caller& caller() const { return call.caller(); }
};
using Native = std::function<RestAnswer(const NativeCall& call)>;

// Native actions by their names.  The functions own the objects that they use.
using Natives = std::map<std::string, Native, std::less<>>;

// Runs before any route of the system; a problem refuses the call.
using Beforehand = std::function<Result<void, runtime::Problem>(const RouteMatch& match, const RestCall& call)>;

// Removes attributes that the caller may not see, from an entity that the caller may see.  For routes of the model;
// native actions redact their own answers.
using Redact = std::function<void(runtime::Object& object, const runtime::Caller& caller)>;

// The C++ parts that a system adds to its model.
struct Additions {
  Natives natives = {};
  // Native actions that execute an Idempotency-Key once by themselves: work that continues where it was.
  std::set<std::string, std::less<>> resumable = {};
  Beforehand beforehand = nullptr;  // null: no call is refused
  Redact redact = nullptr;          // null: nothing is removed
  // By their entities; see Repository::follow() and Repository::make_room(), where System::open() registers them.
  std::map<const model::Entity*, runtime::Repository::Follow> follow = {};
  std::map<const model::Entity*, runtime::Repository::MakeRoom> make_room = {};
};

// The objects that an extension uses; they outlive it.
struct ExtensionParts {
  runtime::Repository& repository;
  client::Client& client;
  const Clock& clock;
  Random& random;
  const PageTokens& page_tokens;
};
using Extension = std::function<Additions(const ExtensionParts& parts)>;

}  // namespace stator::app
