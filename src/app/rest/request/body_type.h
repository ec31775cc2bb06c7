#pragma once

#include <optional>

#include "stator/app/rest/routes/router.h"
#include "stator/http/message/message.h"

namespace stator::app {

// 415, unless Content-Type is one that the route accepts: the types of its action, or JSON.
std::optional<http::Response> refuse_body_type(const Route& route, const http::Request& head);

}  // namespace stator::app
