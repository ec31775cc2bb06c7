#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stator/http/message/message.h"
#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository.h"

// Objects and problems as plain JSON, for answers.
namespace stator::app {

inline constexpr std::string_view kJsonType = "application/json";

runtime::Problem problem(runtime::ProblemKind kind, std::string_view code, std::string_view message);
runtime::Problem nothing_there();  // NotFound, of something that has no name

http::Response json_answer(int status, std::string body);
http::Response no_content();  // 204

// {"code": ..., "message": ..., "details": [{"attribute": ..., "problem": ...}]} with the status of its kind.  At most
// model::kMostProblems details; if there are more, "more" says how many.
http::Response problem_answer(const runtime::Problem& problem);

int status_of(runtime::ProblemKind kind);

// Attributes in the order of the model, hidden ones and keys left out; then the type and the version under the table's
// names for them, nested and joined objects, and `continued` where a parent's children began on an earlier page.
void append_object(std::string& out, const model::TableDesign& table, const runtime::Object& object);

// {"items": [...], "nextToken": "..."}; an empty token is left out.
std::string list_body(const model::TableDesign& table, const runtime::Page& page, std::string_view next_token);

// "7" with its quotes; empty for an object without a version.
std::string etag_of(const runtime::Object& object);

// The path of an entity with its attributes in place: "/books/42"; empty when it has none, or lacks one of them.
std::string path_of(const runtime::Object& object);

}  // namespace stator::app
