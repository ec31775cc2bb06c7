#include "stator/runtime/migration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "stator/runtime/change_follower.h"
#include "stator/runtime/consistency_manager.h"
#include "stator/runtime/consistency_table.h"
#include "stator/runtime/problems.h"
#include "stator/runtime/propagation.h"
#include "stator/runtime/verify.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::Index;
using model::Model;
using value::AttributeValue;
using value::Item;

constexpr std::chrono::milliseconds kIndexPoll{100};
constexpr unsigned kMaxPasses = 10;  // over a table that has no stream to follow

// ------------------------------------------------------------------------------------------------------------------ comparing

std::string text_of(const std::optional<model::Expression>& expression) { return expression ? expression->text() : ""; }

std::string describe(const std::vector<model::KeyAttribute>& keys) {
  std::string text;
  for (const auto& key : keys) text += fmt::format("{}:{} ", key.name, value::type_name(key.type));
  return text;
}

bool same_index(const Index& a, const Index& b) {
  auto included_a = a.included;
  auto included_b = b.included;
  std::sort(included_a.begin(), included_a.end());
  std::sort(included_b.begin(), included_b.end());
  return a.local == b.local && describe(a.partition) == describe(b.partition) && describe(a.sort) == describe(b.sort) &&
         a.projection == b.projection && included_a == included_b;
}

std::string describe(const model::Record& record) {
  std::string text =
      fmt::format("{} {} {} {}\n", record.name, record.type, text_of(record.when), text_of(record.expires));
  text += fmt::format("{}\n", fmt::join(record.attributes, ","));
  for (const auto& rule : record.keys) {
    text += rule.attribute;
    for (const auto& alternative : rule.alternatives) {
      text += fmt::format(" | {} {}", alternative.text.text(), text_of(alternative.when));
    }
    text += '\n';
  }
  return text;
}

std::string describe(const std::vector<model::Children>& children) {
  std::string text;
  for (const auto& of : children) text += fmt::format("{}.{} ", of.entity, of.relation);
  return text;
}

// Whether rows have to be looked at because of the attribute: it is computed, or filled in.
std::string describe(const model::Attribute& attribute) {
  std::string text;
  if (attribute.derived) text += "derived " + attribute.derived->text();
  if (attribute.count) text += "count " + describe(attribute.count->of);
  if (attribute.sum) text += "sum " + attribute.sum->attribute + describe(attribute.sum->of);
  if (attribute.copy_of)
    text += fmt::format("copy of {}.{}", attribute.copy_of->relation, attribute.copy_of->attribute);
  return text;
}

std::string describe(const model::Unique& unique) {
  return fmt::format("{} within {}{}", fmt::join(unique.attributes, "+"), fmt::join(unique.within, "+"),
                     unique.fold ? " folded" : "");
}

template <typename List>
std::string describe_all(const List& list) {
  std::string text;
  for (const auto& one : list) text += describe(one) + "\n";
  return text;
}

// Why the rows of an entity have to be rewritten; empty: they need not be.
std::vector<std::string> reasons(const Entity& from, const Entity& to) {
  std::vector<std::string> reasons;
  if (describe_all(from.records) != describe_all(to.records)) reasons.emplace_back("keys or records");
  for (const auto& attribute : to.attributes) {
    const auto* old = from.find_attribute(attribute.name);
    const auto was = old != nullptr ? describe(*old) : std::string();
    const auto is = describe(attribute);
    if (was != is && !is.empty()) reasons.push_back(fmt::format("{} is {}", attribute.name, is));
    if (old == nullptr && attribute.default_value) reasons.push_back(fmt::format("{} has a default", attribute.name));
  }
  if (describe_all(from.uniques) != describe_all(to.uniques)) reasons.emplace_back("unique values");
  if (!from.versioned && to.versioned) reasons.emplace_back("versions");
  return reasons;
}

// Values that rows have and the new model would not take: they stay, and are told.
void compare_values(const Entity& from, const Entity& to, MigrationPlan& plan) {
  const auto remark = [&](const std::string& name, std::string_view what) {
    plan.remarks.push_back(fmt::format("{}.{} {}", to.name, name, what));
  };
  for (const auto& attribute : to.attributes) {
    const auto* old = from.find_attribute(attribute.name);
    const bool new_here = old == nullptr && !attribute.computed();
    if (old != nullptr && old->type.kind != attribute.type.kind)
      remark(attribute.name, "is of another type; rows keep what they hold until it is changed");
    else if (old != nullptr && attribute.type.lower && !old->type.lower)
      remark(attribute.name, "is kept in lower case; rows keep what they hold until it is changed");
    const bool needed = attribute.required && !attribute.default_value && !attribute.next;
    if ((new_here || (old != nullptr && !old->required)) && needed)
      remark(attribute.name, "is required; rows without it stay as they are until they are changed");
    if (new_here && attribute.next) {
      plan.obstacles.push_back(fmt::format(
          "{}.{} is numbered on from the last one, and rows that are there have no number; add it without next, give "
          "them their numbers, and then add next",
          to.name, attribute.name));
    }
  }
}

void compare_tables(const model::Table& from, const model::Table& to, MigrationPlan& plan) {
  const auto refuse = [&](std::string reason) { plan.obstacles.push_back(std::move(reason)); };
  if (from.name != to.name) refuse(fmt::format("the table's name changes from {} to {}", from.name, to.name));
  const auto sort_of = [](const model::Table& table) { return table.sort ? describe({*table.sort}) : std::string(); };
  if (describe({from.partition}) != describe({to.partition}) || sort_of(from) != sort_of(to)) {
    refuse("the key attributes of a table cannot change; make a new table");
  }
  if (from.type_attribute != to.type_attribute) refuse("the type attribute of a table cannot change");
  for (const auto& index : from.indexes) {
    const auto* now = to.find_index(index.name);
    if (now != nullptr && same_index(index, *now)) continue;
    if (index.local || (now != nullptr && now->local)) {
      refuse(fmt::format(
          "{} is a local index, and those are made with their table; make a new table, or a global index", index.name));
    } else if (now != nullptr) {
      refuse(
          fmt::format("index {} changes its key or projection; give the new one another name, so that both can be "
                      "there while rows are rewritten",
                      index.name));
    }
  }
  for (const auto& index : to.indexes) {
    if (from.find_index(index.name) != nullptr) continue;
    if (index.local) {
      refuse(fmt::format("{} is a new local index, and those are made with their table", index.name));
    } else {
      plan.steps.push_back({MigrationStep::Kind::CreateIndex, index.name, fmt::format("create index {}", index.name)});
    }
  }
  if (to.ttl_attribute && to.ttl_attribute != from.ttl_attribute) {
    if (from.ttl_attribute) refuse("the TTL attribute of a table in use cannot change");
    plan.steps.push_back({MigrationStep::Kind::EnableTtl, *to.ttl_attribute,
                          fmt::format("enable time to live on {}", *to.ttl_attribute)});
  }
}

}  // namespace

MigrationPlan plan_migration(const Model& from, const Model& to) {
  MigrationPlan plan;
  if (from.name != to.name) {
    plan.obstacles.push_back(
        fmt::format("the model's name changes from {} to {}, and reservations and progress are kept under it; give "
                    "both files the same name",
                    from.name, to.name));
  }
  compare_tables(from.table, to.table, plan);
  const auto old_keys = primary_keys(from);
  const auto new_keys = primary_keys(to);
  std::vector<std::string> why;
  for (const auto& entity : to.entities) {
    const auto* old = from.find_entity(entity.name);
    if (old == nullptr) continue;  // it has no rows yet
    compare_values(*old, entity, plan);
    for (const auto& reason : reasons(*old, entity)) why.push_back(fmt::format("{}: {}", entity.name, reason));
    const auto& key = *new_keys.find(entity.name);
    if (*old_keys.find(entity.name) != key) {
      plan.moved.set(entity.name, key);
      why.push_back(fmt::format("{}: rows move to other primary keys", entity.name));
    }
    for (const auto& attribute : old->attributes) {
      if (entity.find_attribute(attribute.name) == nullptr) {
        plan.remarks.push_back(
            fmt::format("{}.{} is no longer in the model; rows keep it", entity.name, attribute.name));
      }
    }
  }
  for (const auto& entity : from.entities) {
    if (to.find_entity(entity.name) == nullptr) {
      plan.remarks.push_back(fmt::format("{} is no longer in the model; its rows stay", entity.name));
    }
  }
  if (!why.empty()) {
    plan.steps.push_back(
        {MigrationStep::Kind::RewriteRows, {}, fmt::format("rewrite rows ({})", fmt::join(why, "; "))});
    plan.steps.push_back(
        {MigrationStep::Kind::CheckRows, {}, "check all rows, with copies, counters and unique values"});
  }
  for (const auto& index : from.table.indexes) {
    if (index.local || to.table.find_index(index.name) != nullptr) continue;
    plan.steps.push_back({MigrationStep::Kind::DropIndex, index.name, fmt::format("drop index {}", index.name)});
  }
  return plan;
}

// ------------------------------------------------------------------------------------------------------------- carrying it out

namespace {

class Migration {
 public:
  Migration(const Model& from, const Model& to, const MigrationPlan& plan, client::Client& client, const Clock& clock,
            Random& random, const std::function<void(const MigrationProgress&)>& progress)
      : from_(from),
        to_(to),
        plan_(plan),
        client_(client),
        clock_(clock),
        dynamo_(client, random),
        table_(dynamo_, clock, to),
        settler_(to, dynamo_, random),
        propagation_(settler_, SettleOptions::Parents::Copied),
        tell_progress_(progress) {
    for (const auto& step : plan.steps) plan_text_ += step.text + "\n";
    for (const auto& entity : from.entities) accept_old_types(entity);
    find_new_counters();
  }

  Outcome<MigrationReport> run() {
    auto report = run_steps();
    if (report || report.problem().code != StreamReader::kTrimmed) return report;
    ATTEMPT(table_.remove_row(kMigrationRow));
    return Problem{.kind = ProblemKind::Unavailable,
                   .code = "ChangesMissed",
                   .message = "the stream has forgotten changes that were not read yet, so it begins anew",
                   .details = {}};
  }

 private:
  Outcome<MigrationReport> run_steps() {
    ATTEMPT(table_.open());
    auto start = ATTEMPT(resume());
    ATTEMPT(follow(start.has_value() || progress_.step > 0));
    if (!plan_.moved.empty()) ATTEMPT(table_.put_row(kHoldRow, {{"Keys", AttributeValue(plan_.moved)}}));
    for (; progress_.step < plan_.steps.size(); ++progress_.step) {
      progress_.rows = 0;
      if (!start) ATTEMPT(remember({}));
      ATTEMPT(carry_out(plan_.steps[progress_.step], std::exchange(start, std::nullopt)));
      if (!report_.unresolved.empty()) return report_;
    }
    ATTEMPT(table_.remove_row(kMigrationRow));
    report_.complete = true;
    return report_;
  }

  // An entity of the same name is the same entity, whatever its rows are called.
  void accept_old_types(const Entity& old) {
    const auto* entity = to_.find_entity(old.name);
    if (entity == nullptr) return;
    for (const auto& record : old.records) {
      const bool taken = to_.find_row_type(record.type).first != nullptr;
      const auto* now = &record == &old.main() ? &entity->main() : entity->find_record(record.name);
      if (!taken && now != nullptr) settler_.accept_type(record.type, *entity, *now);
    }
  }

  // Counters that a program of the old model does not keep.
  void find_new_counters() {
    for (const auto& entity : to_.entities) {
      const auto* old = from_.find_entity(entity.name);
      for (const auto& attribute : entity.attributes) {
        if (!attribute.count && !attribute.sum) continue;
        const auto* was = old != nullptr ? old->find_attribute(attribute.name) : nullptr;
        if (was == nullptr || describe(*was) != describe(attribute)) new_counters_.insert(&attribute);
      }
    }
  }

  // Where the same migration was interrupted: its step, and the row behind which that goes on.  From the beginning when so much
  // time has passed that the stream no longer tells all that was written meanwhile.
  Outcome<std::optional<Item>> resume() {
    const auto row = ATTEMPT(table_.row(kMigrationRow));
    const auto* plan = row ? row->find("Plan") : nullptr;
    if (plan == nullptr || *plan != AttributeValue::string(plan_text_)) return std::optional<Item>();
    const auto number = [&](std::string_view name) {
      const auto* content = row->find(name);
      const auto* found = content != nullptr ? content->as_number() : nullptr;
      return found != nullptr ? found->to_int64().value_or(0) : 0;
    };
    since_ms_ = number("Since");
    if (table_.now_ms() - since_ms_ > std::chrono::milliseconds(ConsistencyManager::kRetention).count()) {
      return std::optional<Item>();
    }
    progress_.step = static_cast<std::size_t>(number("Step"));
    const auto* after = row->find("After");
    if (after == nullptr || after->as_map()->empty()) return std::optional<Item>();
    return std::optional(*after->as_map());
  }

  Outcome<Done> remember(const Item& after) {
    return table_.put_row(kMigrationRow, {{"Plan", AttributeValue::string(plan_text_)},
                                          {"Step", AttributeValue::number(static_cast<std::int64_t>(progress_.step))},
                                          {"After", AttributeValue(after)},
                                          {"Since", AttributeValue::number(since_ms_)},
                                          {"Rows", AttributeValue::number(static_cast<std::int64_t>(progress_.rows))}});
  }

  Outcome<Done> carry_out(const MigrationStep& step, const std::optional<Item>& start) {
    if (tell_progress_) tell_progress_(progress_);
    switch (step.kind) {
      case MigrationStep::Kind::CreateIndex: return create_index(step.subject);
      case MigrationStep::Kind::DropIndex: return drop_index(step.subject);
      case MigrationStep::Kind::EnableTtl: return enable_ttl(step.subject);
      case MigrationStep::Kind::RewriteRows: return walk(SettleOptions::Parents::Ignored, start);
      case MigrationStep::Kind::CheckRows: return check_rows(start);
    }
    return Done{};
  }

  // -- what others write meanwhile

  Outcome<Done> follow(bool again) {
    const auto state = ATTEMPT(dynamo_.describe_table(to_.table.name));
    const bool followed = state && state->stream_arn && state->table.stream == model::StreamView::NewAndOldImages;
    if (!again) since_ms_ = table_.now_ms();
    if (!followed) return Done{};
    follower_.emplace(client_, *state->stream_arn);
    if (!again) return follower_->begin(clock_.now());
    follower_->begin_again(WallTime(std::chrono::milliseconds(since_ms_)));
    return Done{};
  }

  Outcome<Done> catch_up(SettleOptions::Parents parents) {
    if (!follower_) return Done{};
    return follower_->drain([&](const std::vector<Change>& changes) { return rewrite_changed(changes, parents); });
  }

  // The same, and what others kept changing until nothing of it is left.
  Outcome<Done> catch_up_wholly(SettleOptions::Parents parents) {
    for (unsigned attempt = 1;; ++attempt) {
      ATTEMPT(catch_up(parents));
      if (postponed_.empty()) return Done{};
      if (attempt == kMaxPasses) return contention();
      for (const auto& [text, key] : std::exchange(postponed_, {})) {
        ATTEMPT(verify_row(settler_, walk_options(parents), key));
      }
    }
  }

  // A change only tells where to look.  What it means to other rows is looked at once all rows are in their places.
  Outcome<Done> rewrite_changed(const std::vector<Change>& changes, SettleOptions::Parents parents) {
    std::map<std::string, Item> keys;  // each once: it is the row as it is now that matters
    for (const auto& change : changes) {
      if (change.unreadable) return Problem(*change.unreadable);
      keys.emplace(key_text(change.keys), change.keys);
      if (change.before) collect_former(*change.before, keys);
      if (parents == SettleOptions::Parents::Ignored) continue;
      for (const auto* image : {&change.before, &change.after}) {
        if (*image) ATTEMPT(collect_counting(**image, keys));
      }
    }
    const auto options = walk_options(parents);
    for (const auto& [text, key] : keys) ATTEMPT(verify_row(settler_, options, key));
    if (parents == SettleOptions::Parents::Ignored) return Done{};
    for (const auto& change : changes) ATTEMPT(propagation_.carry_copies(change));
    return Done{};
  }

  // A program of the old model does not know which rows and reservations the new one gave an entity that it changes or removes.
  void collect_former(const Item& row, std::map<std::string, Item>& keys) const {
    const auto former = settler_.entity_of(row);
    if (!former) return;
    // What cannot be computed was not there.
    const auto rows = model::rows_of(to_, *former->entity, former->attributes);
    const auto claims = model::reservations_of(to_, *former->entity, former->attributes);
    if (rows) {
      for (const auto& each : *rows) keys.emplace(key_text(each.key), each.key);
    }
    if (claims) {
      for (const auto& each : *claims) keys.emplace(key_text(each.key), each.key);
    }
  }

  // Parents whose counters a program of the old model does not keep.
  Outcome<Done> collect_counting(const Item& row, std::map<std::string, Item>& keys) {
    const auto child = settler_.entity_of(row);
    if (!child) return Done{};
    for (const auto& relation : settler_.rules().of(*child->entity).relations) {
      const bool concerned = std::any_of(relation.counters.begin(), relation.counters.end(), [&](const auto& counter) {
        return new_counters_.contains(counter.attribute);
      });
      if (!concerned) continue;
      const auto key = ATTEMPT(checked(model::parent_key(to_, *child->entity, *relation.relation, child->attributes)));
      if (key) keys.emplace(key_text(*key), *key);
    }
    return Done{};
  }

  Outcome<Done> check_rows(std::optional<Item> start) {
    for (unsigned pass = 1;; ++pass) {
      const auto before = report_.rewritten;
      ATTEMPT(walk(SettleOptions::Parents::Copied, std::exchange(start, std::nullopt)));
      // Without a stream, until a pass finds nothing.
      if (follower_ || report_.rewritten == before || !report_.unresolved.empty() || pass == kMaxPasses) return Done{};
    }
  }

  // nullopt: there is no such index.
  Outcome<std::optional<std::string>> index_status(const std::string& name) {
    const auto state = ATTEMPT(dynamo_.describe_table(to_.table.name));
    if (!state) return not_found("table");
    for (std::size_t i = 0; i < state->table.indexes.size(); ++i) {
      if (state->table.indexes[i].name == name) return std::optional(state->index_status[i]);
    }
    return std::optional<std::string>();
  }

  Outcome<Done> create_index(const std::string& name) {
    // Only what the table has by now, and the new one: further new indexes are not defined yet.
    auto table = to_.table;
    std::erase_if(table.indexes, [&](const Index& index) {
      return index.name != name && from_.table.find_index(index.name) == nullptr;
    });
    if (!ATTEMPT(index_status(name))) ATTEMPT(dynamo_.create_index(table, *to_.table.find_index(name)));
    while (ATTEMPT(index_status(name)) != "ACTIVE") std::this_thread::sleep_for(kIndexPoll);
    return Done{};
  }

  Outcome<Done> drop_index(const std::string& name) {
    if (!ATTEMPT(index_status(name))) return Done{};
    ATTEMPT(dynamo_.drop_index(to_.table.name, name));
    while (ATTEMPT(index_status(name))) std::this_thread::sleep_for(kIndexPoll);
    return Done{};
  }

  Outcome<Done> enable_ttl(const std::string& attribute) {
    if (ATTEMPT(dynamo_.describe_ttl(to_.table.name)) == attribute) return Done{};
    return dynamo_.enable_ttl(to_.table.name, attribute);
  }

  VerifyOptions walk_options(SettleOptions::Parents parents) {
    VerifyOptions options;
    options.repair = true;
    options.parents = parents;
    options.adapt = [this](const Entity& entity, Item& attributes) { fill_in(entity, attributes); };
    options.report = [this](const Finding& finding, bool repaired) {
      if (repaired) ++report_.rewritten;
      if (!repaired) note_unresolved(finding);
    };
    options.busy = [this](const Item& key) { postponed_.emplace(key_text(key), key); };
    return options;
  }

  // Once, however often the row is looked at.
  void note_unresolved(const Finding& finding) {
    const bool known = std::any_of(report_.unresolved.begin(), report_.unresolved.end(), [&](const Finding& other) {
      return other.kind == finding.kind && other.key == finding.key && other.what == finding.what;
    });
    if (!known) report_.unresolved.push_back(finding);
  }

  Outcome<Done> walk(SettleOptions::Parents parents, const std::optional<Item>& start) {
    auto options = walk_options(parents);
    options.start = start;
    std::optional<Problem> problem;
    // Not beyond a row that is unresolved: whoever goes on has to look at it again.
    auto place = start.value_or(Item());
    const auto note = [&](const Item& last) -> Outcome<Done> {
      if (last.empty()) return catch_up_wholly(parents);
      ATTEMPT(catch_up(parents));
      if (report_.unresolved.empty()) place = last;
      return remember(place);
    };
    options.progress = [&](const Item& last, std::uint64_t rows) {
      progress_.rows = rows;
      if (tell_progress_) tell_progress_(progress_);
      const auto noted = note(last);
      if (!noted) problem = noted.problem();
      return noted.ok();
    };
    ATTEMPT(verify(settler_, options));
    if (problem) return std::move(*problem);
    return Done{};
  }

  // What new rows get when they are created, and old ones lack.
  void fill_in(const Entity& entity, Item& attributes) const {
    const auto* old = from_.find_entity(entity.name);
    for (const auto& attribute : entity.attributes) {
      const bool added = old != nullptr && old->find_attribute(attribute.name) == nullptr;
      if (added && attribute.default_value && attributes.find(attribute.name) == nullptr) {
        attributes.set(attribute.name, *attribute.default_value);
      }
    }
    const auto& version = to_.table.version_attribute;
    if (entity.versioned && attributes.find(version) == nullptr) attributes.set(version, AttributeValue::number(1));
  }

  const Model& from_;
  const Model& to_;
  const MigrationPlan& plan_;
  std::string plan_text_;
  client::Client& client_;
  const Clock& clock_;
  Dynamo dynamo_;
  ConsistencyTable table_;
  Settler settler_;
  Propagation propagation_;
  std::set<const model::Attribute*> new_counters_;
  std::int64_t since_ms_ = 0;               // changes from then on are followed
  std::map<std::string, Item> postponed_;   // keys of rows that others kept changing
  std::optional<ChangeFollower> follower_;  // absent when the table has no stream with both images
  const std::function<void(const MigrationProgress&)>& tell_progress_;
  MigrationProgress progress_;
  MigrationReport report_;
};

}  // namespace

Outcome<MigrationReport> migrate(const Model& from, const Model& to, const MigrationPlan& plan, client::Client& client,
                                 const Clock& clock, Random& random,
                                 const std::function<void(const MigrationProgress&)>& progress) {
  return Migration(from, to, plan, client, clock, random, progress).run();
}

}  // namespace stator::runtime
