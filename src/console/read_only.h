#pragma once

#include <string_view>

namespace stator::console {

// Whether a request of the DynamoDB API changes nothing: by its operation and, where that runs PartiQL, by its
// statements, each of which must be a SELECT.
bool reads_only(std::string_view operation, std::string_view body);

}  // namespace stator::console
