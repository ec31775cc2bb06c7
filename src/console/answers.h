#pragma once

#include <string>
#include <string_view>

#include "stator/http/message/message.h"

// The answers of the console's endpoints.
namespace stator::console {

http::Response text_answer(int status, std::string_view body);
// Never kept by a browser: it is about data.
http::Response json_answer(std::string body);
http::Response empty_answer();  // 204
// {"__type": "...", "message": "..."}: the form in which the API tells its errors, so that the page has one way to read
// them.
http::Response refusal(int status, std::string_view type, std::string_view message);

// The refusals that several endpoints share.
http::Response bad_request(std::string_view message);  // 400 ValidationException
http::Response not_there(std::string_view message);    // 404 ResourceNotFoundException
http::Response forbidden(std::string_view message);    // 403 AccessDeniedException
http::Response wrong_method();                         // 405

}  // namespace stator::console
