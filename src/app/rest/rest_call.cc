#include "stator/app/rest/rest_call.h"

namespace stator::app {

const runtime::Caller& RestCall::caller_of(const TokenUser* user) {
  static const runtime::Caller nobody;
  return user != nullptr ? user->caller : nobody;
}

}  // namespace stator::app
