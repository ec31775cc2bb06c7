#include "stator/engine/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "stator/engine/check/checking.h"
#include "stator/engine/remains.h"
#include "stator/engine/stream/change_log.h"
#include "stator/engine/stream/stream.h"
#include "stator/engine/write/request_token.h"
#include "stator/value/stored_item.h"

namespace stator::engine {
namespace {

struct KindTexts {
  FindingKind kind;
  std::string_view name;
  bool repairable;
  std::string_view remedy;
};

constexpr std::string_view kRestoreOrRepair =
    "Bytes on the disk have changed. Stop the server and see what can be saved: stator repair --data DATA_FOLDER. Or "
    "restore a backup: stator restore BACKUPS --data NEW_FOLDER. Look at the disk, too.";
constexpr std::string_view kWriteAgain =
    "Write the item again (PutItem) from its source, delete it, or restore a backup: stator restore BACKUPS --data "
    "NEW_FOLDER.";
constexpr std::string_view kRecompute =
    "Stop the server and run stator check --data DATA_FOLDER --repair: it computes this from the items again.";
constexpr std::string_view kReport =
    "No client needs it, and nothing is lost. It should not be there: please report it as a bug.";

constexpr std::array<KindTexts, kFindingKinds> kTexts = {{
    {FindingKind::DamagedFile, "damaged file", false, kRestoreOrRepair},
    {FindingKind::Unreadable, "unreadable data", false, kRestoreOrRepair},
    {FindingKind::UnknownKey, "unknown key", false, kReport},
    {FindingKind::BadRecord, "record that does not decode", false,
     "Restore a backup: stator restore BACKUPS --data NEW_FOLDER. If the record is of a newer stator, use that one."},
    {FindingKind::Catalog, "contradiction in the catalog", false,
     "Restore a backup: stator restore BACKUPS --data NEW_FOLDER."},
    {FindingKind::Orphan, "data without its table", false,
     "No client can reach it. If the table is missing, restore a backup (stator restore BACKUPS --data NEW_FOLDER); "
     "otherwise it only takes "
     "room."},
    {FindingKind::BadItem, "bad item", false, kWriteAgain},
    {FindingKind::MisplacedItem, "item under the key of another", false, kWriteAgain},
    {FindingKind::MissingEntry, "missing index entry", true, kRecompute},
    {FindingKind::SuperfluousEntry, "index entry without its item", true, kRecompute},
    {FindingKind::WrongEntry, "outdated index entry", true, kRecompute},
    {FindingKind::WrongCount, "wrong count", true, kRecompute},
    {FindingKind::CollectionSize, "wrong size of an item collection", true, kRecompute},
    {FindingKind::MissingExpiry, "missing expiry", true, kRecompute},
    {FindingKind::SuperfluousExpiry, "expiry without its item", true, kRecompute},
    {FindingKind::ChangeLog, "bad change record", false,
     "Streams cannot be read past it; it goes by itself a day after it was written. Disable the table's stream and "
     "enable it "
     "again for a new one, or restore a backup: stator restore BACKUPS --data NEW_FOLDER."},
    {FindingKind::Stream, "bad stream", false,
     "Disable the table's stream and enable it again for a new one (UpdateTable)."},
}};

// Everything except the items of tables: the catalog, streams and the change log, and keys without an owner.
class GlobalCheck {
 public:
  explicit GlobalCheck(Checking& checking) : checking_(checking) {}

  Result<void> read_catalog() {
    std::int64_t last_id = 0;
    if (const auto found = checking_.look(last_table_id_key(), {}); found.value) {
      const auto counter = storage::decode_counter(*found.value);
      if (counter) last_id = *counter;
      if (!counter) find(FindingKind::BadRecord, {}, "last table id", counter.error().message);
    }
    return checking_.each(all_table_records(), {}, [&](BytesView key, BytesView bytes) -> Result<void> {
      auto table = decode_table(bytes);
      if (!table) return find(FindingKind::BadRecord, {}, key_text(key), table.error().message), Result<void>();
      const auto wrong = [&](std::string what) {
        find(FindingKind::Catalog, table->name, key_text(key), std::move(what));
      };
      if (table_record_key(table->name) != key) wrong("the record is stored under another name");
      if (std::int64_t{table->id.value} > last_id)
        wrong(fmt::format("it has the id {}, and {} was the last", table->id.value, last_id));
      if (const auto problem = schema_problem(*table); !problem.empty()) return wrong(problem), Result<void>();
      const auto id = table->id.value;
      if (const auto [other, fresh] = tables_.try_emplace(id, std::move(*table)); !fresh) {
        find(FindingKind::Catalog, table->name, key_text(key),
             fmt::format("the table {} has the same id", other->second.name));
      }
      return {};
    });
  }

  // The remains of deleted tables and indexes, which are being erased.
  Result<void> read_remains() {
    return checking_.each(all_remains(), {}, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto remains = Remains::from_key(key);
      if (!remains || bytes != BytesView("\x01")) {
        find(FindingKind::BadRecord, {}, key_text(key), "the remains of a table have an unknown format");
      } else if (exists({.table = remains->table, .index = remains->index, .prefix = {}})) {
        find(FindingKind::Catalog, tables_.at(remains->table.value).name, key_text(key),
             fmt::format("its index {} is there, and is to be erased", remains->index.value));
      } else {
        remains_.insert(*remains);
      }
      return {};
    });
  }

  const std::map<std::uint32_t, Table>& tables() const { return tables_; }

  std::uint64_t expected_records() const {
    std::int64_t total = 0;
    for (const auto& [id, table] : tables_) {
      const auto add = [&](IndexId index) {
        const auto found = checking_.snapshot().get(statistic_key(table.id, index, Statistic::Items));
        if (!found || !*found) return;
        if (const auto count = storage::decode_counter(**found)) total += *count;
      };
      add(kBaseIndex);
      for (const auto& index : table.indexes) add(index.id);
    }
    return total > 0 ? static_cast<std::uint64_t>(total) : 0;
  }

  // Keys outside of all spaces, and those of tables and indexes that do not exist.
  Result<void> find_unknown_keys() {
    Bytes begin(1, '\1');
    for (const auto& space : key_spaces()) {
      TRY(find_unknown({begin, space.prefix}));
      begin = space.single ? space.prefix + '\0' : prefix_end(space.prefix);
      if (space.owned_by != KeySpace::Owner::None) TRY(find_orphans(storage::KeyRange::prefix(space.prefix)));
    }
    return find_unknown({begin, {}});
  }

  Result<void> check_streams() {
    std::map<Bytes, std::string> streams;  // what the keys of its markers begin with
    TRY(checking_.each(all_streams(), {}, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto stream = decode_table(bytes);
      if (!stream) return find(FindingKind::Stream, {}, key_text(key), stream.error().message), Result<void>();
      if (stream_key(stream->name, stream->stream.label) != key) {
        return find(FindingKind::Stream, stream->name, key_text(key), "it is stored under another name"),
               Result<void>();
      }
      streams.emplace(stream_markers(stream->name, stream->stream.label).begin, stream->name);
      return check_end(*stream);
    }));
    TRY(checking_.each(all_stream_markers(), {}, [&](BytesView key, BytesView bytes) -> Result<void> {
      const auto problem = [&](std::string_view table, std::string what) {
        find(FindingKind::Stream, table, key_text(key), std::move(what));
        return Result<void>();
      };
      if (key.size() < 8) return problem({}, "the marker's key is too short");
      const auto stream = streams.find(Bytes(key.substr(0, key.size() - 8)));
      if (stream == streams.end()) return problem({}, "the marker belongs to no stream");
      if (const auto marker = StreamMarker::decode(bytes); !marker)
        return problem(stream->second, marker.error().message);
      if (read_u64be(key.data() + key.size() - 8) > checking_.last_commit_of(key).value) {
        return problem(stream->second, "the marker is of a commit that has not been made");
      }
      return {};
    }));
    for (const auto& [id, table] : tables_) {
      if (!table.stream.enabled) continue;
      const auto found = checking_.look(stream_key(table.name, table.stream.label), table.name);
      if (!found.value && !found.unreadable)
        find(FindingKind::Stream, table.name, table.stream.label, "the table's stream is missing");
    }
    return {};
  }

  Result<void> check_change_log() {
    return checking_.each(storage::KeyRange::prefix(change_log_prefix()), {},
                          [&](BytesView key, BytesView bytes) -> Result<void> {
                            const auto position = position_of_change(key);
                            const auto owner = owner_of_key(key);
                            const auto table = owner ? tables_.find(owner->table.value) : tables_.end();
                            const auto& name = table != tables_.end() ? table->second.name : std::string();
                            const auto problem = [&](std::string what) {
                              find(FindingKind::ChangeLog, name, key_text(key), std::move(what));
                              return Result<void>();
                            };
                            if (!position || !owner) return problem("the key has an unknown form");
                            if (position->sequence > checking_.last_commit_of(key))
                              return problem("it is of a commit that has not been made");
                            const auto partition = static_cast<std::uint8_t>(key[kChangeSequenceAt - 1]);
                            const auto partitions = checking_.change_partitions();
                            if (partition >= partitions)
                              return problem(fmt::format("there is no partition {}", partition));
                            const auto record = ChangeRecord::decode(bytes);
                            if (!record) return problem(record.error().message);
                            const auto keys = record->keys.parse();
                            if (!keys) return problem(keys.error().message);
                            for (const auto* image : {&record->new_image, &record->old_image}) {
                              if (!*image) continue;
                              const auto item = (*image)->parse();
                              if (!item) return problem(item.error().message);
                              for (const auto& attribute : *keys) {
                                const auto* field = item->find(attribute.name);
                                if (field == nullptr || *field != attribute.value)
                                  return problem("an image is not of the item that the keys name");
                              }
                            }
                            if (table == tables_.end()) return {};
                            if (auto wrong = key_problem(table->second, *keys)) return problem(std::move(*wrong));
                            if (change_partition(hash_of_key(item_key(table->second, *keys)), partitions) != partition)
                              return problem("it is in the partition of other items");
                            return {};
                          });
  }

  Result<void> check_small_records() {
    TRY(checking_.each(
        storage::KeyRange::prefix(commit_time_prefix()), {}, [&](BytesView key, BytesView bytes) -> Result<void> {
          if (key.size() != kCommitTimeSequenceAt + 8 || bytes.size() != 8) {
            find(FindingKind::BadRecord, {}, key_text(key), "time of a commit has an unknown format");
          } else if (read_u64be(key.data() + kCommitTimeSequenceAt) > checking_.last_commit_of(key).value) {
            find(FindingKind::BadRecord, {}, key_text(key), "time of a commit that has not been made");
          }
          return {};
        }));
    TRY(checking_.each(all_request_tokens(), {}, [&](BytesView key, BytesView bytes) -> Result<void> {
      if (!RequestToken::is_record(bytes)) {
        find(FindingKind::BadRecord, {}, key_text(key), "request token record has an unknown format");
      }
      return {};
    }));
    for (const auto& [id, table] : tables_) TRY(check_build_progress(table));
    return {};
  }

  // The tables that a file with these keys is likely to hold.
  std::string tables_between(BytesView first, BytesView last) const {
    std::string names;
    std::size_t shown = 0;
    for (const auto& [id, table] : tables_) {
      const auto range = table_items(table.id);
      if (last < BytesView(range.begin) || first >= BytesView(range.end)) continue;
      if (++shown > kShownTables) return names + ", ...";
      names += (names.empty() ? "" : ", ") + table.name;
    }
    return names;
  }

 private:
  static constexpr std::size_t kShownTables = 5;

  static std::string schema_problem(const Table& table) {
    const auto bad_keys = [](const KeySchema& keys, std::size_t partition, std::size_t sort) {
      return keys.partition.empty() || keys.partition.size() > partition || keys.sort.size() > sort;
    };
    if (table.id.value == 0) return "it has no id";
    if (bad_keys(table.keys, 1, 1)) return "it has no valid key schema";
    std::set<std::uint16_t> ids;
    std::set<std::string> names;
    for (const auto& index : table.indexes) {
      if (index.id == kBaseIndex || index.id.value >= table.next_index_id || !ids.insert(index.id.value).second) {
        return fmt::format("the index {} has an invalid id", index.name);
      }
      if (!names.insert(index.name).second) return fmt::format("two indexes are called {}", index.name);
      if (bad_keys(index.keys, 4, 4)) return fmt::format("the index {} has no valid key schema", index.name);
    }
    return {};
  }

  // A stream that its table does not have any more has ended, one that it has has not.
  Result<void> check_end(const Table& stream) {
    std::optional<StreamMarker> last;
    bool any = false;
    TRY(checking_.each(stream_markers(stream.name, stream.stream.label), stream.name,
                       [&](BytesView, BytesView bytes) -> Result<void> {
                         any = true;
                         const auto marker = StreamMarker::decode(bytes);
                         last = marker ? std::optional(*marker) : std::nullopt;
                         return {};
                       }));
    if (!any) return find(FindingKind::Stream, stream.name, stream.stream.label, "it has no shards"), Result<void>();
    if (!last) return {};  // told with the markers
    const auto table = tables_.find(stream.id.value);
    const bool open =
        table != tables_.end() && table->second.stream.enabled && table->second.stream.label == stream.stream.label;
    if (open != (last->kind == StreamMarker::Kind::Shards)) {
      find(FindingKind::Stream, stream.name, stream.stream.label,
           open ? "it has ended, and the table's record says that it has not"
                : "it has not ended, and its table has it no longer");
    }
    return {};
  }

  Result<void> check_build_progress(const Table& table) {
    return checking_.each(
        table_build_progress(table.id), table.name, [&](BytesView key, BytesView bytes) -> Result<void> {
          const auto owner = owner_of_key(key);
          if (!owner || owner->prefix != key || !bytes.starts_with(index_prefix(table.id, kBaseIndex))) {
            find(FindingKind::BadRecord, table.name, key_text(key), "progress of an index has an unknown format");
          }
          return {};
        });
  }

  Result<void> find_unknown(const storage::KeyRange& range) {
    return checking_.each(range, {}, [&](BytesView key, BytesView) -> Result<void> {
      find(FindingKind::UnknownKey, {}, key_text(key), "nothing of this stator writes it");
      return {};
    });
  }

  bool exists(const KeyOwner& owner) const {
    const auto table = tables_.find(owner.table.value);
    if (table == tables_.end()) return false;
    if (owner.index == kBaseIndex) return true;
    const auto& indexes = table->second.indexes;
    return std::any_of(indexes.begin(), indexes.end(), [&](const Index& index) { return index.id == owner.index; });
  }

  // From owner to owner.
  Result<void> find_orphans(storage::KeyRange rest) {
    // Changes outlive their table for a day; check_change_log() reads them all.
    if (rest.begin == change_log_prefix()) return {};
    for (;;) {
      std::optional<KeyOwner> owner;
      {
        const auto first = checking_.snapshot().cursor(rest, storage::Direction::Forward);
        if (!first->valid()) return {};  // unreadable records are reported by the check that reads them
        owner = owner_of_key(first->key());
        if (!owner) {
          find(FindingKind::UnknownKey, {}, key_text(first->key()), "the key is too short");
          rest.begin = Bytes(first->key()) + '\0';
          continue;
        }
      }
      if (!exists(*owner) && !remains_.contains({.table = owner->table, .index = owner->index})) {
        std::uint64_t records = 0;
        TRY(checking_.each(storage::KeyRange::prefix(owner->prefix), {}, [&](BytesView, BytesView) -> Result<void> {
          ++records;
          return {};
        }));
        find(FindingKind::Orphan, {}, key_text(owner->prefix),
             fmt::format("{} records of table id {}, index {}", records, owner->table.value, owner->index.value));
      }
      rest.begin = prefix_end(owner->prefix);
      if (rest.begin >= rest.end) return {};
    }
  }

  void find(FindingKind kind, std::string_view table, std::string key, std::string what) {
    checking_.find(
        {.kind = kind, .table = std::string(table), .index = {}, .key = std::move(key), .what = std::move(what)});
  }

  Checking& checking_;
  std::map<std::uint32_t, Table> tables_;
  std::set<Remains> remains_;
};

Result<CheckReport> run(storage::Store& store, const CheckOptions& options, bool mends) {
  CheckReport report;
  std::vector<storage::DamagedFile> damaged;
  if (auto* files = store.files()) {
    bool ended = false;
    damaged = TRY(files->verify([&](std::uint64_t done, std::uint64_t total) {
      report.file_bytes = done;
      if (options.progress && !options.progress({CheckProgress::Stage::Files, done, total})) ended = true;
      return !ended;
    }));
    if (ended) return Error{ErrorCode::Busy, "the check was ended"};
  }

  const auto snapshot = store.snapshot();
  Checking checking(*snapshot, store, options, report, mends);
  GlobalCheck global(checking);
  TRY(global.read_catalog());
  TRY(global.read_remains());
  for (auto& file : damaged) {
    checking.find({.kind = FindingKind::DamagedFile,
                   .table = global.tables_between(file.first_key, file.last_key),
                   .index = {},
                   .key = std::move(file.name),
                   .what = std::move(file.problem)});
  }
  checking.expect_records(global.expected_records());
  report.tables = global.tables().size();
  TRY(global.find_unknown_keys());
  TRY(global.check_small_records());
  TRY(global.check_streams());
  TRY(global.check_change_log());
  for (const auto& [id, table] : global.tables()) TRY(check_table(checking, table));
  if (options.progress) options.progress({CheckProgress::Stage::Records, report.records, report.records});
  return report;
}

}  // namespace

std::string_view finding_name(FindingKind kind) { return kTexts[static_cast<std::size_t>(kind)].name; }
std::optional<FindingKind> finding_kind(std::string_view name) {
  const auto found = std::find_if(kTexts.begin(), kTexts.end(), [&](const auto& texts) { return texts.name == name; });
  return found == kTexts.end() ? std::nullopt : std::optional(found->kind);
}
std::string_view remedy(FindingKind kind) { return kTexts[static_cast<std::size_t>(kind)].remedy; }
bool is_repairable(FindingKind kind) { return kTexts[static_cast<std::size_t>(kind)].repairable; }

std::uint64_t CheckReport::total() const { return std::accumulate(totals.begin(), totals.end(), std::uint64_t{0}); }

Result<CheckReport> check(storage::Store& store, const CheckOptions& options) { return run(store, options, false); }

Result<CheckReport> repair(storage::Store& store, const CheckOptions& options) { return run(store, options, true); }

}  // namespace stator::engine
