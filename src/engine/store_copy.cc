#include "stator/engine/store_copy.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <optional>
#include <utility>

#include "stator/engine/server_text.h"

namespace stator::engine {
namespace {

using storage::Direction;
using storage::KeyRange;

constexpr char kMarkVersion = 1;
constexpr std::size_t kMarkNumbers = 4;
constexpr std::size_t kBatchRecords = 500;
constexpr std::size_t kBatchBytes = 256 << 10;

bool is_copied(BytesView key) {
  return !key.starts_with(server_text_key("")) && key != lease_key() && key != copy_mark_key();
}

// A cursor over the records that are copied.
class Records {
 public:
  Records(const storage::Snapshot& snapshot, KeyBytes begin)
      : cursor_(snapshot.cursor({std::move(begin), {}}, Direction::Forward)) {
    skip();
  }
  bool valid() const { return cursor_->valid(); }
  void next() {
    cursor_->next();
    skip();
  }
  BytesView key() const { return cursor_->key(); }
  BytesView value() const { return cursor_->value(); }
  Result<void> status() const { return cursor_->status(); }

 private:
  void skip() {
    while (cursor_->valid() && !is_copied(cursor_->key())) cursor_->next();
  }

  std::unique_ptr<storage::Cursor> cursor_;
};

// The catalog, the newest commit of each lane and the time of one of them tell a store from all others, and from itself
// after a change.
Result<std::uint64_t> fingerprint(const storage::Snapshot& snapshot, const storage::Store& store) {
  Bytes text;
  const auto newest = store.read_point();
  for (std::size_t lane = 0; lane < newest.lanes(); ++lane) append_u64be(text, newest.of(lane).value);
  const auto append = [&](const storage::Cursor& cursor) {
    append_u32be(text, static_cast<std::uint32_t>(cursor.key().size()));
    text += cursor.key();
    append_u32be(text, static_cast<std::uint32_t>(cursor.value().size()));
    text += cursor.value();
  };
  const auto tables = snapshot.cursor(all_table_records(), Direction::Forward);
  for (; tables->valid(); tables->next()) append(*tables);
  TRY(tables->status());
  const auto times = snapshot.cursor(KeyRange::prefix(commit_time_prefix()), Direction::Backward);
  if (times->valid()) append(*times);
  TRY(times->status());
  return XXH3_64bits(text.data(), text.size());
}

// The items and index entries, which are most of the records.
Result<std::uint64_t> expected_records(const storage::Snapshot& snapshot) {
  std::uint64_t total = 0;
  const auto counters = snapshot.cursor(all_statistics(), Direction::Forward);
  for (; counters->valid(); counters->next()) {
    if (counters->key().back() != static_cast<char>(Statistic::Items)) continue;
    const auto count = storage::decode_counter(counters->value());
    if (count && *count > 0) total += static_cast<std::uint64_t>(*count);
  }
  TRY(counters->status());
  return total;
}

Result<bool> is_empty(const storage::Snapshot& snapshot) {
  const auto first = snapshot.cursor({}, Direction::Forward);
  TRY(first->status());
  return !first->valid();
}

// The mark that an earlier call left in the target; otherwise a new mark.
Result<std::pair<CopyMark, bool>> begin_or_resume(storage::Store& target, const CopyMark& fresh) {
  const auto snapshot = target.snapshot();
  if (const auto left = TRY(snapshot->get(copy_mark_key()))) {
    auto mark = TRY(CopyMark::decode(*left));
    if (mark.source != fresh.source) {
      return usage_error(
          "the target has the beginning of a copy of another source, or of this one before it was changed: empty it "
          "first");
    }
    return std::pair(std::move(mark), true);
  }
  if (!TRY(is_empty(*snapshot))) return usage_error("the target is not empty");
  return std::pair(fresh, false);
}

// Change records are kept by the shards of streams, whose number depends on the lanes of a store.
Result<void> check_streams(const storage::Snapshot& from, const storage::Store& source, const storage::Store& target) {
  const auto shards_at = [](const storage::Store& store) { return change_partitions(store.capabilities().lanes); };
  if (shards_at(source) == shards_at(target)) return {};
  const auto streams = from.cursor(all_streams(), Direction::Forward);
  TRY(streams->status());
  if (!streams->valid()) return {};
  return usage_error(fmt::format(
      "the source has streams of {} shards, or had some within the last day, and the target has {}: disable the "
      "streams and copy a day later, or use a target with as many lanes as the source",
      shards_at(source), shards_at(target)));
}

Result<void> commit_with_mark(storage::Store& target, storage::Batch batch, const CopyMark& mark) {
  batch.put(copy_mark_key(), mark.encode());
  TRY(target.commit(std::move(batch)));
  return {};
}

Result<void> copy_records(const storage::Snapshot& from, storage::Store& target, CopyMark& mark, std::uint64_t total,
                          const CopyOptions& options) {
  storage::Batch batch;
  std::size_t bytes = 0;
  Records records(from, mark.last_key.empty() ? KeyBytes() : mark.last_key + '\0');
  for (options.progress("copying", mark.records, total); records.valid(); records.next()) {
    mark.last_key = records.key();
    bytes += records.key().size() + records.value().size();
    ++mark.records;
    batch.put(mark.last_key, Bytes(records.value()));
    if (bytes < kBatchBytes && batch.operations().size() < kBatchRecords) continue;
    mark.bytes += std::exchange(bytes, 0);
    TRY(commit_with_mark(target, std::exchange(batch, {}), mark));
    options.progress("copying", mark.records, total);
  }
  TRY(records.status());
  mark.bytes += bytes;
  if (!batch.empty()) TRY(commit_with_mark(target, std::move(batch), mark));
  options.progress("copying", mark.records, mark.records);
  return {};
}

Result<void> compare(const storage::Snapshot& from, const storage::Snapshot& to, const CopyMark& mark,
                     const CopyOptions& options) {
  Records wanted(from, {}), found(to, {});
  std::uint64_t compared = 0;
  for (; wanted.valid() && found.valid() && wanted.key() == found.key() && wanted.value() == found.value();
       wanted.next(), found.next()) {
    if (++compared % kBatchRecords == 0) options.progress("verifying", compared, mark.records);
  }
  TRY(wanted.status());
  TRY(found.status());
  if (wanted.valid() || found.valid() || compared != mark.records) {
    return Error{
        ErrorCode::Corruption,
        fmt::format("the copy differs from its source after {} records: empty the target and copy again", compared)};
  }
  options.progress("verifying", compared, mark.records);
  return {};
}

}  // namespace

Bytes CopyMark::encode() const {
  Bytes out(1, kMarkVersion);
  append_u64be(out, source);
  append_u64be(out, source_commit.value);
  append_u64be(out, records);
  append_u64be(out, bytes);
  return out + last_key;
}

Result<CopyMark> CopyMark::decode(BytesView text) {
  if (text.size() < 1 + 8 * kMarkNumbers || text.front() != kMarkVersion) {
    return Error{ErrorCode::Corruption, "the mark of an unfinished copy cannot be read"};
  }
  const auto number = [&](std::size_t at) { return read_u64be(text.data() + 1 + 8 * at); };
  return CopyMark{.source = number(0),
                  .source_commit = {number(1)},
                  .records = number(2),
                  .bytes = number(3),
                  .last_key = Bytes(text.substr(1 + 8 * kMarkNumbers))};
}

Result<void> refuse_unfinished_copy(const storage::Snapshot& snapshot) {
  if (!TRY(snapshot.get(copy_mark_key()))) return {};
  return usage_error(
      "this database is a copy that is not finished: run the same `stator store copy` again, which goes on with it");
}

Result<CopyOutcome> copy_store(storage::Store& source, storage::Store& target, const CopyOptions& options) {
  const auto from = source.snapshot();
  TRY(refuse_unfinished_copy(*from));
  TRY(check_streams(*from, source, target));
  const CopyMark fresh{.source = TRY(fingerprint(*from, source)), .source_commit = source.last_commit()};
  auto [mark, resumed] = TRY(begin_or_resume(target, fresh));
  if (!resumed) TRY(commit_with_mark(target, {}, mark));
  // Records with the number of a commit, such as changes of a stream, stay in the past.
  TRY(target.advance_to(source.last_commit()));
  TRY(copy_records(*from, target, mark, TRY(expected_records(*from)), options));
  TRY(compare(*from, *target.snapshot(), mark, options));
  return CopyOutcome{
      .records = mark.records, .bytes = mark.bytes, .resumed = resumed, .source_commit = mark.source_commit};
}

Result<void> finish_copy(storage::Store& target, const std::map<std::string, std::string>& texts) {
  storage::Batch batch;
  for (const auto& [name, text] : texts) batch.put(server_text_key(name), encode_server_text(text));
  batch.erase(copy_mark_key());
  TRY(target.commit(std::move(batch)));
  return target.sync();
}

}  // namespace stator::engine
