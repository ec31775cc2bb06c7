#pragma once

#include <string>
#include <vector>

#include "stator/model/check/cost.h"
#include "stator/model/diagnostic.h"

// What the checker has to say, for people and for programs.
namespace stator::model {

//   media.yaml:12:5: error[over-read]: its key condition also matches EVENT, ...
//       subject: items_in_library
//       witness: ...
//       fix: ...
std::string to_text(const Diagnostic& diagnostic);

// An array of objects with severity, code, file, line, column, subject, message, witness, fix, accepted.
std::string to_json(const Diagnostics& diagnostics);

// Two tables: what reading costs, and what writing costs.
std::string to_text(const std::vector<PatternCost>& reads, const std::vector<WriteCost>& writes);
std::string to_json(const std::vector<PatternCost>& reads, const std::vector<WriteCost>& writes);

}  // namespace stator::model
