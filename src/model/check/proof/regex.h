#pragma once

#include <optional>
#include <string_view>

#include "stator/model/check/proof/language.h"

namespace stator::model {

// The texts that a regular expression of RE2 matches as a whole.  nullopt for parts that are rare in models and not
// supported here: flags, Unicode classes, word boundaries, more than 128 atoms.  A long repetition is taken for an
// endless one, so that the answer may be too large, never too small.
std::optional<Language> regex_language(std::string_view pattern, Steps& steps);

}  // namespace stator::model
