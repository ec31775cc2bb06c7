#pragma once

#include <string>

#include "stator/expr/condition.h"
#include "stator/expr/key_condition.h"
#include "stator/expr/placeholders.h"
#include "stator/expr/projection.h"
#include "stator/expr/update.h"

namespace stator::expr {

// The reverse of Binder: writes bound expressions as text, with placeholders of its own, for a request to an endpoint.
//
// Make one per request, write each of its expressions, then take the placeholders.  Every name becomes "#0", "#1" and
// so on, so that no reserved word and no odd character stands in the text.  Confined to one request.
class Unbinder {
 public:
  std::string text(const Condition& condition);
  std::string text(const Update& update);
  std::string text(const KeyCondition& condition);
  std::string text(const Projection& projection);

  const Names& names() const { return placeholders_.names; }
  const Values& values() const { return placeholders_.values; }

 private:
  std::string text(const Bindings& bindings);
  std::string text(const Path& path);
  std::string name(const std::string& attribute);
  std::string value(const value::AttributeValue& value);

  Placeholders placeholders_;
  Names known_;  // attribute -> its placeholder
};

}  // namespace stator::expr
