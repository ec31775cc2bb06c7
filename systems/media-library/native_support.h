#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stator/app/rest/extension.h"
#include "stator/http/message/message.h"
#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

// Helpers of the native actions of the media library.
namespace stator::systems::media_library {

// The caller with all rights.  The app has checked that the real caller may see the entity that the action is `within`.
inline runtime::Caller the_service() { return {.subject = std::nullopt, .roles = {}, .system = true}; }

// The attributes of an item with these names, as far as it has them.
value::Item chosen(const value::Item& item, std::initializer_list<std::string_view> names);

http::Response object_answer(const model::TableDesign& table, const runtime::Object& object);

// The value of the input `limit`.
unsigned limit_of(const value::Item& inputs);

// One page of a pattern without a route, as the answer of an action with the inputs `limit` and `nextToken`.
Result<http::Response, runtime::Problem> list_answer(const app::ExtensionParts& parts, const app::NativeCall& call,
                                                     std::string_view pattern, const value::Item& parameters);

// The book or video with that id.  Problems: NotFound.
Result<runtime::Object, runtime::Problem> find_item(runtime::Repository& repository, const value::Item& naming);

}  // namespace stator::systems::media_library
