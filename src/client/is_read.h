#pragma once

#include <string_view>

namespace stator::client {

// Whether an operation changes nothing, by its name.  Of those that run PartiQL this is not known: false.
inline bool is_read(std::string_view operation) {
  return operation == "Query" || operation == "Scan" || operation == "BatchGetItem" ||
         operation == "TransactGetItems" || operation.starts_with("Get") || operation.starts_with("List") ||
         operation.starts_with("Describe");
}

}  // namespace stator::client
