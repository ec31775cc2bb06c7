#pragma once

#include <string_view>

#include "stator/api/operation.h"

namespace stator::api {

// Operations of features that Stator does not have: backups, point-in-time recovery, exports and imports, bulk
// operations, global tables, replica auto scaling, Kinesis destinations, contributor insights, resource policies,
// vector indexes.
//
// Describing and listing answer as the service does where such a feature was never turned on; so does a change that
// could only fail there.  Turning one on is refused, never accepted and ignored.
//
// The operation by its name, or nullptr.
OperationFunction absent_feature(std::string_view name);

}  // namespace stator::api
