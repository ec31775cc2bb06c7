#include "stator/app/rest/rest_call.h"

namespace stator::app {

const runtime::Caller& RestCall::caller_of(const Identity* identity) {
  static const runtime::Caller nobody;
  return identity != nullptr ? identity->caller : nobody;
}

}  // namespace stator::app
