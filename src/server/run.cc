#include "stator/server/run.h"

namespace stator::server {

Result<void> run_server(const Config& config, Mode mode) {
  if (auto checked = check_config(config, mode); !checked) return checked;
  return Error{ErrorCode::Unsupported, "this build has no database in it yet"};
}

}  // namespace stator::server
