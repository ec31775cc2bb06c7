#include "stator/systems/shops/public_suffix.h"

#include <libpsl.h>

namespace stator::systems::shops {

bool is_public_suffix(const std::string& domain) { return psl_is_public_suffix(psl_builtin(), domain.c_str()) == 1; }

}  // namespace stator::systems::shops
