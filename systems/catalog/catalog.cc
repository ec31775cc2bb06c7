#include "stator/systems/catalog/catalog.h"

#include <algorithm>
#include <map>

#include "stator/systems/book-tracker/extension.h"
#include "stator/systems/catalog/texts.h"
#include "stator/systems/media-library/extension.h"
#include "stator/systems/shops/extension.h"
#include "stator/systems/stories/extension.h"
#include "stator/systems/worthwatch/extension.h"

namespace stator::systems {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& text : kSystemTexts) names.emplace_back(text.name);
  return names;
}

bool is_built_in(std::string_view name) {
  return std::ranges::find(kSystemTexts, name, &SystemText::name) != kSystemTexts.end();
}

std::optional<std::string_view> model_text(std::string_view name) {
  const auto text = std::ranges::find(kSystemTexts, name, &SystemText::name);
  return text == kSystemTexts.end() ? std::nullopt : std::optional(text->model);
}

namespace {

// Whether native actions that were written for one model also work with the other.
bool has_all_of(const model::Model& model, const model::Model& built_in) {
  const auto has_attributes = [](const model::Entity& entity, const model::Entity& original) {
    return std::ranges::all_of(original.attributes, [&](const model::Attribute& attribute) {
      return entity.find_attribute(attribute.name) != nullptr;
    });
  };
  return std::ranges::all_of(built_in.entities,
                             [&](const model::Entity& original) {
                               const auto* entity = model.find_entity(original.name);
                               return entity != nullptr && has_attributes(*entity, original);
                             }) &&
         std::ranges::all_of(
             built_in.patterns,
             [&](const model::Pattern& pattern) { return model.find_pattern(pattern.name) != nullptr; }) &&
         std::ranges::all_of(built_in.actions,
                             [&](const model::Action& action) { return model.find_action(action.name) != nullptr; });
}

}  // namespace

app::Extension extension_of(const model::Model& model, const model::Model& built_in) {
  static const std::map<std::string_view, app::Extension> kExtensions = {
      {"book-tracker", book_tracker::extension},
      {"media-library", media_library::extension},
      {"shops", shops::extension},
      {"stories", stories::extension},
      {"worthwatch", worthwatch::extension},
  };
  const auto found = kExtensions.find(model.name);
  return found != kExtensions.end() && has_all_of(model, built_in) ? found->second : nullptr;
}

}  // namespace stator::systems
