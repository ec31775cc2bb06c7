#pragma once

#include <string>

#include "stator/console/live_requests.h"

namespace stator::console {

// GET /console/live.
std::string live_json(const LiveRequests::News& news, bool with_bodies);

}  // namespace stator::console
