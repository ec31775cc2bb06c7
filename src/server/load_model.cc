#include "stator/server/load_model.h"

#include <fmt/format.h>

#include <utility>

#include "stator/systems/catalog/catalog.h"

namespace stator::server {

model::Loaded load_model(const std::string& name_or_file) {
  if (auto built_in = systems::load_built_in(name_or_file)) return std::move(*built_in);
  return model::load_model_file(name_or_file);
}

Result<std::shared_ptr<const model::Model>> load_model_to_serve(const std::string& name_or_file) {
  auto loaded = load_model(name_or_file);
  if (loaded.model) return std::make_shared<const model::Model>(std::move(*loaded.model));
  std::string errors;
  for (const auto& found : loaded.diagnostics) {
    if (found.severity != model::Severity::Error) continue;
    errors += fmt::format("\n  {}:{}:{}: {}", found.file, found.position.line, found.position.column, found.message);
  }
  return usage_error(fmt::format("{} cannot be served:{}", name_or_file, errors));
}

}  // namespace stator::server
