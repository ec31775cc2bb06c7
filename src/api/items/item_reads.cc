#include "stator/api/items/item_reads.h"

#include "stator/api/json/expressions.h"
#include "stator/api/json/legacy.h"

namespace stator::api {

Result<std::optional<expr::Projection>> decode_projection(const JsonMembers& json, expr::Cache& cache) {
  auto projection = TRY(legacy_projection(json));
  if (const auto text = json.string("ProjectionExpression")) {
    auto binder = TRY(read_placeholders(json, cache));
    projection = TRY(binder.projection(*text));
    TRY(binder.check_all_used());
  }
  return projection;
}

Result<value::StoredItem> projected(engine::ItemImage image, const std::optional<expr::Projection>& projection) {
  if (projection) return value::StoredItem::from(projection->apply(*TRY(image.item())));
  return std::move(image).take();
}

}  // namespace stator::api
