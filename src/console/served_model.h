#pragma once

#include <memory>
#include <string>

#include "stator/app/rest/system.h"
#include "stator/runtime/consistency/consistency_manager.h"

namespace stator::console {

// A model that this process serves.
struct ServedModel {
  app::System* system = nullptr;
  runtime::ConsistencyManager* manager = nullptr;  // null: it needs none
  std::string source;                              // YAML
  bool built_in = false;

  const model::Model& model() const { return system->model(); }
};

// The rights of the session behind a request.
struct Rights {
  bool write = false;        // change data
  bool impersonate = false;  // run requests as any user
  bool elsewhere = false;    // let the server read other endpoints
};

}  // namespace stator::console
