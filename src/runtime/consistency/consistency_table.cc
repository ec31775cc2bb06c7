#include "stator/runtime/consistency/consistency_table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace stator::runtime {
namespace {

using value::AttributeValue;
using value::Item;

constexpr std::string_view kStreamRow = "stream";
constexpr std::string_view kShardPrefix = "shard#";
constexpr std::string_view kParkedPrefix = "parked#";
constexpr std::string_view kPartPrefix = "part#";
constexpr std::size_t kPartBytes = 300'000;  // a record has two images, of up to 400 KB each; a row can have 400 KB
constexpr std::string_view kVerifying = "verifying";
constexpr std::string_view kReading = "reading";
// A Stator's table is there at once; elsewhere it takes seconds.
constexpr std::chrono::milliseconds kFirstTableWait{5};
constexpr std::chrono::milliseconds kLongestTableWait{50};
constexpr unsigned kTableWaits = 1200;  // a minute

bool flag_of(const Item& item, std::string_view name) {
  const auto* found = item.find(name);
  const auto* flag = found != nullptr ? found->as_bool() : nullptr;
  return flag != nullptr && *flag;
}

AttributeValue text(std::string_view content) { return AttributeValue::string(content); }
AttributeValue number(std::int64_t content) { return AttributeValue::number(content); }

ShardProgress shard_from(const Item& row) {
  ShardProgress shard{.id = row.text("Row").substr(kShardPrefix.size()),
                      .parent = row.text("Parent"),
                      .owner = row.text("Owner"),
                      .expires_ms = row.integer("Expires"),
                      .checkpoint = {},
                      .read_to_ms = row.integer("ReadTo"),
                      .done = flag_of(row, "Done")};
  if (auto checkpoint = row.text("Checkpoint"); !checkpoint.empty()) shard.checkpoint = std::move(checkpoint);
  return shard;
}

std::string part_row(std::string_view id, std::size_t part) { return fmt::format("{}{}#{:04}", kPartPrefix, id, part); }

std::string shard_row(std::string_view id) { return fmt::format("{}{}", kShardPrefix, id); }

expr::Clause is(std::string attribute, AttributeValue value) {
  return expr::compare(std::move(attribute), expr::Op::Equal, std::move(value));
}

}  // namespace

ConsistencyTable::ConsistencyTable(Dynamo& dynamo, const Clock& clock, const model::Model& model)
    : dynamo_(dynamo), clock_(clock), name_(name_for(model.table.name)), model_(model.name) {}

std::string ConsistencyTable::name_for(std::string_view table) { return consistency_table_name(table); }

std::int64_t ConsistencyTable::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch()).count();
}

bool ConsistencyTable::is_too_old(std::int64_t time_ms) const {
  constexpr std::chrono::hours kStreamKeeps{23};
  return now_ms() - time_ms > std::chrono::milliseconds(kStreamKeeps).count();
}

Item ConsistencyTable::key(std::string_view row) const { return {{"Model", text(model_)}, {"Row", text(row)}}; }

Result<bool, Problem> ConsistencyTable::exists() { return TRY(dynamo_.describe_table(name_)).has_value(); }

Result<void, Problem> ConsistencyTable::open(const std::stop_token& stop) {
  for (unsigned waits = 0; waits < kTableWaits; ++waits) {
    const auto state = TRY(dynamo_.describe_table(name_));
    if (state && state->status == "ACTIVE") return {};
    if (!state) {
      model::TableDesign table;
      table.name = name_;
      table.partition = {.name = "Model", .type = value::Type::S, .position = {}};
      table.sort = model::KeyDesign{.name = "Row", .type = value::Type::S, .position = {}};
      table.stream = model::StreamView::None;
      TRY(dynamo_.create_table(table));
    }
    if (!clock_.wait(std::min(kFirstTableWait * (waits + 1), kLongestTableWait), stop)) {
      return stopped(fmt::format("waiting for table {}", name_));
    }
  }
  return Problem{.kind = ProblemKind::Unavailable,
                 .code = "TableNotActive",
                 .message = fmt::format("table {} is not ready", name_),
                 .details = {}};
}

Result<bool, Problem> ConsistencyTable::update(std::string_view row, expr::Update update,
                                               const expr::Clause& condition) {
  const auto answer = TRY(dynamo_.write({.kind = RowWrite::Kind::Update,
                                         .table = name_,
                                         .item = key(row),
                                         .update = std::move(update),
                                         .condition = expr::to_condition(condition)}));
  return answer.written();
}

Result<std::vector<Item>, Problem> ConsistencyTable::rows_with_prefix(std::string_view prefix) {
  QueryRequest request;
  request.page.table = name_;
  request.page.consistent = true;
  request.condition.terms = {expr::key_equals("Model", text(model_)), expr::key_begins_with("Row", text(prefix))};
  std::vector<Item> rows;
  do {
    auto page = TRY(dynamo_.query(request));
    std::move(page.items.begin(), page.items.end(), std::back_inserter(rows));
    request.page.start = std::move(page.last_key);
  } while (request.page.start);
  return rows;
}

// ---------------------------------------------------------------------------------------------------------- the stream

Result<std::optional<StreamProgress>, Problem> ConsistencyTable::stream() {
  const auto row = TRY(dynamo_.get(name_, key(kStreamRow)));
  if (!row) return std::optional<StreamProgress>();
  return std::optional(StreamProgress{.stream = row->text("Stream"),
                                      .verifying = row->text("State") == kVerifying,
                                      .owner = row->text("Owner"),
                                      .expires_ms = row->integer("Expires")});
}

Result<bool, Problem> ConsistencyTable::begin_verification(const std::optional<StreamProgress>& seen,
                                                           std::string_view stream, std::string_view owner,
                                                           std::chrono::milliseconds lease) {
  auto condition = expr::absent("Stream");
  if (seen) {
    condition =
        expr::all_of({is("Stream", text(seen->stream)), is("State", text(seen->verifying ? kVerifying : kReading)),
                      is("Owner", text(seen->owner)), is("Expires", number(seen->expires_ms))});
  }
  return update(kStreamRow,
                expr::UpdateBuilder()
                    .set("Stream", text(stream))
                    .set("State", text(kVerifying))
                    .set("Owner", text(owner))
                    .set("Expires", number(now_ms() + lease.count()))
                    .finish(),
                condition);
}

Result<bool, Problem> ConsistencyTable::renew_verification(std::string_view owner, std::chrono::milliseconds lease) {
  return update(kStreamRow, expr::UpdateBuilder().set("Expires", number(now_ms() + lease.count())).finish(),
                expr::all_of({is("Owner", text(owner)), is("State", text(kVerifying))}));
}

Result<bool, Problem> ConsistencyTable::end_verification(std::string_view owner) {
  return update(kStreamRow, expr::UpdateBuilder().set("State", text(kReading)).set("Expires", number(0)).finish(),
                expr::all_of({is("Owner", text(owner)), is("State", text(kVerifying))}));
}

// -------------------------------------------------------------------------------------------------------------- shards

Result<std::vector<ShardProgress>, Problem> ConsistencyTable::shards() {
  std::vector<ShardProgress> shards;
  for (const auto& row : TRY(rows_with_prefix(kShardPrefix))) shards.push_back(shard_from(row));
  return shards;
}

Result<void, Problem> ConsistencyTable::add_shard(const ShardProgress& shard) {
  auto item = key(shard_row(shard.id));
  if (!shard.parent.empty()) item.set("Parent", text(shard.parent));
  item.set("Owner", text(shard.owner));
  item.set("Expires", number(shard.expires_ms));
  item.set("ReadTo", number(shard.read_to_ms));
  TRY(dynamo_.write({.kind = RowWrite::Kind::Put,
                     .table = name_,
                     .item = std::move(item),
                     .condition = expr::to_condition(expr::absent("Row"))}));
  return {};
}

Result<void, Problem> ConsistencyTable::remove_shard(std::string_view id) { return remove_row(shard_row(id)); }

Result<bool, Problem> ConsistencyTable::acquire(const ShardProgress& shard, std::string_view owner,
                                                std::chrono::milliseconds lease) {
  return update(
      shard_row(shard.id),
      expr::UpdateBuilder().set("Owner", text(owner)).set("Expires", number(now_ms() + lease.count())).finish(),
      expr::all_of({is("Owner", text(shard.owner)), is("Expires", number(shard.expires_ms)), expr::absent("Done")}));
}

Result<bool, Problem> ConsistencyTable::renew(std::string_view id, std::string_view owner, std::int64_t read_to_ms,
                                              std::chrono::milliseconds lease) {
  return update(
      shard_row(id),
      expr::UpdateBuilder().set("Expires", number(now_ms() + lease.count())).set("ReadTo", number(read_to_ms)).finish(),
      is("Owner", text(owner)));
}

Result<bool, Problem> ConsistencyTable::checkpoint(std::string_view id, std::string_view owner,
                                                   std::string_view sequence_number, std::int64_t read_to_ms) {
  return update(
      shard_row(id),
      expr::UpdateBuilder().set("Checkpoint", text(sequence_number)).set("ReadTo", number(read_to_ms)).finish(),
      is("Owner", text(owner)));
}

Result<bool, Problem> ConsistencyTable::finish(std::string_view id, std::string_view owner, std::int64_t read_to_ms) {
  return update(shard_row(id),
                expr::UpdateBuilder()
                    .set("Done", AttributeValue::boolean(true))
                    .set("Expires", number(0))
                    .set("ReadTo", number(read_to_ms))
                    .finish(),
                is("Owner", text(owner)));
}

Result<bool, Problem> ConsistencyTable::release(std::string_view id, std::string_view owner, std::int64_t read_to_ms) {
  return update(shard_row(id),
                expr::UpdateBuilder().set("Expires", number(0)).set("ReadTo", number(read_to_ms)).finish(),
                is("Owner", text(owner)));
}

// --------------------------------------------------------------------------------------------------------------- tasks

Result<bool, Problem> ConsistencyTable::take_task(std::string_view task, std::string_view owner,
                                                  std::chrono::milliseconds lease) {
  return update(
      task, expr::UpdateBuilder().set("Owner", text(owner)).set("Expires", number(now_ms() + lease.count())).finish(),
      expr::any_of({expr::absent("Owner"), expr::compare("Expires", expr::Op::Less, number(now_ms()))}));
}

Result<bool, Problem> ConsistencyTable::renew_task(std::string_view task, std::string_view owner,
                                                   std::chrono::milliseconds lease) {
  return update(task, expr::UpdateBuilder().set("Expires", number(now_ms() + lease.count())).finish(),
                is("Owner", text(owner)));
}

Result<bool, Problem> ConsistencyTable::end_task(std::string_view task, std::string_view owner) {
  return update(task, expr::UpdateBuilder().set("Expires", number(0)).finish(), is("Owner", text(owner)));
}

// ------------------------------------------------------------------------------------------------- records that failed

Result<void, Problem> ConsistencyTable::park(std::string_view shard, std::string_view sequence_number,
                                             const ParkedRecord& record) {
  const auto id = fmt::format("{}#{}", sequence_number, shard);
  Item row = {
      {"Problem", text(record.problem)},
      {"Attempts", number(record.attempts)},
      {"ParkedAt", text(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", std::chrono::floor<std::chrono::seconds>(clock_.now())))}};
  if (record.record.size() <= kPartBytes) {
    row.set("Record", text(record.record));
    return put_row(fmt::format("{}{}", kParkedPrefix, id), std::move(row));
  }
  // The parts first: a record that is listed is whole.  As bytes, because a cut may go through a character.
  std::size_t parts = 0;
  for (std::size_t begin = 0; begin < record.record.size(); begin += kPartBytes) {
    TRY(put_row(part_row(id, parts++), {{"Bytes", AttributeValue::binary(record.record.substr(begin, kPartBytes))}}));
  }
  row.set("Parts", number(static_cast<std::int64_t>(parts)));
  return put_row(fmt::format("{}{}", kParkedPrefix, id), std::move(row));
}

// nullopt when one is missing.
Result<std::optional<std::string>, Problem> ConsistencyTable::parts_of(std::string_view id, std::int64_t count) {
  std::string whole;
  for (std::int64_t part = 0; part < count; ++part) {
    const auto found = TRY(row(part_row(id, static_cast<std::size_t>(part))));
    const auto* content = found ? found->find("Bytes") : nullptr;
    const auto* bytes = content != nullptr ? content->as_binary() : nullptr;
    if (bytes == nullptr) return std::optional<std::string>();
    whole += bytes->bytes;
  }
  return std::optional(std::move(whole));
}

Result<std::vector<ParkedRecord>, Problem> ConsistencyTable::parked() {
  std::vector<ParkedRecord> records;
  for (const auto& found : TRY(rows_with_prefix(kParkedPrefix))) {
    ParkedRecord record{.id = found.text("Row").substr(kParkedPrefix.size()),
                        .record = found.text("Record"),
                        .problem = found.text("Problem"),
                        .attempts = static_cast<unsigned>(found.integer("Attempts")),
                        .parked_at = found.text("ParkedAt")};
    if (const auto count = found.integer("Parts"); count > 0) {
      auto whole = TRY(parts_of(record.id, count));
      if (!whole) {  // it was propagated, and forgetting it was interrupted
        TRY(unpark(record.id));
        continue;
      }
      record.record = std::move(*whole);
    }
    records.push_back(std::move(record));
  }
  return records;
}

// The row that lists it is removed last, so that the rest can be found after an interruption.
Result<void, Problem> ConsistencyTable::unpark(std::string_view id) {
  for (const auto& part : TRY(rows_with_prefix(fmt::format("{}{}#", kPartPrefix, id)))) {
    TRY(remove_row(part.text("Row")));
  }
  return remove_row(fmt::format("{}{}", kParkedPrefix, id));
}

// ------------------------------------------------------------------------------------------------------------- any row

Result<std::optional<Item>, Problem> ConsistencyTable::row(std::string_view row) {
  return dynamo_.get(name_, key(row));
}

Result<void, Problem> ConsistencyTable::put_row(std::string_view row, Item attributes) {
  for (const auto& [name, content] : key(row)) attributes.set(name, content);
  TRY(dynamo_.write({.kind = RowWrite::Kind::Put, .table = name_, .item = std::move(attributes)}));
  return {};
}

Result<void, Problem> ConsistencyTable::remove_row(std::string_view row) {
  TRY(dynamo_.write({.kind = RowWrite::Kind::Delete, .table = name_, .item = key(row)}));
  return {};
}

}  // namespace stator::runtime
