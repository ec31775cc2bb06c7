#include "stator/api/capacity_report.h"
#include "stator/api/expressions.h"
#include "stator/api/legacy.h"
#include "stator/api/operation.h"
#include "stator/api/table_name.h"
#include "stator/engine/capacity.h"
#include "stator/engine/item_rules.h"

namespace stator::api {
namespace {

Result<std::string> run_get_item(OperationCall& call) {
  const auto& request = call.request();
  TRY(check_expression_parameters(request, {.expressions = {"ProjectionExpression"}, .legacy = {"AttributesToGet"}}));
  const auto key = TRY(value::decode_item(*request.element("Key")));
  auto projection = TRY(legacy_projection(request));
  if (const auto text = request.string("ProjectionExpression")) {
    auto binder = TRY(read_placeholders(request, call.expressions()));
    projection = TRY(binder.projection(*text));
    TRY(binder.check_all_used());
  }
  const auto table = TRY(find_table(call));
  TRY(engine::check_key(*table, key));
  const auto image = TRY(call.engine().get(*table, key));

  std::string body;
  if (image.exists()) body.reserve(image.stored().json().size() + 16);
  value::JsonWriter json(body);
  json.begin_object();
  if (image.exists() && projection) {
    json.key("Item").item(projection->apply(*TRY(image.item())));
  } else if (image.exists()) {
    json.key("Item").raw(image.stored().json());
  }
  if (const auto detail = capacity_detail(request); detail != CapacityDetail::None) {
    CapacityReport report(table);
    report.add_table(engine::read_units(image.size_bytes(), request.boolean("ConsistentRead").value_or(false)));
    write_capacity(json, report, detail);
  }
  json.end_object();
  return body;
}

}  // namespace

void get_item(OperationCall call) { immediate<run_get_item>(std::move(call)); }

}  // namespace stator::api
