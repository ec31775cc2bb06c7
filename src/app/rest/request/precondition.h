#pragma once

#include <string_view>

#include "stator/http/message/message.h"
#include "stator/runtime/repository.h"

// If-Match and If-None-Match (RFC 9110): lists of entity tags, or `*`.  A tag is the version in quotes; any
// other tag matches no version.
namespace stator::app {

// The precondition of a request that changes an entity.  If-Match compares strongly: W/"7" matches no version.
runtime::Precondition precondition_of(const http::Request& request);

// Whether If-None-Match has this tag, or any; W/"7" and "7" are the same to it.
bool has_already(const http::Request& request, std::string_view etag);

}  // namespace stator::app
