#include "stator/runtime/rules/migration_notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/base/log.h"

namespace stator::runtime {
namespace {

constexpr std::string_view kDenied = "AccessDeniedException";

using value::AttributeValue;
using value::Item;

const Item* map_in(const Item& row, std::string_view name) {
  const auto* content = row.find(name);
  return content != nullptr ? content->as_map() : nullptr;
}

}  // namespace

std::string consistency_table_name(std::string_view table) { return fmt::format("{}.consistency", table); }

Item primary_keys(const model::Model& model) {
  Item keys;
  for (const auto& entity : model.entities) {
    std::string text;
    for (const auto* key : {&model.table.partition, model.table.sort ? &*model.table.sort : nullptr}) {
      const auto* rule = key != nullptr ? entity.main().find_key(key->name) : nullptr;
      if (rule == nullptr) continue;
      text += key->name;
      for (const auto& alternative : rule->alternatives) text += fmt::format("={}", alternative.text.text());
      text += '\n';
    }
    keys.set(entity.name, AttributeValue::string(text));
  }
  return keys;
}

// -------------------------------------------------------------------------------------------------------- announcement

Item Announcement::to_row() const {
  Item row{{"Keys", AttributeValue(keys)}};
  if (moving) row.set("Moving", AttributeValue::boolean(true));
  Item entities;
  for (const auto& [entity, keys_added] : added) entities.set(entity, AttributeValue(keys_added.to_item()));
  if (!entities.empty()) row.set("Added", AttributeValue(std::move(entities)));
  return row;
}

Result<Announcement> Announcement::from_row(const Item& row) {
  Announcement announcement;
  if (const auto* keys = map_in(row, "Keys")) announcement.keys = *keys;
  const auto* moving = row.find("Moving");
  announcement.moving = moving != nullptr && moving->as_bool() != nullptr && *moving->as_bool();
  const auto* added = map_in(row, "Added");
  for (const auto& [entity, content] : added != nullptr ? *added : Item()) {
    const auto* item = content.as_map();
    announcement.added.emplace(entity, TRY(model::AddedKeys::from_item(item != nullptr ? *item : Item())));
  }
  return announcement;
}

// -------------------------------------------------------------------------------------------------------------- notice

MigrationNotice::MigrationNotice(const model::Model& model, client::Client& client, Random& random, const Clock& clock)
    : model_(model),
      table_(consistency_table_name(model.table.name)),
      keys_(primary_keys(model)),
      dynamo_(client, random, clock) {}

Result<MigrationNotice::Shared, Problem> MigrationNotice::look() {
  {
    MutexLock lock(mutex_);
    const auto age = dynamo_.clock().steady_now() - asked_;
    const bool good = view_ != nullptr && age < kLease;
    // While the view is still good, one caller reads it again, and the others go on.
    if (good && (age < kLease / 2 || asking_)) return view_;
    asking_ = true;
  }
  auto view = read();
  MutexLock lock(mutex_);
  asking_ = false;
  const bool good = view_ != nullptr && dynamo_.clock().steady_now() - asked_ < kLease;
  return view || !good ? std::move(view) : Result<Shared, Problem>(view_);
}

Result<MigrationNotice::Shared, Problem> MigrationNotice::read() {
  const auto asked = dynamo_.clock().steady_now();
  auto found =
      dynamo_.get(table_, {{"Model", AttributeValue::string(model_.name)}, {"Row", AttributeValue::string(kHoldRow)}});
  // Nothing has ever been announced where there is no such table.
  const auto unknown = found ? std::string() : found.error().code;
  if (!found && unknown != "ResourceNotFoundException" && unknown != kDenied) return Problem(found.error());
  const auto row = found ? std::move(*found) : std::nullopt;
  {
    MutexLock lock(mutex_);
    if (unknown == kDenied && view_ == nullptr) {
      log::warning("migration_notice_denied",
                   {{"table", table_}, {"reason", "this program may not read it, so it learns of no migration"}});
    }
    if (view_ != nullptr && row_ == row) {
      asked_ = std::max(asked_, asked);
      return view_;
    }
  }
  auto view = TRY(view_of(row));
  MutexLock lock(mutex_);
  if (view_ != nullptr && asked < asked_) return view_;  // somebody has read it later
  view_ = std::move(view);
  row_ = row;
  asked_ = asked;
  return view_;
}

Result<MigrationNotice::Shared, Problem> MigrationNotice::view_of(const std::optional<Item>& row) const {
  const auto announcement = Announcement::from_row(row ? *row : Item());
  if (!announcement) {
    return Problem{
        .kind = ProblemKind::Unavailable, .code = "Migrating", .message = announcement.error().message, .details = {}};
  }
  Item moving;
  for (const auto& [entity, key] : announcement->keys) {
    const auto* ours = keys_.find(entity);
    if (ours == nullptr) continue;
    const bool lies_elsewhere = *ours != key;
    if (announcement->moving || lies_elsewhere) moving.set(entity, AttributeValue::boolean(announcement->moving));
  }
  return std::make_shared<const View>(View{.rules = Rules(model_, announcement->added), .moving = std::move(moving)});
}

Result<void, Problem> MigrationNotice::View::check(const std::set<const model::Entity*>& looked_at) const {
  if (moving.empty()) return {};
  for (const auto* entity : looked_at) {
    const auto* found = moving.find(entity->name);
    if (found == nullptr) continue;
    const bool under_way = *found->as_bool();
    return Problem{.kind = ProblemKind::Unavailable,
                   .code = under_way ? "Moving" : "Moved",
                   .message = under_way ? fmt::format("{} is being moved to other keys; try again", entity->name)
                                        : fmt::format("{} was moved to other keys, which this program does not know; "
                                                      "it must be replaced by one of the new model",
                                                      entity->name),
                   .details = {}};
  }
  return {};
}

}  // namespace stator::runtime
