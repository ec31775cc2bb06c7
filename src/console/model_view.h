#pragma once

#include <string>
#include <string_view>

#include "stator/model/check/check.h"
#include "stator/model/check/load.h"
#include "stator/model/diagnostic.h"
#include "stator/model/model.h"
#include "stator/value/json.h"

// A model as the console shows it: as JSON that a page can draw without knowing the language.
namespace stator::console {

// "Media library" of "media-library".
std::string title_of(std::string_view name);

// [{"severity", "rule", "message", "line", "column", "entity"?, "pattern"?, "accepted", ...}]
void write_findings(value::JsonWriter& json, const model::Diagnostics& findings, const model::Model* model);

// The table, entities, patterns, actions, relations and findings.
void write_model(value::JsonWriter& json, const model::Model& model, const model::Diagnostics& findings);

// The diagnostics of loading a text, and the checker's findings if there is a model, in the order of the file.
model::Diagnostics all_findings(const model::Loaded& loaded, const model::CheckLimits& limits);

// The members that GET /console/models/{name} and POST /console/models/check share: ok, findings, model, document and
// costs.  Begins no object and ends none.
void write_checked(value::JsonWriter& json, const model::Model* model, const model::Diagnostics& findings);

}  // namespace stator::console
