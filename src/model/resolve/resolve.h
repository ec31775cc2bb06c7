#pragma once

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {

// The model that `syntax` describes, the second stage of the compiler: names become pointers, and what follows from
// them is derived once (the attributes a relation goes by, types of copies, parameters and inputs, access, the ends of
// ranges).  Reports names that nothing has, and uses of what they stand for that cannot be.
Model resolve(Syntax syntax, std::string file, Report& report);

}  // namespace stator::model
