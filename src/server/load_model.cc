#include "stator/server/load_model.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "stator/systems/catalog/catalog.h"

namespace stator::server {

model::Report report_on(const std::string& name_or_file) {
  const bool built_in = systems::is_built_in(name_or_file);
  return model::Report(built_in ? fmt::format("{}/model.yaml", name_or_file) : name_or_file);
}

std::optional<model::Model> load_model(const std::string& name_or_file, model::Report& report) {
  const auto text = systems::model_text(name_or_file);
  return text ? model::load_model(*text, report) : model::load_model_file(report);
}

model::Loaded load_model(const std::string& name_or_file) {
  auto report = report_on(name_or_file);
  auto model = load_model(name_or_file, report);
  return {.model = std::move(model), .diagnostics = std::move(report).take()};
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

Result<std::string> model_source(const std::string& name_or_file) {
  if (const auto text = systems::model_text(name_or_file)) return std::string(*text);
  std::ifstream file(name_or_file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) return usage_error(fmt::format("cannot read {}", name_or_file));
  return text;
}

}  // namespace stator::server
