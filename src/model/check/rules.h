#pragma once

#include "stator/model/check/findings.h"
#include "stator/model/model.h"
#include "stator/model/report.h"

// The groups of rules of the checker, each in its file.
namespace stator::model {

void check_keys(const Model& model, Findings& findings);      // possible keys: collisions, forgeries, order, length
void check_identity(const Model& model, Report& findings);    // whether a key names one entity for its life
void check_partitions(const Model& model, Report& findings);  // how rows spread
void check_patterns(const Model& model, Findings& findings);  // the rows that patterns read
void check_access(const Model& model, Report& findings);   // access, and whether anybody can create, delete and restore
void check_numbers(const Model& model, Report& findings);  // numbers that are given
void check_rules(const Model& model, Report& findings);    // relations, counters, copies, transactions, the stream

}  // namespace stator::model
