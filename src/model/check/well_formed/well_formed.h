#pragma once

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {

// What the language asks of every model, beyond its words and names: a model that breaks one of these rules is not
// loaded.  check.h has the rules about a good design.
//
// `syntax` is what resolve() has left of it: the names, with their places.  In a model with unknown names, pointers may
// be null; what depends on these is not judged.
void check_well_formed(const Syntax& syntax, const Model& model, Report& report);

// The groups of these rules, each in its file.
void check_table(const Model& model, Report& report);  // keys of the table and of indexes, types of rows
void check_entities(const Syntax& syntax, const Model& model, Report& report);    // attributes against keys, paths
void check_relations(const Syntax& syntax, const Model& model, Report& report);   // parents, copies, counts and sums
void check_stored(const Syntax& syntax, const Model& model, Report& report);      // what is read again is stored
void check_grants(const Model& model, Report& report);                            // what grants give
void check_operations(const Syntax& syntax, const Model& model, Report& report);  // patterns, and names of actions
void check_steps(const Syntax& syntax, const Model& model, Report& report);       // steps of actions
void check_cycles(const Model& model, Report& report);  // attributes that are computed from themselves
void check_routes(const Model& model, Report& report);  // two constructs that answer the same requests
void check_orders(const Model& model, Report& report);  // numbers of an order, and numbers that a parent gives

// Whether `names` give an attribute that names an entity: it is among them, or all that it is derived from; or it is
// the owner, who is the caller.
bool gives(const std::vector<std::string_view>& names, const Entity& entity, std::string_view attribute);

}  // namespace stator::model
