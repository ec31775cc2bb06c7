#pragma once

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {

// The rules of the language for every model, beyond its words and names: a model that breaks one of these rules is not
// loaded.  check.h has the rules about a good design.
//
// resolve() has moved the parts of the model out of `syntax`; the names remain, with their places.  In a model with
// unknown names, pointers may be null; the rules skip the parts that depend on these.
void check_well_formed(const Syntax& syntax, const Model& model, Report& report);

// The groups of these rules, each in its file.
void check_table(const Syntax& syntax, const Model& model, Report& report);       // keys, indexes, types of rows
void check_words(const Syntax& syntax, const Model& model, Report& report);       // words that exclude each other
void check_values(const Syntax& syntax, const Model& model, Report& report);      // types, defaults, sources of values
void check_paths(const Syntax& syntax, Report& report);                           // address.city, tags[0]
void check_entities(const Syntax& syntax, const Model& model, Report& report);    // attributes against keys, paths
void check_relations(const Syntax& syntax, const Model& model, Report& report);   // parents, copies, counts and sums
void check_stored(const Syntax& syntax, const Model& model, Report& report);      // attributes to be read again
void check_grants(const Model& model, Report& report);                            // the attributes that grants give
void check_operations(const Syntax& syntax, const Model& model, Report& report);  // patterns, and names of actions
void check_steps(const Syntax& syntax, const Model& model, Report& report);       // steps of actions
void check_cycles(const Model& model, Report& report);  // attributes that are computed from themselves
void check_routes(const Model& model, Report& report);  // two constructs that answer the same requests
void check_orders(const Model& model, Report& report);  // numbers of an order, and numbers that a parent gives

// Whether `names` give an attribute that names an entity: it is among them, or all that it is derived from; or it is
// the owner: the caller.
bool gives(const std::vector<std::string_view>& names, const Entity& entity, std::string_view attribute);

}  // namespace stator::model
