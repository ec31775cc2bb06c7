#include "stator/api/functions.h"

namespace stator::api {
namespace {

constexpr std::int64_t kMaxNames = 100;

}  // namespace

Result<ListTablesAnswer> run(CallContext& call, const ListTablesRequest& request) {
  const auto limit = static_cast<std::size_t>(request.limit.value_or(kMaxNames));
  // One more than asked for tells whether there is more.
  ListTablesAnswer answer{.names = call.engine().catalog().names_after(request.after.value_or(""), limit + 1)};
  if (answer.names.size() > limit) {
    answer.names.pop_back();
    answer.last_name = answer.names.back();
  }
  return answer;
}

}  // namespace stator::api
