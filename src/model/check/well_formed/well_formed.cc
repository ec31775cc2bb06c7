#include "stator/model/check/well_formed/well_formed.h"

#include "stator/model/next_place.h"

namespace stator::model {

void check_orders(const Model& model, Report& report) {
  for (const auto& entity : model.entities) {
    for (const auto& attribute : entity.attributes) {
      if (!attribute.next || attribute.next->order == nullptr) continue;
      if (const auto place = next_place(model, entity, attribute); !place)
        report.error(attribute.next->position, "wrong-order", place.error().message);
    }
  }
}

void check_well_formed(const Model& model, Report& report) {
  check_entities(model, report);
  check_operations(model, report);
  check_cycles(model, report);
  check_table(model, report);
  check_routes(model, report);
  check_orders(model, report);
}

}  // namespace stator::model
