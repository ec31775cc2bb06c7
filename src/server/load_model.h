#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stator/base/result.h"
#include "stator/model/check/load.h"
#include "stator/model/model.h"
#include "stator/model/report.h"

namespace stator::server {

// The model of the system of that name that comes with Stator, or else of the file of that name.
model::Loaded load_model(const std::string& name_or_file);
// The same in two steps: a report about the file of the model, and the model if there was no error.
model::Report report_on(const std::string& name_or_file);
std::optional<model::Model> load_model(const std::string& name_or_file, model::Report& report);

// The same, to be served.  Errors: Usage (the message has one line for each error in the model).
Result<std::shared_ptr<const model::Model>> load_model_to_serve(const std::string& name_or_file);

// The YAML of such a model.  Errors: Usage.
Result<std::string> model_source(const std::string& name_or_file);

}  // namespace stator::server
