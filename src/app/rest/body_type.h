#pragma once

#include <optional>

#include "stator/app/rest/router.h"
#include "stator/http/message.h"

namespace stator::app {

// 415, unless Content-Type is one that the route takes: those that its action accepts, or JSON.
std::optional<http::Response> refuse_body_type(const Route& route, const http::Request& head);

}  // namespace stator::app
