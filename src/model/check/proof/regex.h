#pragma once

#include <optional>
#include <string_view>

#include "stator/model/check/proof/language.h"

namespace stator::model {

// The texts that a regular expression of RE2 matches as a whole.  nullopt for what is rarely used in a model and not
// read here: flags, Unicode classes, word boundaries, more than 128 atoms.  A long repetition is taken for an endless
// one, so that the answer may be too large, never too small.
std::optional<Language> regex_language(std::string_view pattern, Steps& steps);

}  // namespace stator::model
