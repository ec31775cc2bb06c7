#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/idempotency.h"
#include "stator/app/rest/page_token.h"
#include "stator/app/rest/router.h"
#include "stator/app/rest/target.h"
#include "stator/base/clock.h"
#include "stator/base/memory_budget.h"
#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/http/message.h"
#include "stator/model/model.h"
#include "stator/runtime/repository.h"

namespace stator::app {

// Codes that both the service and those behind it answer with.
inline constexpr std::string_view kBodyTooLarge = "BodyTooLarge";
inline constexpr std::string_view kOverloaded = "Overloaded";

// One request to a system, as its routes see it.
struct RestCall {
  const http::Request& request;
  std::string_view path;         // below the system's prefix
  const QueryParameters& query;  // decoded
  // Decompressed; of a route that takes files, as it was sent: FileBody reads it.
  std::string_view body;
  const Identity* identity;               // null: nobody signed in
  std::size_t max_file_bytes = 16 << 20;  // of a file, decompressed
  MemoryBudget* memory = nullptr;         // for what the request makes the server hold; null: unlimited

  const runtime::Caller& caller() const;
};

// One call of a native action: its inputs are checked, and the caller is somebody whom its access lets in.
struct NativeCall {
  const RestCall& call;
  const value::Item& inputs;  // defaults filled in
  // The entity that the action is within, which the caller may see.  Deleted, if a GET asks for that with `includeDeleted`.
  const std::optional<runtime::Object>& within;
  const runtime::Caller& caller() const { return call.caller(); }
};
using Native = std::function<Result<http::Response, runtime::Problem>(const NativeCall& call)>;

// What a system does in C++, by the names of its native actions.  What they work on lives in the functions.
using Natives = std::map<std::string, Native, std::less<>>;

// What a system looks at in C++ before any of its routes is carried out; a problem refuses the call.
using Beforehand = std::function<Result<void, runtime::Problem>(const RouteMatch& match, const RestCall& call)>;

// Takes out of an entity what this caller may not see, though he may see the entity.  For what routes of the model serve; native actions
// answer for themselves.
using Redact = std::function<void(runtime::Object& object, const runtime::Caller& caller)>;

// What C++ of a system works with; everything outlives it.
struct ExtensionParts {
  runtime::Repository& repository;
  client::Client& client;
  const Clock& clock;
  Random& random;
  const PageTokens& page_tokens;
  // Nothing, unless the extension sets them.
  Beforehand& beforehand;
  Redact& redact;
};
using Extension = std::function<Natives(const ExtensionParts& parts)>;

// What a system works with; everything outlives it.
struct SystemParts {
  client::Client& client;
  const Clock& clock;
  Random& random;
  const PageTokens& page_tokens;
  std::stop_token stop = {};  // ends what waits for a table
};

// A model as a REST service below /systems/<name>/v1: finds out what a request asks for, and asks the repository.
// Knows nothing of connections and threads.  Blocking, thread-safe.
class System {
 public:
  // Opens the repository (see Repository::open) and makes the routes.  Errors: Usage (a native action without its C++), Storage.
  static Result<std::unique_ptr<System>> open(std::shared_ptr<const model::Model> model, const SystemParts& parts,
                                              const Extension& extension = nullptr);

  const model::Model& model() const { return *model_; }
  const std::shared_ptr<const model::Model>& shared_model() const { return model_; }
  runtime::Repository& repository() { return repository_; }
  const Router& router() const { return router_; }
  const std::string& prefix() const { return prefix_; }
  const std::string& openapi() const { return openapi_; }

  // What stands against a request of that route by its head alone, so that its body need not be read: nobody without a
  // token, or without the role, may do it; or the body is not of a type that it takes.  Reads nothing.
  std::optional<http::Response> refuse_by_head(const Route& route, const http::Request& head, bool has_body,
                                               const Identity* identity) const;

  // The answer of a route that the router found.
  Result<http::Response, runtime::Problem> run(const RouteMatch& match, const RestCall& call);

 private:
  System(std::shared_ptr<const model::Model> model, const SystemParts& parts);

  // The caller as the model writes owners, when that is another spelling than the token's.
  std::optional<Identity> respelled(const Identity* identity) const;
  Result<http::Response, runtime::Problem> run_as(const RouteMatch& match, const RestCall& call);
  Result<http::Response, runtime::Problem> run_once(const RouteMatch& match, const RestCall& call);
  Result<http::Response, runtime::Problem> run_target(const EntityTarget& target, const RouteMatch& match,
                                                      const RestCall& call);
  Result<http::Response, runtime::Problem> run_target(const model::Pattern* pattern, const RouteMatch& match,
                                                      const RestCall& call);
  Result<http::Response, runtime::Problem> run_target(const model::Action* action, const RouteMatch& match,
                                                      const RestCall& call);
  // `read`: how what the action is within is looked for.
  Result<http::Response, runtime::Problem> run_native(const model::Action& action, const value::Item& inputs,
                                                      const runtime::ReadOptions& read, const RestCall& call);
  // Of a large body: that the caller may do this to the rows that the path names, before the body becomes values.
  Result<void, runtime::Problem> check_rows_first(const RouteMatch& match, const value::Item& named,
                                                  const RestCall& call);
  Result<http::Response, runtime::Problem> create(const model::Entity& entity, const RouteMatch& match,
                                                  const RestCall& call);
  Result<http::Response, runtime::Problem> put(const model::Entity& entity, const RouteMatch& match,
                                               const RestCall& call);
  http::Response object_answer(int status, runtime::Object object, const RestCall& call) const;
  void redact(runtime::Object& object, const runtime::Caller& caller) const;

  const std::shared_ptr<const model::Model> model_;
  const model::Attribute* const owner_id_;  // of the model; null: a caller has only one spelling
  const std::string prefix_;
  const PageTokens& page_tokens_;
  runtime::Repository repository_;
  IdempotencyStore idempotency_;
  Router router_;
  std::string openapi_;
  Beforehand beforehand_;
  Redact redact_;
  Natives natives_;  // last: what they started uses what is above
};

}  // namespace stator::app
