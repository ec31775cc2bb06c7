#include "stator/runtime/consistency/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stator/runtime/problem.h"
#include "stator/value/json.h"

namespace stator::runtime {
namespace {

using model::Entity;
using value::Item;

constexpr std::string_view kReservationType = "unique";

// The key of a reservation's owner: its `Of` holds the key as JSON.
std::optional<Item> owner_of(const Item& reservation) {
  const auto* content = reservation.find(kReservationOwner);
  const auto* text = content != nullptr ? content->as_string() : nullptr;
  auto key = text != nullptr ? value::parse_item(*text) : Result<Item>(Item());
  return key && !key->empty() ? std::optional(std::move(*key)) : std::nullopt;
}

class Verification {
 public:
  Verification(Reconciler& reconciler, const VerifyOptions& options) : reconciler_(reconciler), options_(options) {}

  Result<VerifyResult, Problem> run() {
    const auto look = [&](const Item& row) { return look_at_unless_busy(row); };
    const auto tell = [&](std::uint64_t, const Item& last) {
      return !options_.progress || options_.progress(last, result_.rows);
    };
    result_.complete = TRY(reconciler_.dynamo().scan(model().table.name, options_.start, look, tell));
    return result_;
  }

  Result<VerifyResult, Problem> run_at(const Item& key) {
    if (const auto row = TRY(reconciler_.dynamo().get(model().table.name, key))) {
      TRY(look_at_unless_busy(*row));
    }
    result_.complete = true;
    return result_;
  }

 private:
  const model::Model& model() const { return reconciler_.model(); }

  Result<void, Problem> look_at_unless_busy(const Item& row) {
    ++result_.rows;
    auto looked = look_at(row);
    if (looked) return looked;
    const auto key = model::primary_key_of(model().table, row);
    if (looked.error().kind == ProblemKind::Invalid) {
      tell_impossible(row, key, looked.error().message);
      return {};
    }
    if (!options_.busy || looked.error().code != kContention) return looked;
    options_.busy(key);
    return {};
  }

  // The values that the rules give cannot be stored: a key is too long, or a sum has too many digits.
  void tell_impossible(const Item& row, const Item& key, const std::string& problem) {
    const auto [entity, record] = reconciler_.type_of(row);
    tell({{.kind = RowFinding::Kind::Key,
           .entity = entity != nullptr ? entity->name : std::string(),
           .key = key,
           .what = problem,
           .expected = {},
           .found = key_text(row),
           .repairable = false}},
         false);
  }

  Result<void, Problem> look_at(const Item& row) {
    if (row.text(model().table.type_attribute) == kReservationType) return look_at_reservation(row);
    const auto [entity, record] = reconciler_.type_of(row);
    if (entity == nullptr) return {};  // of another model that shares the table
    if (record != &entity->main()) return look_at_record(row, *entity, *record);
    return look_at_entity(*reconciler_.entity_of(row));
  }

  ReconcileOptions reconcile_options() const {
    return {.parents = options_.parents,
            .removed = nullptr,
            .purge = false,
            .thorough = true,
            .adapt = options_.adapt,
            .former_place = options_.former_place};
  }

  Result<void, Problem> look_at_entity(const StoredEntity& scanned) {
    std::optional<StoredEntity> stored = scanned;
    if (!TRY(reconciler_.examine(*stored, reconcile_options())).empty()) {
      stored = TRY(reconciler_.read(*scanned.entity, scanned.key));
      if (!stored) return {};
      tell(options_.repair ? TRY(reconciler_.reconcile(*stored, reconcile_options()))
                           : TRY(reconciler_.examine(*stored, reconcile_options())),
           options_.changes != nullptr && options_.changes->concern(reconciler_, *stored));
      // Where it is now, if it is still there.
      const auto key = TRY(checked(model::key_of(model(), *scanned.entity, stored->attributes)));
      stored = TRY(reconciler_.read(*scanned.entity, options_.repair && key ? *key : scanned.key));
      if (!stored) return {};
    }
    // Children that have yet to be moved to where they are looked for cannot be counted.
    if (options_.parents == ReconcileOptions::Parents::Ignored || !options_.count) return {};
    tell(TRY(reconciler_.recount(*stored, options_.repair, options_.unkept)), is_pending(stored->key));
    return {};
  }

  // A row beside the main one.  That it is as it should be is seen from the main row; here it is whether it should be
  // there.
  Result<void, Problem> look_at_record(const Item& row, const Entity& entity, const model::Record& record) {
    const auto key = model::primary_key_of(model().table, row);
    const auto attributes = model::attributes_of(model(), entity, record, row);
    const auto main_key = model::key_of(model(), entity, attributes);
    if (!main_key || !*main_key) return {};  // it does not say whose it is
    const auto superfluous = [&]() -> Result<bool, Problem> {
      stored_ = TRY(reconciler_.read(entity, **main_key));
      if (!stored_) return true;
      const auto rows = model::rows_of(model(), entity, stored_->attributes);
      if (!rows) return false;
      return std::none_of(rows->begin(), rows->end(), [&](const model::Row& wanted) { return wanted.key == key; });
    };
    return remove_if(row, entity, {RowFinding::Kind::Record, record.name}, **main_key, superfluous);
  }

  Result<void, Problem> look_at_reservation(const Item& row) {
    const auto owner_key = owner_of(row);
    const auto key = model::primary_key_of(model().table, row);
    const auto* partition = key.find(model().table.partition.name)->as_string();
    if (!owner_key || partition == nullptr) return {};
    // Those of other models that share the table are theirs to look at.
    const auto& entities = model().entities;
    const auto entity = std::find_if(entities.begin(), entities.end(), [&](const Entity& candidate) {
      return partition->starts_with(model::reservation_prefix(model(), candidate));
    });
    if (entity == entities.end()) return {};
    const auto superfluous = [&]() -> Result<bool, Problem> {
      stored_ = TRY(reconciler_.read(*entity, *owner_key));
      if (!stored_) return true;
      const auto claims = model::reservations_of(model(), *entity, stored_->attributes);
      if (!claims) return false;
      return std::none_of(claims->begin(), claims->end(), [&](const auto& claim) { return claim.key == key; });
    };
    return remove_if(row, *entity, {RowFinding::Kind::Reservation, "unique"}, *owner_key, superfluous);
  }

  struct What {
    RowFinding::Kind kind;
    std::string name;
  };
  // A row that belongs to an entity which does not want it: confirmed, reported, and removed while both stay as they
  // are.
  template <typename Superfluous>
  Result<void, Problem> remove_if(const Item& row, const Entity& entity, const What& what, const Item& owner,
                                  Superfluous superfluous) {
    if (!TRY(superfluous())) return {};
    const auto key = model::primary_key_of(model().table, row);
    const auto now = TRY(reconciler_.dynamo().get(model().table.name, key));
    if (now != row || !TRY(superfluous())) return {};
    if (options_.repair) {
      WritePlan plan(model().table);
      for (const auto& [name, content] : row) {
        plan.require(key, {.kind = Requirement::Kind::Is, .attribute = name, .value = content});
      }
      plan.remove(key);
      if (stored_) {
        for (const auto& [name, content] : stored_->row) {
          plan.require(owner, {.kind = Requirement::Kind::Is, .attribute = name, .value = content});
        }
      } else {
        plan.require(owner, {.kind = Requirement::Kind::Absent});
      }
      // Stale: somebody is at work there; the row is looked at again when the next verification comes by.
      if (TRY(plan.commit(reconciler_.dynamo())) == WritePlan::Commit::Stale) return {};
    }
    tell({{.kind = what.kind,
           .entity = entity.name,
           .key = key,
           .what = what.name,
           .expected = {},
           .found = key_text(row)}},
         is_pending(owner));
    return {};
  }

  bool is_pending(const Item& key) const { return options_.changes != nullptr && options_.changes->contain(key); }

  void tell(const std::vector<RowFinding>& findings, bool pending) {
    for (const auto& finding : findings) {
      auto state = FindingState::Found;
      if (options_.repair && finding.repairable) {
        state = pending ? FindingState::Propagated : FindingState::Repaired;
        ++result_.repaired;
      } else if (pending) {
        state = FindingState::Pending;
        ++result_.pending;
      }
      if (state != FindingState::Pending) ++result_.findings;
      if (options_.report) options_.report(finding, state);
    }
  }

  Reconciler& reconciler_;
  const VerifyOptions& options_;
  VerifyResult result_;
  std::optional<StoredEntity> stored_;  // the owner of the row that is being looked at
};

}  // namespace

Result<VerifyResult, Problem> verify(Reconciler& reconciler, const VerifyOptions& options) {
  return Verification(reconciler, options).run();
}

Result<VerifyResult, Problem> repair_wholly(Reconciler& reconciler, VerifyOptions options) {
  options.repair = true;
  std::set<std::string> told;  // what cannot be repaired
  options.report = [&, report = std::move(options.report)](const RowFinding& finding, FindingState state) {
    const auto text = fmt::format("{} {} {}", finding_name(finding.kind), key_text(finding.key), finding.what);
    if (report && (state == FindingState::Repaired || state == FindingState::Propagated || told.insert(text).second))
      report(finding, state);
  };
  VerifyResult all{.rows = 0, .findings = 0, .repaired = 0, .pending = 0, .passes = 0, .complete = false};
  for (bool again = true; again && all.passes < kRepairPasses;) {
    const auto pass = TRY(verify(reconciler, options));
    ++all.passes;
    all.rows = pass.rows;
    all.repaired += pass.repaired;
    all.findings = all.repaired + (pass.findings - pass.repaired);
    all.pending = pass.pending;
    again = pass.complete && pass.repaired > 0;
    all.complete = pass.complete && !again;
  }
  return all;
}

Result<VerifyResult, Problem> verify_row(Reconciler& reconciler, const VerifyOptions& options, const Item& key) {
  return Verification(reconciler, options).run_at(key);
}

}  // namespace stator::runtime
