#pragma once

#include <optional>
#include <string>

#include "stator/app/rest/extension.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::systems::media_library {

// Lets people read a library, by e-mail address, and takes that back.
//
// The library has the addresses (SharedTo) and the ids of their users (SharedToIds).  Each recipient has a pointer row,
// which gives access.  Both change in one transaction.  Unsharing does not need the directory: a recipient who has
// left, or has another address now, can be removed by the address that the library was shared with.  Thread-safe.
class Sharing {
 public:
  explicit Sharing(const app::ExtensionParts& parts) : parts_(parts) {}

  // Problems: NotFound (no user has signed in with that address), Invalid (the caller's own), Conflict (shared already;
  // full).
  Result<http::Response, runtime::Problem> share(const app::NativeCall& call) const;
  // Problems: NotFound (not shared with that address).
  Result<http::Response, runtime::Problem> unshare(const app::NativeCall& call) const;
  Result<http::Response, runtime::Problem> recipients(const app::NativeCall& call) const;
  // Only the owner may see the recipients of a library; other recipients may not.
  static void redact(runtime::Object& object, const runtime::Caller& caller);

  static constexpr std::size_t kMostRecipients = 100;

 private:
  // The id of the user with that address; nullopt: there is none.
  Result<std::optional<std::string>, runtime::Problem> find_user(const std::string& email) const;

  const app::ExtensionParts parts_;
};

}  // namespace stator::systems::media_library
