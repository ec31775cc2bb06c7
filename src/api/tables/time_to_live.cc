// DescribeTimeToLive and UpdateTimeToLive.
#include <fmt/format.h>

#include "stator/api/functions.h"
#include "stator/api/tables/table_description.h"
#include "stator/api/tables/table_name.h"

namespace stator::api {
namespace {

Result<engine::Table> apply(engine::Table table, const TimeToLiveSpecification& asked) {
  if (!asked.enabled && !table.ttl_attribute) return validation_error("TimeToLive is already disabled");
  if (table.ttl_attribute && *table.ttl_attribute != asked.attribute) {
    return validation_error(fmt::format(
        "TimeToLive is active on a different AttributeName: current AttributeName is {}", *table.ttl_attribute));
  }
  if (asked.enabled && table.ttl_attribute) return validation_error("TimeToLive is already enabled");
  table.ttl_attribute = asked.enabled ? std::optional(asked.attribute) : std::nullopt;
  return table;
}

}  // namespace

Result<DescribeTimeToLiveAnswer> run(CallContext& call, const DescribeTimeToLiveRequest& request) {
  const auto table = TRY(find_described_table(call, request.table));
  return DescribeTimeToLiveAnswer{
      {.status = table->ttl_attribute ? "ENABLED" : "DISABLED", .attribute = table->ttl_attribute}};
}

void run(CallContext call, UpdateTimeToLiveRequest request, Done<UpdateTimeToLiveAnswer> done) {
  const auto name = table_name(request.table);
  if (!name) return done(call, to_fault(name.error()));
  auto& engine = call.engine();
  engine.update_table(
      std::string(*name),
      [asked = request.time_to_live](engine::Table table) { return apply(std::move(table), asked); },
      [asked = request.time_to_live, call = std::move(call),
       done = std::move(done)](Result<engine::TablePtr> updated) mutable {
        if (!updated) return done(call, to_fault(updated.error()));
        call.about_table((*updated)->name);
        done(call, UpdateTimeToLiveAnswer{std::move(asked)});
      });
}

}  // namespace stator::api
