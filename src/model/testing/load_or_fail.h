#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "stator/model/check/load.h"

// For tests of everything that works on a model.
namespace stator::model {

// "model.yaml:3:7: error unknown-word: an entity has no word ownr (owner)", one line each.
inline std::string printed(const Diagnostics& diagnostics) {
  std::string text;
  for (const auto& d : diagnostics) {
    text += fmt::format("{}:{}:{}: {} {}: {}{}\n", d.file, d.position.line, d.position.column,
                        d.severity == Severity::Error ? "error" : "warning", d.code, d.message,
                        d.fix.empty() ? std::string() : fmt::format(" ({})", d.fix));
  }
  return text;
}

// The model in `yaml`.  Its diagnostics end the test.
inline Model load_or_fail(std::string_view yaml) {
  auto loaded = load_model(yaml, "model.yaml");
  if (loaded.model) return std::move(*loaded.model);
  ADD_FAILURE() << printed(loaded.diagnostics);
  throw std::runtime_error("a test's model does not load");
}

}  // namespace stator::model
