#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"

// Other tools' designs as models of ours.
namespace stator::model::import {

struct Imported {
  std::string yaml;                // a model file; a part that could not be converted is a comment in its place
  std::vector<std::string> notes;  // parts that a person should check: the same comments, one by one
};

// A schema of DynamoDB OneTable, as JSON (`JSON.stringify(schema)`).  Models become entities; value templates `${name}`
// become key templates; generate, default, enum, required, unique, hidden, validate, nested schemas, ttl, indexes and
// their projections are taken over.  `name` is the model's and the table's name, which a schema does not have. Errors:
// Validation.
Result<Imported> import_onetable(std::string_view json, std::string_view name);

// A data model of NoSQL Workbench.  Facets become entities; aliases such as USER#<userId> become key templates;
// attributes without a known type get theirs from the table.  One table per file: `table` chooses when there are
// several, empty takes the only one. Errors: Validation.
Result<Imported> import_workbench(std::string_view json, std::string_view table);

}  // namespace stator::model::import
