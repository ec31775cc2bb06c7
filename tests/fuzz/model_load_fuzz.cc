// Feeds arbitrary text to the loader of models: never a crash, a diagnostic whenever there is no model, and every name
// of a loaded model leads somewhere.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stator/model/check/load.h"

namespace {

using namespace stator::model;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto loaded = load_model(std::string_view(reinterpret_cast<const char*>(data), size), "model.yaml");
  require(loaded.model.has_value() == !has_errors(loaded.diagnostics));
  if (!loaded.model) return 0;
  const Model& model = *loaded.model;
  for (const auto& entity : model.entities) {
    require(!entity.records.empty());
    for (const auto& parent : entity.parents) {
      require(parent.to != nullptr && parent.to == model.find_entity(parent.entity));
      for (const auto& [theirs, own] : parent.by) require(entity.find_attribute(own) != nullptr);
    }
  }
  for (const auto& pattern : model.patterns) {
    require(pattern.index == nullptr || model.table.find_index(pattern.index->name) == pattern.index);
    for (const auto& returned : pattern.returns)
      require(returned.entity != nullptr && returned.entity->find_record(returned.record->name) == returned.record);
  }
  return 0;
}
