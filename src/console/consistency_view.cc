#include "stator/console/consistency_view.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "stator/base/log.h"
#include "stator/console/answers.h"
#include "stator/console/time_text.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::size_t kMostParkedShown = 200;
constexpr std::size_t kMostRecordBytes = 16 << 10;

http::Response problem_refusal(const runtime::Problem& problem) {
  const bool missing = problem.kind == runtime::ProblemKind::NotFound;
  return refusal(missing ? 404 : 503, missing ? "ResourceNotFoundException" : "InternalServerError", problem.message);
}

// "sequence#shard" begins with the sequence number.
std::string_view sequence_of(std::string_view id) { return id.substr(0, id.find('#')); }

std::string_view state_name(runtime::FindingState state) {
  using enum runtime::FindingState;
  return state == Repaired ? "repaired" : state == Pending ? "pending" : "found";
}

void write_shard(value::JsonWriter& json, const runtime::ShardProgress& shard, std::int64_t now_ms) {
  json.begin_object().key("id").string(shard.id).key("owner").string(shard.owner).key("checkpoint");
  if (shard.checkpoint) {
    json.string(*shard.checkpoint);
  } else {
    json.null();
  }
  json.key("done").boolean(shard.done).key("lagMs");
  json.integer(shard.done || shard.read_to_ms == 0 ? 0 : std::max<std::int64_t>(0, now_ms - shard.read_to_ms));
  json.end_object();
}

void write_parked(value::JsonWriter& json, const std::vector<runtime::ParkedRecord>& parked) {
  json.key("parkedCount").integer(static_cast<std::int64_t>(parked.size())).key("parked").begin_array();
  std::size_t shown = 0;
  for (const auto& record : parked) {
    if (++shown > kMostParkedShown) break;
    json.begin_object().key("id").string(record.id).key("sequence").string(sequence_of(record.id));
    json.key("reason").string(record.problem).key("attempts").integer(record.attempts);
    json.key("at").string(record.parked_at).key("record");
    // A record is JSON as the stream told it; a long one is told as the beginning of its text.
    if (record.record.size() <= kMostRecordBytes) {
      json.raw(record.record.empty() ? "null" : record.record);
    } else {
      json.string(record.record.substr(0, kMostRecordBytes));
    }
    json.end_object();
  }
  json.end_array();
}

void write_migration(value::JsonWriter& json, const std::optional<value::Item>& row) {
  json.key("migration");
  if (!row) {
    json.null();
    return;
  }
  json.begin_object().key("steps").begin_array();
  std::string_view plan = row->text("Plan");
  while (!plan.empty()) {
    const auto line = plan.substr(0, plan.find('\n'));
    plan.remove_prefix(std::min(plan.size(), line.size() + 1));
    json.string(line);
  }
  json.end_array().key("step").integer(row->integer("Step")).key("rows").integer(row->integer("Rows"));
  json.key("since").string(time_text(WallTime(std::chrono::milliseconds(row->integer("Since"))))).end_object();
}

}  // namespace

http::Response ConsistencyView::show(const ServedModel& served) {
  std::string out;
  value::JsonWriter json(out);
  runtime::Dynamo dynamo(client_, random_, clock_);
  runtime::ConsistencyTable table(dynamo, clock_, served.model());
  json.begin_object().key("needed").boolean(served.manager != nullptr);
  if (served.manager == nullptr) {
    json.key("running").boolean(false).key("lagMs").integer(0).key("shards").begin_array().end_array();
    write_parked(json, {});
    // A migration makes the table if there is none.
    const auto exists = table.exists();
    if (!exists) return problem_refusal(exists.error());
    std::optional<value::Item> row;
    if (*exists) {
      auto read = table.row(runtime::kMigrationRow);
      if (!read) return problem_refusal(read.error());
      row = std::move(*read);
    }
    write_migration(json, row);
  } else {
    const auto status = served.manager->status();
    const auto shards = table.shards();
    if (!shards) return problem_refusal(shards.error());
    const auto parked = served.manager->parked();
    if (!parked) return problem_refusal(parked.error());
    const auto migration = table.row(runtime::kMigrationRow);
    if (!migration) return problem_refusal(migration.error());
    const auto count = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
    json.key("running").boolean(status.running).key("verifying").boolean(status.verifying);
    json.key("held").boolean(status.held).key("lagMs").integer(status.lag.count());
    json.key("waiting").integer(count(status.waiting)).key("propagated").integer(count(status.propagated));
    json.key("parkedTotal").integer(count(status.parked)).key("repaired").integer(count(status.repaired));
    json.key("problem").string(status.problem).key("shards").begin_array();
    for (const auto& shard : *shards) write_shard(json, shard, table.now_ms());
    json.end_array();
    write_parked(json, *parked);
    write_migration(json, *migration);
  }
  write_verification(json, served.model());
  json.end_object();
  return json_answer(std::move(out));
}

void ConsistencyView::write_verification(value::JsonWriter& json, const model::Model& model) {
  MutexLock lock(mutex_);
  const auto& last = verification_;
  const bool of_this = last.model == &model;
  json.key("verify").begin_object();
  json.key("state").string(!of_this ? "idle" : last.running ? "running" : "done");
  json.key("busy").boolean(last.running);  // perhaps with another model
  if (of_this) {
    const auto count = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
    json.key("repair").boolean(last.repairs).key("checked").integer(count(last.rows));
    json.key("found").integer(count(last.found)).key("repaired").integer(count(last.repaired));
    json.key("pending").integer(count(last.pending)).key("problem").string(last.problem);
  } else {
    json.key("checked").integer(0).key("found").integer(0).key("repaired").integer(0).key("pending").integer(0);
  }
  json.key("findings").begin_array();
  for (const auto& each : of_this ? last.findings : std::vector<Told>()) {
    json.begin_object().key("kind").string(each.kind).key("entity").string(each.entity).key("key").string(each.key);
    json.key("what").string(each.what).key("expected").string(each.expected).key("found").string(each.found);
    json.key("repairable").boolean(each.repairable).key("state").string(state_name(each.state)).end_object();
  }
  json.end_array().end_object();
}

http::Response ConsistencyView::replay(const ServedModel& served, std::string_view body) {
  value::JsonParser parser;
  const auto json = parser.parse(body);
  const auto id = json ? json->object().get<std::string_view>("id") : std::nullopt;
  if (!id) return bad_request("The body must be {\"id\": \"...\"} of a parked record.");
  if (served.manager == nullptr) return not_there("This model has no consistency manager.");
  const auto done = served.manager->replay(std::string(*id));
  if (done) return empty_answer();
  const auto& problem = done.error();
  // The record stays parked: the rows that the rules give can still not be stored.
  if (problem.kind == runtime::ProblemKind::Invalid || problem.kind == runtime::ProblemKind::Conflict) {
    return refusal(409, "ConflictException", fmt::format("The change fails as before: {}", problem.message));
  }
  return problem_refusal(problem);
}

http::Response ConsistencyView::verify(const ServedModel& served, std::string_view body, const Rights& rights) {
  value::JsonParser parser;
  const auto json = parser.parse(body);
  const auto repair = json ? json->object().get<bool>("repair") : std::nullopt;
  if (!repair) return bad_request("The body must be {\"repair\": true} or {\"repair\": false}.");
  if (*repair && !rights.write) return forbidden("The console is read-only, so it repairs nothing.");
  MutexLock lock(mutex_);
  if (verification_.running) {
    return refusal(
        409, "ResourceInUseException",
        fmt::format("The table of {} is being verified; wait until that has ended.", verification_.model->name));
  }
  verification_ = {};
  verification_.model = &served.model();
  verification_.repairs = *repair;
  verification_.running = true;
  // Waits for the thread before, which has nothing left to do.
  thread_ = std::jthread([this, model = served.system->shared_model(), repairs = *repair](const std::stop_token& stop) {
    run(model, repairs, stop);
  });
  return empty_answer();
}

void ConsistencyView::run(const std::shared_ptr<const model::Model>& model, bool repairs, const std::stop_token& stop) {
  runtime::Dynamo dynamo(client_, random_, clock_);
  runtime::Reconciler reconciler(*model, dynamo, random_);
  runtime::VerifyOptions options;
  options.report = [&](const runtime::RowFinding& finding, runtime::FindingState state) { note(finding, state); };
  options.progress = [&](const value::Item&, std::uint64_t rows) {
    MutexLock lock(mutex_);
    verification_.rows = rows;
    return !stop.stop_requested();
  };
  const auto verified = [&]() -> Result<runtime::VerifyResult, runtime::Problem> {
    const auto changes = TRY(runtime::PendingChanges::read(reconciler));
    options.changes = &changes;
    return repairs ? runtime::repair_wholly(reconciler, options) : runtime::verify(reconciler, options);
  }();
  MutexLock lock(mutex_);
  if (verified) verification_.rows = verified->rows;
  if (!verified) verification_.problem = verified.error().message;
  if (verified && !verified->complete && !stop.stop_requested()) {
    verification_.problem = "there may be more to repair, because others change the same rows; run it again";
  }
  log::info("verified", {{"system", model->name},
                         {"rows", verification_.rows},
                         {"findings", verification_.found},
                         {"repaired", verification_.repaired}});
  verification_.running = false;
}

void ConsistencyView::note(const runtime::RowFinding& finding, runtime::FindingState state) {
  MutexLock lock(mutex_);
  using enum runtime::FindingState;
  ++(state == Pending ? verification_.pending : verification_.found);
  if (state == Repaired) ++verification_.repaired;
  if (verification_.findings.size() >= kMostFindings) return;
  verification_.findings.push_back({.kind = std::string(runtime::finding_name(finding.kind)),
                                    .entity = finding.entity,
                                    .key = runtime::key_text(finding.key),
                                    .what = finding.what,
                                    .expected = finding.expected,
                                    .found = finding.found,
                                    .repairable = finding.repairable,
                                    .state = state});
}

}  // namespace stator::console
