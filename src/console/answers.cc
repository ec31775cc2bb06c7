#include "stator/console/answers.h"

#include <utility>

#include "stator/value/json.h"

namespace stator::console {

http::Response text_answer(int status, std::string_view body) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::string(body)};
}

http::Response json_answer(std::string body) {
  return {.status = 200,
          .content_type = "application/json",
          .headers = "Cache-Control: no-store\r\n",
          .body = std::move(body)};
}

http::Response empty_answer() {
  return {.status = 204, .content_type = {}, .headers = "Cache-Control: no-store\r\n", .body = {}};
}

http::Response refusal(int status, std::string_view type, std::string_view message) {
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("__type").string(type).key("message").string(message).end_object();
  auto response = json_answer(std::move(body));
  response.status = status;
  return response;
}

http::Response bad_request(std::string_view message) { return refusal(400, "ValidationException", message); }
http::Response not_there(std::string_view message) { return refusal(404, "ResourceNotFoundException", message); }
http::Response forbidden(std::string_view message) { return refusal(403, "AccessDeniedException", message); }
http::Response wrong_method() { return text_answer(405, "Method not allowed\n"); }

}  // namespace stator::console
