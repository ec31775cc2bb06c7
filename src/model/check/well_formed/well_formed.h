#pragma once

#include "stator/model/model.h"
#include "stator/model/report.h"

namespace stator::model {

// What the language asks of every model, beyond its words and names: a model that breaks one of these rules is not
// loaded. check.h has the rules about a good design.
void check_well_formed(const Model& model, Report& report);

// The groups of these rules, each in its file.
void check_table(const Model& model, Report& report);       // keys of the table and of indexes, types of rows
void check_entities(const Model& model, Report& report);    // attributes against keys, relations that restrict
void check_operations(const Model& model, Report& report);  // parameters of patterns, steps of actions
void check_cycles(const Model& model,
                  Report& report);                      // attributes that are computed from themselves
void check_routes(const Model& model, Report& report);  // two constructs that answer the same requests
void check_orders(const Model& model, Report& report);  // numbers of an order, and numbers that a parent gives

}  // namespace stator::model
