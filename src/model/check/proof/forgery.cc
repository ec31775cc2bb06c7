#include "stator/model/check/proof/forgery.h"

#include "stator/base/article.h"
#include "stator/model/check/checked_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stator::model {
namespace {

// The forms through which `attribute` gets into a key as it is, and the others as they are.
KeyForms only_with_raw(const Entity& entity, const KeyForms& forms, const std::string& attribute, Steps& steps) {
  KeyForms kept;
  for (const auto& each : forms) {
    std::vector<KeyForm> raw;
    std::copy_if(each.begin(), each.end(), std::back_inserter(raw), [&](const KeyForm& form) {
      const auto names = raw_texts(entity, {form}, steps);
      return std::find(names.begin(), names.end(), attribute) != names.end();
    });
    kept.push_back(raw.empty() ? each : raw);
  }
  return kept;
}

}  // namespace

std::vector<Victim> victims(const Model& model, const DesignKey& space, Steps& steps) {
  std::vector<Victim> all;
  for (const auto& row : rows(model)) {
    const auto found = forms(model, row, space);
    if (!found) continue;
    all.push_back({.name = with_article(row.name()),
                   .keys = languages(*row.entity, *found, kOrdinary, steps),
                   .position = found->back().front().position});
  }
  if (space.index != nullptr) return all;
  for (const auto& entity : model.entities) {
    for (const auto& unique : entity.uniques) {
      Victim victim{.name = "a reservation of " + entity.name, .keys = {}, .position = unique.position};
      victim.keys = {form_language(entity, reservation_form(model, entity, unique), kOrdinary, steps)};
      if (!space.sort.empty()) victim.keys.push_back(reservation_sort());
      all.push_back(std::move(victim));
    }
  }
  return all;
}

std::vector<Forgery> forgeries(const Entity& forger, const KeyForms& forms, const std::vector<Victim>& victims,
                               Steps& steps) {
  std::vector<KeyForm> every_form;
  for (const auto& each : forms) every_form.insert(every_form.end(), each.begin(), each.end());
  std::vector<Forgery> all;
  for (const auto& attribute : raw_texts(forger, every_form, steps)) {
    // One caller gives all texts.
    const auto forged = languages(forger, only_with_raw(forger, forms, attribute, steps),
                                  {.text = Reading::Text::AsItIs, .forged = attribute}, steps);
    for (const auto& victim : victims) {
      auto key = common_key(forged, victim.keys, steps);
      if (!key) continue;
      all.push_back({.attribute = attribute, .victim = &victim, .key = std::move(*key)});
      break;
    }
  }
  return all;
}

}  // namespace stator::model
