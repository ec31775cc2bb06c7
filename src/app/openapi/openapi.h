#pragma once

#include <string>
#include <string_view>

#include "stator/app/rest/routes/router.h"
#include "stator/model/model.h"

namespace stator::app {

// The routes of a system as an OpenAPI 3.1 document.  `prefix` is where they are: "/systems/books/v1".
std::string openapi_document(const model::Model& model, const Router& router, std::string_view prefix);

// A page that reads the document and lets a person try the routes.  It loads nothing from elsewhere.
extern const std::string_view kTryPage;

}  // namespace stator::app
