#pragma once

#include <string_view>
#include <vector>

namespace stator::systems {

// The files of a system, as the build put them into the binary.
struct SystemText {
  std::string_view name;
  std::string_view model;   // model.yaml
  std::string_view sample;  // sample.yaml
};
extern const std::vector<SystemText> kSystemTexts;

}  // namespace stator::systems
