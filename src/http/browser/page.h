#pragma once

#include <string_view>

#include "stator/http/message/message.h"

namespace stator::http {

// A page of our own that is one document: nothing is loaded from elsewhere, and no other page may frame it.
Response page_answer(std::string_view html);

}  // namespace stator::http
