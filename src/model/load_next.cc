#include <fmt/format.h>

#include "stator/model/loading.h"
#include "stator/model/next_place.h"

namespace stator::model {
namespace {

constexpr std::int64_t kLargestStep = 1'000'000'000'000;

}  // namespace

void load_next(const YamlNode& node, Attribute& attribute, Report& report) {
  Words words(node, "next", report);
  Next next;
  if (const YamlNode* in = words.need("in")) {
    if (const auto pattern = read_text(*in, "a pattern", report)) {
      next.pattern = pattern->text;
      next.position = pattern->position;
    }
  }
  if (const YamlNode* step = words.find("step"))
    next.step = read_integer(*step, "step", {.min = 1, .max = kLargestStep}, report).value_or(1);
  words.done();
  attribute.next = std::move(next);
}

void check_next(Loading& loading) {
  const Model& model = loading.model;
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) {
      if (!attribute.next || attribute.next->pattern.empty()) continue;
      const auto& [pattern, step, position] = *attribute.next;
      if (model.find_pattern(pattern) == nullptr) {
        loading.report.unknown(position, "unknown-pattern", fmt::format("there is no pattern {}", pattern), pattern,
                               names_of(model.patterns));
      } else if (const auto place = next_place(model, entity, attribute); !place) {
        loading.report.error(position, "wrong-order", place.error().message);
      }
    }
  }
}

}  // namespace stator::model
