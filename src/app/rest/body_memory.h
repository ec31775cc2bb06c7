#pragma once

#include <cstddef>
#include <string_view>

// What bodies take of the memory that requests may make the server hold.
namespace stator::app {

// About how much a JSON body takes once it is values on their way into the database: each is there several times, as
// what was read, as the row before and after, and as the request to the database.  Never less than it takes.
std::size_t bytes_of_values(std::string_view json);
std::size_t bytes_of_values(std::size_t json_bytes, std::size_t values);

}  // namespace stator::app
