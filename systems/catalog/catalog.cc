#include "stator/systems/catalog/catalog.h"

#include <fmt/format.h>

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

model::Loaded load_model(const std::string& name_or_file) {
  const auto text = std::ranges::find(kSystemTexts, name_or_file, &SystemText::name);
  if (text == kSystemTexts.end()) return model::load_model_file(name_or_file);
  return model::load_model(text->model, fmt::format("{}/model.yaml", text->name));
}

app::Extension extension_of(std::string_view model_name) {
  static const std::map<std::string_view, app::Extension> kExtensions = {
      {"book-tracker", book_tracker::extension},
      {"media-library", media_library::extension},
      {"shops", shops::extension},
      {"stories", stories::extension},
      {"worthwatch", worthwatch::extension},
  };
  const auto found = kExtensions.find(model_name);
  return found != kExtensions.end() ? found->second : nullptr;
}

}  // namespace stator::systems
