#include <fmt/format.h>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/precondition.h"
#include "stator/app/rest/routes/routes.h"

namespace stator::app {

void redact(const Additions& additions, runtime::Object& object, const runtime::Caller& caller) {
  if (!additions.redact) return;
  additions.redact(object, caller);
  for (auto& nested : object.nested) redact(additions, nested, caller);
  for (auto& [name, joined] : object.joined) redact(additions, joined, caller);
}

http::Response object_answer(const RouteContext& system, int status, runtime::Object object, const RestCall& call) {
  redact(system.additions, object, call.caller());
  auto response = json_answer(status, {});
  const auto etag = etag_of(object);
  if (!etag.empty()) response.headers += fmt::format("ETag: {}\r\n", etag);
  if (const auto path = path_of(object); status == 201 && !path.empty()) {
    response.headers += fmt::format("Location: {}{}\r\n", system.prefix, path);
  }
  const bool reading = call.request.method == "GET" || call.request.method == "HEAD";
  // A version counts what users change.  An entity with attributes that drift changes without a new version.
  const bool same = !etag.empty() && has_already(call.request, etag) && !object.entity->drifts();
  if (reading && same) {
    response.status = 304;
    return response;
  }
  append_object(response.body, system.model.table, object);
  return response;
}

}  // namespace stator::app
