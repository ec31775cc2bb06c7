#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stator/app/rest/routes/router.h"
#include "stator/model/model.h"
#include "stator/value/json.h"

namespace stator::app {

// One method on one path, as OpenAPI sees it.  Routes that only their query strings tell apart are one operation there.
struct OpenApiOperation {
  // As JSON.  Several: it is any of them.
  using Schemas = std::vector<std::string>;

  struct Parameter {
    std::string in, name, description;
    bool required = false;
    Schemas schemas;
    std::vector<std::string> words;  // that routes expect literally
    std::vector<std::string> of;     // the labels of the routes that have it
  };
  struct Body {
    bool required = false;
    std::map<std::string, Schemas> content;  // by media type; no schema: anything
  };
  struct Answer {
    std::string description;
    std::string type;  // of its content
    Schemas schemas;   // none: it has no content
  };
  // One of the routes that the query string selects.
  struct Choice {
    std::string query, label, description;
  };

  std::string id, summary, tag;
  std::vector<Choice> choices;                  // one per route
  bool all_public = false, any_public = false;  // of its routes
  std::vector<Parameter> parameters;
  std::optional<Body> body;
  std::map<std::string, Answer> answers;  // by status
};

// `names`: the names of the captures in the path. The route may have other names for them.
OpenApiOperation describe(const model::Model& model, const Route& route, const std::vector<std::string>& names);

// Adds the routes of `more` to `operation`, which has the same method and path.
void merge(OpenApiOperation& operation, OpenApiOperation more);

void write_operation(value::JsonWriter& json, const OpenApiOperation& operation);

}  // namespace stator::app
