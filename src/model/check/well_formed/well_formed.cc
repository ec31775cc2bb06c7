#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {

void check_well_formed(const Model& model, Report& report) {
  check_entities(model, report);
  check_operations(model, report);
  check_cycles(model, report);
  check_table(model, report);
  check_routes(model, report);
  check_orders(model, report);
}

}  // namespace stator::model
