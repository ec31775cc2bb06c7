#pragma once

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {

// The model that `syntax` describes, the second stage of the compiler: names become pointers, and what follows from
// them is derived once (what names an entity, the attributes a relation goes by, types of copies, parameters and
// inputs, access, the ends of ranges, what model.h calls derived).  Reports names and paths that nothing has, and
// nothing else.
//
// The parts of the model are moved out of `syntax`.  Names and their places stay, for the judgements in check/.
Model resolve(Syntax& syntax, std::string file, Report& report);

}  // namespace stator::model
