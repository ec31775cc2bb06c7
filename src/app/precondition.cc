#include "stator/app/precondition.h"

#include <charconv>

namespace stator::app {

runtime::Outcome<std::optional<std::uint64_t>> expected_version(const http::Request& request) {
  auto text = request.header("If-Match");
  if (text.empty() || text == "*") return std::optional<std::uint64_t>();
  std::uint64_t version = 0;
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  if (quoted) text = text.substr(1, text.size() - 2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (!quoted || error != std::errc() || end != text.data() + text.size()) {
    return runtime::Problem{runtime::ProblemKind::PreconditionFailed,
                            "PreconditionFailed",
                            "If-Match is not the ETag of this",
                            {}};
  }
  return std::optional(version);
}

}  // namespace stator::app
