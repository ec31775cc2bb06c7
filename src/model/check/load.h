#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stator/model/diagnostic.h"
#include "stator/model/model.h"
#include "stator/model/report.h"

namespace stator::model {

// A model file, read.  `model` is there when no diagnostic is an error.
struct Loaded {
  std::optional<Model> model;
  Diagnostics diagnostics;
};

// Compiles YAML.  Everything that is wrong is reported at once, with its place: syntax, unknown and repeated words
// (with the nearest known one), wrong types, bad templates and expressions, names that nothing has.  Whether the design
// is sound is check.h's question.
//
// Bounds: 1 MB, nesting 32, 100,000 nodes; aliases and tags are refused.
Loaded load_model(std::string_view yaml, std::string file, WordListener listener = nullptr);
// The model, if there was no error; the file has the name that the report has.
std::optional<Model> load_model(std::string_view yaml, Report& report);
// Reads the file that the report is about.  Errors in reading it are reported, too.
std::optional<Model> load_model_file(Report& report);
Loaded load_model_file(const std::string& path);

}  // namespace stator::model
