#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stator/base/memory_budget.h"
#include "stator/base/result.h"

// What bodies take of the memory that requests may make the server hold.
namespace stator::app {

// A body decompressed, followed by http::kBodyPadding readable bytes; `claim` holds what it takes.  Errors: those of
// http::decode_content(), and Busy when there is no room.
Result<std::string> inflate_body(std::string_view content_encoding, std::string_view body, std::size_t max_bytes,
                                 MemoryClaim& claim);

// About how much a JSON body takes once it is values on their way into the database: each is there several times, as
// what was read, as the row before and after, and as the request to the database.  Never less than it takes.
std::size_t bytes_of_values(std::string_view json);
std::size_t bytes_of_values(std::size_t json_bytes, std::size_t values);

}  // namespace stator::app
