#pragma once

#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {

// The second stage of the compiler makes the model that `syntax` describes.  Names become pointers.  Facts that follow
// from names are derived once: the identity of an entity, the attributes of a relation, the types of copies, parameters
// and inputs, access, the ends of ranges, and the members that model.h calls derived.  Reports only names and paths
// that do not exist.
//
// The parts of the model are moved out of `syntax`.  Names and their places stay, for the judgements in check/, and
// `paths` are added.
Model resolve(Syntax& syntax, std::string file, Report& report);

}  // namespace stator::model
