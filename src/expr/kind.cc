#include "stator/expr/kind.h"

#include "stator/base/assert.h"

namespace stator::expr {

std::string_view parameter_name(Kind kind) {
  switch (kind) {
    case Kind::Condition: return "ConditionExpression";
    case Kind::Filter: return "FilterExpression";
    case Kind::KeyCondition: return "KeyConditionExpression";
    case Kind::Projection: return "ProjectionExpression";
    case Kind::Update: return "UpdateExpression";
  }
  STATOR_ASSERT(false, "every kind has a name");
}

}  // namespace stator::expr
