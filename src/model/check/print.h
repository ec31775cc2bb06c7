#pragma once

#include <string>
#include <vector>

#include "stator/model/check/cost.h"
#include "stator/model/diagnostic.h"

// Findings and costs as text for people and as JSON for programs.
namespace stator::model {

//   media.yaml:12:5: error[over-read]: its key condition also matches EVENT, ...
//       on: items_in_library
//       for example: ...
//       fix: ...
std::string to_text(const Diagnostic& diagnostic);

// An array of objects with severity, code, file, line, column, subject, message, witness, fix, accepted.
std::string to_json(const Diagnostics& diagnostics);

// Tables of the costs of reads, of writes, and of the copies that follow a change.
std::string to_text(const std::vector<PatternCost>& reads, const std::vector<WriteCost>& writes,
                    const std::vector<CopyCost>& copies);
std::string to_json(const std::vector<PatternCost>& reads, const std::vector<WriteCost>& writes,
                    const std::vector<CopyCost>& copies);

}  // namespace stator::model
