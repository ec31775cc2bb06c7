#pragma once

#include <cstddef>
#include <string_view>

// The memory that the bodies of requests need.
namespace stator::app {

// An upper bound for the memory of a JSON body while its values are written to the database.  Each value exists several
// times: as it was read, in the row before and after, and in the request to the database.
std::size_t bytes_of_values(std::string_view json);
std::size_t bytes_of_values(std::size_t json_bytes, std::size_t values);

}  // namespace stator::app
