#include "stator/runtime/migration/migration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stator/runtime/consistency/change_follower.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/consistency/propagation.h"
#include "stator/runtime/consistency/verify.h"
#include "stator/runtime/migration/clashes.h"
#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

using model::Entity;
using model::IndexDesign;
using model::Model;
using value::AttributeValue;
using value::Item;

constexpr std::chrono::milliseconds kFirstPoll{5};
constexpr std::chrono::milliseconds kLongestWait{100};
constexpr std::chrono::milliseconds kCatchUpTime{500};  // with what others write, after each page of rows
constexpr std::chrono::seconds kClockSlack{10};         // by which the stream's clock may be ahead of this one
constexpr unsigned kMaxPasses = 10;                     // over a table that has no stream to follow

// Waits between looks at a table: not long at first, because a small index is built in no time.
class Pause {
 public:
  explicit Pause(const Clock& clock) : clock_(clock) {}
  void operator()() {
    clock_.wait(next_);
    next_ = std::min(next_ * 2, kLongestWait);
  }

 private:
  const Clock& clock_;
  std::chrono::milliseconds next_ = kFirstPoll;
};

class Migration {
 public:
  Migration(const Model& from, const Model& to, const MigrationPlan& plan, client::Client& client, const Clock& clock,
            Random& random, const std::function<void(const MigrationProgress&)>& progress, bool alone)
      : from_(from),
        to_(to),
        plan_(plan),
        client_(client),
        clock_(clock),
        dynamo_(client, random, clock),
        table_(dynamo_, clock, to),
        reconciler_(to, dynamo_, random),
        propagation_(reconciler_, ReconcileOptions::Parents::Copied),
        new_counters_(new_counters(from, to)),
        alone_(alone),
        tell_progress_(progress) {
    if (!plan.only_prepares) reconciler_.forget(plan.obsolete);
    for (const auto& step : plan.steps) plan_text_ += step.text + "\n";
    accept_old_types(from, to, reconciler_);
  }

  Result<MigrationReport, Problem> run() {
    auto report = run_steps();
    if (report || report.error().code != StreamReader::kTrimmed) return report;
    TRY(table_.remove_row(kMigrationRow));
    return Problem{.kind = ProblemKind::Unavailable,
                   .code = "ChangesMissed",
                   .message = "the stream has forgotten changes that were not read yet, so it begins anew",
                   .details = {}};
  }

 private:
  Result<MigrationReport, Problem> run_steps() {
    TRY(table_.open());
    auto start = TRY(resume());
    TRY(follow(start.has_value() || progress_.step > 0));
    for (; progress_.step < plan_.steps.size(); ++progress_.step) {
      progress_.rows = 0;
      if (!start) TRY(remember({}));
      TRY(carry_out(plan_.steps[progress_.step], std::exchange(start, std::nullopt)));
      if (!report_.unresolved.empty()) return report_;
    }
    if (!plan_.only_prepares) TRY(let_old_programs_go());
    TRY(table_.remove_row(kMigrationRow));
    report_.complete = true;
    return report_;
  }

  // Where the same migration was interrupted: its step, and the row behind which that goes on.  From the beginning when
  // so much time has passed that the stream no longer tells all that was written meanwhile.
  Result<std::optional<Item>, Problem> resume() {
    const auto row = TRY(table_.row(kMigrationRow));
    const auto* plan = row ? row->find("Plan") : nullptr;
    if (plan == nullptr || *plan != AttributeValue::string(plan_text_)) return std::optional<Item>();
    since_ms_ = row->integer("Since");
    if (table_.is_too_old(since_ms_)) return std::optional<Item>();
    progress_.step = static_cast<std::size_t>(row->integer("Step"));
    const auto* after = row->find("After");
    if (after == nullptr || after->as_map()->empty()) return std::optional<Item>();
    return std::optional(*after->as_map());
  }

  Result<void, Problem> remember(const Item& after) {
    return table_.put_row(kMigrationRow, {{"Plan", AttributeValue::string(plan_text_)},
                                          {"Step", AttributeValue::number(static_cast<std::int64_t>(progress_.step))},
                                          {"After", AttributeValue(after)},
                                          {"Since", AttributeValue::number(since_ms_)},
                                          {"Rows", AttributeValue::number(static_cast<std::int64_t>(progress_.rows))}});
  }

  Result<void, Problem> carry_out(const MigrationStep& step, const std::optional<Item>& start) {
    if (tell_progress_) tell_progress_(progress_);
    switch (step.kind) {
      case MigrationStep::Kind::CreateIndex: return create_index(step.subject);
      case MigrationStep::Kind::DropIndex: return drop_index(step.subject);
      case MigrationStep::Kind::EnableTtl: return enable_ttl(step.subject);
      case MigrationStep::Kind::ChangeStream: return change_stream();
      case MigrationStep::Kind::FindClashes: return look_for_clashes();
      case MigrationStep::Kind::RewriteRows: return rewrite_rows(start);
      case MigrationStep::Kind::CheckRows: return check_rows(start);
    }
    return {};
  }

  Result<void, Problem> look_for_clashes() {
    const auto clashes = TRY(find_clashes(from_, to_, dynamo_, [this](std::uint64_t rows) {
      progress_.rows = rows;
      if (tell_progress_) tell_progress_(progress_);
    }));
    for (const auto& clash : clashes) note_unresolved(clash);
    return {};
  }

  // -- what others know of it

  Result<Announcement, Problem> announced() {
    const auto row = TRY(table_.row(kHoldRow));
    return checked(Announcement::from_row(row ? *row : Item()));
  }

  Result<void, Problem> announce(const Announcement& announcement) {
    if (announcement.empty()) return table_.remove_row(kHoldRow);
    return table_.put_row(kHoldRow, announcement.to_row());
  }

  // Rows that an earlier migration has moved stay in their new places, and programs that look for them elsewhere are
  // still refused.
  // Rows that have been moved by an earlier run of this one are not on their way: only programs that do not read
  // announcements have put rows into old places since.
  Result<void, Problem> announce_rows() {
    const auto before = TRY(announced());
    auto now = before;
    now.added = plan_.added;
    bool moves = before.moving;
    for (const auto& [entity, key] : plan_.moved) {
      const auto* known = before.keys.find(entity);
      moves = moves || known == nullptr || *known != key;
      now.keys.set(entity, key);
    }
    if (!plan_.moved.empty()) now.moving = moves;
    const bool under_way = now.moving && !plan_.moved.empty();
    if (now.to_row() == before.to_row() && !under_way) return {};
    TRY(announce(now));
    if (!alone_) wait_for_programs();
    return {};
  }

  void wait_for_programs() {
    progress_.waiting = true;
    if (tell_progress_) tell_progress_(progress_);
    clock_.wait(MigrationNotice::kEffective);
    progress_.waiting = false;
  }

  // Every row is in its new place, but for those that a person has to look at.
  Result<void, Problem> announce_arrival() {
    if (plan_.moved.empty()) return {};
    auto now = TRY(announced());
    now.moving = false;
    return announce(now);
  }

  Result<void, Problem> let_old_programs_go() {
    auto now = TRY(announced());
    if (now.added.empty()) return {};
    now.added.clear();
    return announce(now);
  }

  Result<void, Problem> rewrite_rows(const std::optional<Item>& start) {
    TRY(announce_rows());
    TRY(walk(ReconcileOptions::Parents::Ignored, start));
    return announce_arrival();
  }

  // -- what others write meanwhile

  Result<void, Problem> follow(bool again) {
    const auto state = TRY(dynamo_.describe_table(to_.table.name));
    const bool followed = state && state->stream_arn && state->table.stream == model::StreamView::NewAndOldImages;
    if (!again) since_ms_ = table_.now_ms();
    if (!followed) return {};
    follower_.emplace(client_, clock_, *state->stream_arn);
    if (!again) return follower_->begin(clock_.now());
    follower_->begin_again(WallTime(std::chrono::milliseconds(since_ms_)));
    return {};
  }

  Result<void, Problem> drain(ReconcileOptions::Parents parents, ChangeFollower::Time until, WallTime upto) {
    if (!follower_) return {};
    const auto handle = [&](const std::vector<Change>& changes) { return rewrite_changed(changes, parents); };
    return follower_->drain(handle, until, upto);
  }

  // Some of it: so that little is left for the end, and nothing gets so old that the stream forgets it.
  Result<void, Problem> catch_up(ReconcileOptions::Parents parents) {
    return drain(parents, clock_.steady_now() + kCatchUpTime, WallTime::max());
  }

  // All that had happened when this began, and what happens meanwhile until nothing is left or others are too fast.
  Result<void, Problem> catch_up_wholly(ReconcileOptions::Parents parents) {
    const auto upto = SystemClock().now() + kClockSlack;
    for (unsigned attempt = 1; attempt <= kMaxPasses; ++attempt) {
      TRY(drain(parents, ChangeFollower::Time::max(), upto));
      if (postponed_.empty() && uncounted_.empty()) return {};
      auto again = std::exchange(postponed_, {});
      again.merge(std::exchange(uncounted_, {}));
      for (const auto& [text, key] : again) TRY(verify_row(reconciler_, walk_options(parents), key));
    }
    return postponed_.empty() ? Result<void, Problem>() : contention();
  }

  // A change only tells where to look.  Its effects on other rows are checked when all rows are in their places.
  Result<void, Problem> rewrite_changed(const std::vector<Change>& changes, ReconcileOptions::Parents parents) {
    std::map<std::string, Item> keys;  // each once: it is the row as it is now that matters
    for (const auto& change : changes) {
      if (change.unreadable) return unreadable_change();
      keys.emplace(key_text(change.keys), change.keys);
      if (change.before) collect_former(*change.before, keys);
      if (parents == ReconcileOptions::Parents::Ignored) continue;
      collect_uncounted(change);
      for (const auto* image : {&change.before, &change.after}) {
        if (*image) TRY(collect_uncounted_parents(**image));
      }
    }
    auto options = walk_options(parents);
    options.count = false;  // once for all changes, in the end: a parent can have many children
    for (const auto& [text, key] : keys) TRY(verify_row(reconciler_, options, key));
    if (parents == ReconcileOptions::Parents::Ignored) return {};
    for (const auto& change : changes) TRY(propagation_.propagate_copies(change));
    return {};
  }

  // A program of the old model does not know which rows and reservations the new one gave an entity that it changes or
  // removes.
  void collect_former(const Item& row, std::map<std::string, Item>& keys) const {
    const auto former = reconciler_.entity_of(row);
    if (!former) return;
    // A row that cannot be computed did not exist.
    const auto rows = model::rows_of(to_, *former->entity, former->attributes);
    const auto claims = model::reservations_of(to_, *former->entity, former->attributes);
    if (rows) {
      for (const auto& each : *rows) keys.emplace(key_text(each.key), each.key);
    }
    if (claims) {
      for (const auto& each : *claims) keys.emplace(key_text(each.key), each.key);
    }
  }

  // A program of the old model does not keep all counters of an entity that it makes, or makes anew.
  void collect_uncounted(const Change& change) {
    const auto now = change.after ? reconciler_.entity_of(*change.after) : std::nullopt;
    if (!now) return;
    const auto value_of = [](const std::optional<Item>& image, const std::string& name) {
      return image ? image->find(name) : nullptr;
    };
    const auto& attributes = now->entity->attributes;
    const bool concerned = std::any_of(attributes.begin(), attributes.end(), [&](const model::Attribute& attribute) {
      if (!new_counters_.contains(&attribute)) return false;
      const auto* was = value_of(change.before, attribute.name);
      const auto* is = value_of(change.after, attribute.name);
      return !change.before || (was == nullptr || is == nullptr ? was != is : *was != *is);
    });
    if (concerned) uncounted_.emplace(key_text(now->key), now->key);
  }

  Result<void, Problem> collect_uncounted_parents(const Item& row) {
    const auto child = reconciler_.entity_of(row);
    if (!child) return {};
    for (const auto& relation : reconciler_.rules().of(*child->entity).relations) {
      const bool concerned =
          std::any_of(relation.counters.begin(), relation.counters.end(),
                      [&](const auto& counter) { return new_counters_.contains(counter.attribute); }) ||
          std::any_of(relation.numbers.begin(), relation.numbers.end(),
                      [&](const auto* number) { return new_counters_.contains(number->next->last); });
      if (!concerned) continue;
      const auto key = TRY(checked(model::parent_key(to_, *child->entity, *relation.relation, child->attributes)));
      if (key) uncounted_.emplace(key_text(*key), *key);
    }
    return {};
  }

  Result<void, Problem> check_rows(std::optional<Item> start) {
    for (unsigned pass = 1;; ++pass) {
      const auto before = report_.rewritten;
      TRY(walk(ReconcileOptions::Parents::Enforced, std::exchange(start, std::nullopt)));
      // Without a stream, until a pass finds nothing.
      if (follower_ || report_.rewritten == before || !report_.unresolved.empty() || pass == kMaxPasses) return {};
    }
  }

  // nullopt: there is no such index.
  Result<std::optional<std::string>, Problem> index_status(const std::string& name) {
    const auto state = TRY(dynamo_.describe_table(to_.table.name));
    if (!state) return not_found("table");
    for (std::size_t i = 0; i < state->table.indexes.size(); ++i) {
      if (state->table.indexes[i].name == name) return std::optional(state->index_status[i]);
    }
    return std::optional<std::string>();
  }

  Result<void, Problem> create_index(const std::string& name) {
    // Only what the table has by now, and the new one: further new indexes are not defined yet.
    auto table = to_.table;
    std::erase_if(table.indexes, [&](const IndexDesign& index) {
      return index.name != name && from_.table.find_index(index.name) == nullptr;
    });
    if (!TRY(index_status(name))) TRY(dynamo_.create_index(table, *to_.table.find_index(name)));
    for (Pause pause(clock_); TRY(index_status(name)) != "ACTIVE";) pause();
    return {};
  }

  Result<void, Problem> drop_index(const std::string& name) {
    if (!TRY(index_status(name))) return {};
    TRY(dynamo_.drop_index(to_.table.name, name));
    for (Pause pause(clock_); TRY(index_status(name));) pause();
    return {};
  }

  Result<void, Problem> enable_ttl(const std::string& attribute) {
    if (TRY(dynamo_.describe_ttl(to_.table.name)) == attribute) return {};
    return dynamo_.enable_ttl(to_.table.name, attribute);
  }

  Result<TableState, Problem> active_table() {
    for (Pause pause(clock_);; pause()) {
      auto state = TRY(dynamo_.describe_table(to_.table.name));
      if (!state) return not_found("table");
      if (state->status == "ACTIVE") return std::move(*state);
    }
  }

  // One of another view cannot be turned into it: it ends, and a new one begins.
  Result<void, Problem> change_stream() {
    const auto wanted = to_.table.stream;
    const auto found = TRY(active_table()).table.stream;
    if (found == wanted) return {};
    if (found != model::StreamView::None && found != from_.table.stream) {
      return conflict("StreamDiffers",
                      fmt::format("the table has a stream of {}, which neither model asks for", stream_name(found)));
    }
    if (found != model::StreamView::None) {
      TRY(dynamo_.change_stream(to_.table.name, model::StreamView::None));
      TRY(active_table());
    }
    TRY(dynamo_.change_stream(to_.table.name, wanted));
    TRY(active_table());
    follower_.reset();
    return follow(true);
  }

  VerifyOptions walk_options(ReconcileOptions::Parents parents) {
    VerifyOptions options;
    options.repair = true;
    options.parents = parents;
    options.unkept = &new_counters_;
    options.adapt = [this](const Entity& entity, Item& attributes) { fill_in(from_, to_, entity, attributes); };
    options.former_place = [this](const Entity& child, const model::Parent& relation, const Item& attributes) {
      return former_place(child, relation, attributes);
    };
    options.report = [this](const RowFinding& finding, FindingState state) {
      if (state == FindingState::Repaired)
        ++report_.rewritten;
      else
        note_unresolved(finding);
    };
    options.busy = [this](const Item& key) { postponed_.emplace(key_text(key), key); };
    return options;
  }

  // Once, however often the row is looked at.
  void note_unresolved(const RowFinding& finding) {
    const bool known = std::any_of(report_.unresolved.begin(), report_.unresolved.end(), [&](const RowFinding& other) {
      return other.kind == finding.kind && other.key == finding.key && other.what == finding.what;
    });
    if (!known) report_.unresolved.push_back(finding);
  }

  Result<void, Problem> walk(ReconcileOptions::Parents parents, const std::optional<Item>& start) {
    auto options = walk_options(parents);
    options.start = start;
    std::optional<Problem> problem;
    // Not beyond an unresolved row: a migration that continues has to look at it again.
    auto place = start.value_or(Item());
    const auto note = [&](const Item& last) -> Result<void, Problem> {
      if (last.empty()) return catch_up_wholly(parents);
      TRY(catch_up(parents));
      if (report_.unresolved.empty()) place = last;
      return remember(place);
    };
    options.progress = [&](const Item& last, std::uint64_t rows) {
      progress_.rows = rows;
      if (tell_progress_) tell_progress_(progress_);
      const auto noted = note(last);
      if (!noted) problem = noted.error();
      return noted.ok();
    };
    TRY(verify(reconciler_, options));
    if (problem) return std::move(*problem);
    return {};
  }

  // Where the old model has the parent; nullopt when that model does not promise that there has been one.
  std::optional<Item> former_place(const Entity& child, const model::Parent& relation, const Item& attributes) const {
    const auto* old_child = from_.find_entity(child.name);
    const auto* former = old_child != nullptr ? old_child->find_parent(relation.name) : nullptr;
    if (former == nullptr || former->entity != relation.entity || former->on_delete != relation.on_delete ||
        former->must_exist != relation.must_exist) {
      return std::nullopt;
    }
    auto key = model::parent_key(from_, *old_child, *former, attributes);
    return key ? std::move(*key) : std::nullopt;
  }

  const Model& from_;
  const Model& to_;
  const MigrationPlan& plan_;
  std::string plan_text_;
  client::Client& client_;
  const Clock& clock_;
  Dynamo dynamo_;
  ConsistencyTable table_;
  Reconciler reconciler_;
  Propagation propagation_;
  const std::set<const model::Attribute*> new_counters_;
  std::int64_t since_ms_ = 0;               // changes from then on are followed
  std::map<std::string, Item> postponed_;   // keys of rows that others kept changing
  std::map<std::string, Item> uncounted_;   // keys of rows whose new counters may have become wrong
  std::optional<ChangeFollower> follower_;  // absent when the table has no stream with both images
  const bool alone_;                        // no other program uses the table
  const std::function<void(const MigrationProgress&)>& tell_progress_;
  MigrationProgress progress_;
  MigrationReport report_;
};

}  // namespace

void accept_old_types(const Model& from, const Model& to, Reconciler& reconciler) {
  for (const auto& old : from.entities) {
    const auto* entity = to.find_entity(old.name);
    if (entity == nullptr) continue;
    for (const auto& record : old.records) {
      const bool taken = to.find_row_type(record.type).first != nullptr;
      const auto* now = &record == &old.main() ? &entity->main() : entity->find_record(record.name);
      if (!taken && now != nullptr) reconciler.accept_type(record.type, *entity, *now);
    }
  }
}

void fill_in(const Model& from, const Model& to, const Entity& entity, Item& attributes) {
  const auto* old = from.find_entity(entity.name);
  for (const auto& attribute : entity.attributes) {
    const bool added = old != nullptr && old->find_attribute(attribute.name) == nullptr;
    if (added && attribute.default_value && attributes.find(attribute.name) == nullptr) {
      attributes.set(attribute.name, *attribute.default_value);
    }
  }
  const auto& version = to.table.version_attribute;
  if (!entity.versioned || attributes.find(version) != nullptr) return;
  const auto* before = attributes.find(from.table.version_attribute);
  attributes.set(version, before != nullptr ? *before : AttributeValue::number(1));
}

Result<MigrationReport, Problem> migrate(const Model& from, const Model& to, const MigrationPlan& plan,
                                         client::Client& client, const Clock& clock, Random& random,
                                         const std::function<void(const MigrationProgress&)>& progress, bool alone) {
  return Migration(from, to, plan, client, clock, random, progress, alone).run();
}

}  // namespace stator::runtime
