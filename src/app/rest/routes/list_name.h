#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stator/app/rest/extension.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::app {

// The list of a native action that a page token belongs to.  The inputs `limit` and `nextToken` do not belong to its
// description.
struct ListName {
  const ExtensionParts& parts;
  std::string_view action;
  value::Item parameters;
  const runtime::Caller& caller;

  // The page that `inputs` ask for.  Problems: Invalid, when the token is not of this list.
  Result<std::optional<runtime::PageEnd>, runtime::Problem> start(const value::Item& inputs) const;
  std::string token(const runtime::PageEnd& end) const;
};

}  // namespace stator::app
