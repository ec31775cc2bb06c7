#include "stator/app/rest/routes/list_name.h"

namespace stator::app {

Result<std::optional<runtime::PageEnd>, runtime::Problem> ListName::start(const value::Item& inputs) const {
  const auto token = inputs.text("nextToken");
  if (token.empty()) return std::optional<runtime::PageEnd>();
  auto end = parts.page_tokens.open(token, {.system = parts.repository.model().name,
                                            .pattern = action,
                                            .parameters = parameters,
                                            .subject = caller.subject});
  if (end) return std::optional(std::move(*end));
  return runtime::Problem{.kind = runtime::ProblemKind::Invalid,
                          .code = "Invalid",
                          .message = "nextToken " + end.error().message,
                          .details = {{.attribute = "nextToken", .problem = end.error().message}}};
}

std::string ListName::token(const runtime::PageEnd& end) const {
  return parts.page_tokens.seal(end, {.system = parts.repository.model().name,
                                      .pattern = action,
                                      .parameters = parameters,
                                      .subject = caller.subject});
}

}  // namespace stator::app
