#include "stator/storage/rocksdb/repair.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "stator/storage/rocksdb/data_folder.h"
#include "stator/storage/rocksdb/file.h"
#include "stator/storage/rocksdb/log_file.h"
#include "stator/storage/rocksdb/rocksdb_options.h"
#include "stator/storage/rocksdb/rocksdb_status.h"
#include "stator/storage/rocksdb/table_files.h"
#include "stator/storage/rocksdb/tables_only.h"

namespace stator::storage {
namespace {

namespace fs = std::filesystem;
using Kind = FolderDamage::Kind;
using Database = std::unique_ptr<rocksdb::DB>;

constexpr std::size_t kCopyBatch = std::size_t{1} << 20;
// How finely the keys around damaged blocks are searched for blocks that can be read.
constexpr int kMostHalvings = 10;
constexpr std::size_t kMostSeeks = 100'000;

rocksdb::Options options_of(const std::string& folder) {
  auto log = std::make_shared<LogBridge>();
  log->hold();  // what it has to say is in its statuses
  auto options = rocksdb_options({.path = folder}, log);
  options.track_and_verify_wals_in_manifest = false;  // logs are read here, not by RocksDB
  return options;
}

Result<void> rename_file(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::rename(from, to, code);
  if (code) return system_error("cannot move", from.string(), code.value());
  return {};
}

Result<void> make_folder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return system_error("cannot create", path.string(), code.value());
  return {};
}

// Makes sure that files made, renamed or removed in a folder are so on disk.
Result<void> sync_entries(const std::string& folder) {
  if (!sync_folder(folder)) return system_error("cannot sync", folder, errno);
  return {};
}

// The same bytes under another name: a link, or a copy where there are none.
Result<void> link_file(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::create_hard_link(from, to, code);
  if (code) fs::copy_file(from, to, fs::copy_options::overwrite_existing, code);
  if (code) return system_error("cannot copy", from.string(), code.value());
  return {};
}

bool is_rocksdb_file(const std::string& name) {
  return name == "CURRENT" || name == "IDENTITY" || name.starts_with("MANIFEST-") || name.starts_with("OPTIONS-") ||
         name.ends_with(".sst") || name.ends_with(".log");
}

std::vector<std::string> rocksdb_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator file(folder, code), end; !code && file != end; file.increment(code)) {
    if (is_rocksdb_file(file->path().filename().string())) names.push_back(file->path().filename().string());
  }
  return names;
}

std::string dense_hex(BytesView bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::optional<Bytes> unhex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

// Halfway between two keys, as numbers behind a point.
Bytes between(BytesView low, BytesView high) {
  static constexpr std::size_t kDigits = 64;
  Bytes sum(kDigits, '\0');
  unsigned carry = 0;
  const auto digit = [](BytesView bytes, std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
  };
  for (std::size_t i = kDigits; i-- > 0;) {
    const unsigned both = digit(low, i) + digit(high, i) + carry;
    sum[i] = static_cast<char>(both & 0xFF);
    carry = both >> 8;
  }
  for (auto& byte : sum) {
    const auto value = carry << 8 | static_cast<unsigned char>(byte);
    byte = static_cast<char>(value >> 1);
    carry = value & 1;
  }
  return sum;
}

// Copies all that can be read, key by key.  Where a block of any file is damaged, the keys it may hold are left out of
// all files: an older version of an item must not come back in place of a newer one.
class Copier {
 public:
  Copier(rocksdb::DB& from, rocksdb::DB& to, std::uint64_t total, const RepairProgress& progress)
      : from_(from), to_(to), total_(total), progress_(progress) {}

  Result<void> run() {
    std::deque<Stretch> stretches{{Bytes(), Bytes(64, '\xff'), 0}};
    while (!stretches.empty()) {
      auto stretch = std::move(stretches.front());
      stretches.pop_front();
      if (TRY(copy(stretch))) continue;
      const auto middle = between(stretch.begin, stretch.end);
      if (stretch.halvings == kMostHalvings || seeks_ > kMostSeeks || middle <= stretch.begin ||
          middle >= stretch.end) {
        lost_.push_back({std::move(stretch.begin), std::move(stretch.end)});
        continue;
      }
      stretches.push_back({std::move(stretch.begin), middle, stretch.halvings + 1});
      stretches.push_back({middle, std::move(stretch.end), stretch.halvings + 1});
    }
    return write();
  }

  // Neighbours as one.
  std::vector<KeyRange> lost() {
    std::sort(lost_.begin(), lost_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::vector<KeyRange> merged;
    for (auto& range : lost_) {
      if (!merged.empty() && merged.back().end >= range.begin) {
        merged.back().end = std::max(merged.back().end, range.end);
      } else {
        merged.push_back(std::move(range));
      }
    }
    return merged;
  }

 private:
  struct Stretch {
    Bytes begin, end;
    int halvings;
  };

  // From both ends towards the damage; shortens the stretch to what is left.  True: all of it was copied.
  Result<bool> copy(Stretch& stretch) {
    seeks_ += 2;
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    const rocksdb::Slice lower(stretch.begin);
    const rocksdb::Slice upper(stretch.end);
    read.iterate_lower_bound = &lower;
    read.iterate_upper_bound = &upper;
    Bytes begin = stretch.begin;
    {
      const std::unique_ptr<rocksdb::Iterator> forward(from_.NewIterator(read));
      for (forward->SeekToFirst(); forward->Valid(); forward->Next()) {
        TRY(put(*forward));
        begin = forward->key().ToString() + Bytes(1, '\0');
      }
      if (forward->status().ok()) return true;
      if (!is_damage(forward->status())) return storage_error("cannot read", forward->status());
    }
    Bytes end = stretch.end;
    {
      const std::unique_ptr<rocksdb::Iterator> backward(from_.NewIterator(read));
      for (backward->SeekToLast(); backward->Valid() && backward->key().ToStringView() >= begin; backward->Prev()) {
        TRY(put(*backward));
        end = backward->key().ToString();
      }
      if (!backward->status().ok() && !is_damage(backward->status())) {
        return storage_error("cannot read", backward->status());
      }
    }
    stretch.begin = std::move(begin);
    stretch.end = std::move(end);
    return stretch.begin >= stretch.end;
  }

  // A file that the disk cannot read is as good as a damaged one.
  static bool is_damage(const rocksdb::Status& status) {
    const auto trouble = trouble_of(status);
    return trouble == StoreTrouble::Damaged ||
           (trouble == StoreTrouble::DiskFailing && !table_in(status.ToString()).empty());
  }

  Result<void> put(const rocksdb::Iterator& entry) {
    batch_.Put(entry.key(), entry.value());
    done_ += entry.key().size() + entry.value().size();
    if (batch_.GetDataSize() < kCopyBatch) return {};
    return write();
  }

  Result<void> write() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    const auto status = to_.Write(options, &batch_);
    batch_.Clear();
    progress_("copying", std::min(done_, total_), total_);
    if (!status.ok()) return storage_error("cannot write what was saved", status);
    return {};
  }

  rocksdb::DB& from_;
  rocksdb::DB& to_;
  const std::uint64_t total_;
  const RepairProgress& progress_;
  rocksdb::WriteBatch batch_;
  std::uint64_t done_ = 0;
  std::size_t seeks_ = 0;
  std::vector<KeyRange> lost_;
};

class Repair {
 public:
  Repair(const std::string& folder, const RepairOptions& options)
      : folder_(folder), options_(options), work_(fs::path(folder) / kRepairFolder) {}

  Result<RepairReport> run() {
    if (!fs::exists(folder_)) return Error{ErrorCode::Usage, fmt::format("there is no data folder {}", folder_)};
    TRY(check_is_ours());
    TRY(refuse_links(folder_));
    lock_ = TRY(FolderLock::take(folder_));
    report_.aside = options_.aside;
    if (fs::exists(work_ / kRepairReady)) {
      if (auto begun = read_ready()) return finish(std::move(*begun));
      if (!options_.accept_loss) {
        report_.damage.push_back(
            {Kind::Repair, kRepairFolder, "holds a repair that was interrupted before it changed anything"});
        return std::move(report_);
      }
      // No file was moved yet, and the saved data may be older than the database is now.
      std::error_code code;
      fs::remove_all(work_, code);
    }
    TRY(look());
    if (report_.damage.empty()) return std::move(report_);
    if (!options_.accept_loss) {
      find_ranges();
      return std::move(report_);
    }
    std::error_code code;
    fs::remove_all(work_, code);
    TRY(mend());
    fs::remove_all(work_, code);
    report_.repaired = true;
    return std::move(report_);
  }

 private:
  bool found(Kind kind) const {
    return std::any_of(check_.damage.begin(), check_.damage.end(), [&](const auto& one) { return one.kind == kind; });
  }

  // READY: the folder for the damaged files, the damage and the losses, for the report if another run finishes the
  // repair.
  Result<void> write_ready() const {
    std::string text = fmt::format("{}\nlost {} {} {}\n", options_.aside, report_.acknowledged, report_.commits_saved,
                                   report_.commits_lost);
    for (const auto& one : report_.damage) {
      auto what = one.what;
      std::replace(what.begin(), what.end(), '\n', ' ');
      text += fmt::format("damage {} {} {}\n", static_cast<int>(one.kind), one.file, what);
    }
    for (const auto& name : report_.tables_lost) text += fmt::format("table {}\n", name);
    for (const auto& range : report_.ranges_lost)
      text += fmt::format("range x{} x{}\n", dense_hex(range.begin), dense_hex(range.end));
    TRY(replace_file((work_ / kRepairReady).string(), text));
    return sync_entries(work_.string());
  }

  // Nothing when the old database is still in its place.
  std::optional<RepairReport> read_ready() const {
    if (fs::exists(fs::path(folder_) / "CURRENT") && !fs::exists(work_ / "CLEARED")) return std::nullopt;
    RepairReport report;
    std::ifstream in(work_ / kRepairReady);
    std::getline(in, report.aside);
    // It becomes the name of a folder, so it has to be one.
    if (report.aside.empty() || report.aside.front() == '.' || report.aside.find('/') != std::string::npos) {
      report.aside = options_.aside;
    }
    report.damage.push_back({Kind::Repair, kRepairFolder, "holds a repair that was interrupted"});
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string word;
      std::string first;
      std::string second;
      words >> word;
      if (word == "lost") {
        words >> report.acknowledged >> report.commits_saved >> report.commits_lost;
      } else if (word == "damage") {
        int kind = 0;
        words >> kind >> first >> std::ws;
        std::getline(words, second);
        if (kind < 0 || kind > static_cast<int>(Kind::Repair)) continue;
        report.damage.push_back({static_cast<Kind>(kind), first, second});
      } else if (word == "table") {
        words >> first;
        report.tables_lost.push_back(first);
      } else if (word == "range") {
        words >> first >> second;
        if (!first.starts_with('x') || !second.starts_with('x')) continue;
        auto begin = unhex(std::string_view(first).substr(1));
        auto end = unhex(std::string_view(second).substr(1));
        if (begin && end) report.ranges_lost.push_back({std::move(*begin), std::move(*end)});
      }
    }
    return report;
  }

  // Everything was saved, and only the last step is missing.
  Result<RepairReport> finish(RepairReport begun) {
    if (!options_.accept_loss) return begun;
    TRY(take_over(begun.aside));
    begun.damage.front().what = "held a repair that was interrupted; it is finished now";
    begun.repaired = true;
    return begun;
  }

  Result<void> check_is_ours() const {
    const auto files = FolderListing::of(folder_);
    if (files.format || files.repair_ready || MarkFile::read(folder_)) return {};
    return Error{ErrorCode::Usage,
                 fmt::format("{} is not a data folder: it has neither a FORMAT nor a MARK file", folder_)};
  }

  Result<void> look() {
    options_.progress("reading the logs", 0, 1);
    check_ = TRY(check_folder(folder_));
    TRY(count_commits());
    if (!check_.is_new) TRY(read_tables());
    report_.damage = check_.damage;
    report_.acknowledged = check_.expected;
    report_.mark_lost = check_.mark_lost;
    return {};
  }

  // Blocks that are damaged are not seen when a folder is opened.
  Result<void> read_tables() {
    const auto files = FolderListing::of(folder_);
    std::uint64_t done = 0;
    for (const auto number : files.tables) {
      options_.progress("reading table files", done++, files.tables.size());
      const auto name = table_name(number);
      const auto [opened, status] = check_table_file(folder_ + "/" + name, Blocks::Read);
      if (status.ok()) continue;
      if (trouble_of(status) == StoreTrouble::NoDescriptors) return storage_error("cannot read " + name, status);
      if (!opened) unreadable_.push_back(number);
      const bool known =
          std::any_of(check_.damage.begin(), check_.damage.end(), [&](const auto& one) { return one.file == name; });
      if (!known) check_.damage.push_back(table_damage(number, status));
    }
    options_.progress("reading table files", files.tables.size(), files.tables.size());
    for (const auto number : unreadable_) report_.tables_lost.push_back(table_name(number));
    if (!check_.mark || !check_.mark->files || check_.opened || found(Kind::Manifest)) return {};
    const auto live = live_tables();
    for (const auto& table : check_.mark->files->tables) {
      const bool there = std::binary_search(files.tables.begin(), files.tables.end(), table.number);
      // A compaction can have replaced it since MARK was written.
      const bool needed = !live || std::any_of(live->begin(), live->end(),
                                               [&](const auto& file) { return file.file_number == table.number; });
      if (!there && needed) report_.tables_lost.push_back(table_name(table.number));
    }
    return {};
  }

  // The tables that the manifest names; nothing if it cannot be read.
  std::optional<std::vector<rocksdb::LiveFileMetaData>> live_tables() const {
    if (found(Kind::Manifest) || found(Kind::Current)) return std::nullopt;
    return named_tables(folder_);
  }

  // From the first to the last key of every damaged table file, as far as the manifest can be read.
  void find_ranges() {
    if (!found(Kind::Table)) return;
    const auto files = live_tables();
    if (!files) return;
    for (const auto& file : *files) {
      const bool damaged = std::any_of(check_.damage.begin(), check_.damage.end(), [&](const auto& one) {
        return one.kind == Kind::Table && file.name.ends_with(one.file);
      });
      if (damaged) report_.ranges_lost.push_back({file.smallestkey, file.largestkey + Bytes(1, '\0')});
    }
  }

  // Calls `commit` with every commit in the logs of `folder` that is newer than `after` and all before it.
  static Result<void> for_each_commit(const std::string& folder, std::uint64_t after,
                                      const std::function<Result<void>(std::uint64_t, BytesView)>& commit) {
    const auto read = [&](const std::function<void(std::uint64_t, BytesView)>& take) -> Result<void> {
      const auto take_newer = [&](std::uint64_t, BytesView record) {
        if (const auto sequence = commit_of_record(record); sequence && *sequence > after) take(*sequence, record);
      };
      for (const auto number : FolderListing::of(folder).logs) {
        TRY(read_log_file(folder + "/" + log_name(number), RecordFile::Log,
                          {.record = take_newer, .damage = [](auto, auto) {}}));
      }
      return {};
    };
    // A start that left a commit out gave its number, and those behind it, again.  So a commit counts only if all that
    // were written later have greater numbers.
    std::vector<std::uint64_t> least_later;
    TRY(read([&](std::uint64_t sequence, BytesView) { least_later.push_back(sequence); }));
    auto least = std::numeric_limits<std::uint64_t>::max();
    for (auto one = least_later.rbegin(); one != least_later.rend(); ++one) {
      const auto sequence = std::exchange(*one, least);
      least = std::min(least, sequence);
    }
    Result<void> outcome;
    std::size_t next = 0;
    TRY(read([&](std::uint64_t sequence, BytesView record) {
      const bool counts = next < least_later.size() && sequence < least_later[next];
      ++next;
      if (outcome && counts) outcome = commit(sequence, record);
    }));
    return outcome;
  }

  Result<void> count_commits() {
    report_.commits_saved = 0;
    TRY(for_each_commit(folder_, check_.flushed, [&](auto, auto) {
      ++report_.commits_saved;
      return Result<void>();
    }));
    // Without the tables there is no telling where the logs have to begin.
    if (!check_.tables_read) return {};
    const auto expected = check_.expected - std::min(check_.expected, check_.flushed);
    report_.commits_lost = expected - std::min(expected, report_.commits_saved);
    return {};
  }

  Result<void> mend() {
    if (found(Kind::Format)) {
      TRY(make_folder(aside()));
      if (fs::exists(fs::path(folder_) / "FORMAT")) TRY(move_aside("FORMAT"));
      TRY(write_format(folder_));
    }
    if (found(Kind::Current) && !found(Kind::Manifest) && check_.manifest != 0) {
      TRY(make_folder(aside()));
      if (fs::exists(fs::path(folder_) / "CURRENT")) TRY(move_aside("CURRENT"));
      TRY(replace_file(folder_ + "/CURRENT", manifest_name(check_.manifest) + "\n"));
      TRY(sync_entries(folder_));
      // Only now can the contents of the tables be checked.
      const auto told = report_.damage;
      unreadable_.clear();
      report_.tables_lost.clear();
      TRY(look());
      report_.damage.insert(report_.damage.begin(), told.begin(), told.end());
    }
    if (found(Kind::Table) || found(Kind::Manifest) || found(Kind::Current)) return rebuild();
    if (found(Kind::Log)) return replay_logs();
    return {};
  }

  fs::path aside() const { return fs::path(folder_) / options_.aside; }
  Result<void> move_aside(const std::string& name) const {
    return rename_file(fs::path(folder_) / name, aside() / name);
  }

  // Tables and manifest are good: what can be read from the logs becomes tables.  The logs stay where they are until
  // that is done.  If the manifest is older than it seems, RocksDB deletes tables, so everything is linked aside
  // before.
  Result<void> replay_logs() {
    TRY(make_folder(aside()));
    TRY(make_folder(work_ / "logs"));
    for (const auto& name : rocksdb_files(folder_)) {
      if (!fs::exists(aside() / name)) TRY(link_file(fs::path(folder_) / name, aside() / name));
    }
    TRY(sync_entries(aside().string()));
    {
      auto options = options_of(folder_);
      options.wal_dir = (work_ / "logs").string();  // RocksDB reads, and deletes, those of its folder only
      rocksdb::DB* opened = nullptr;
      lock_.reset();  // RocksDB takes it itself
      const auto status = rocksdb::DB::Open(options, folder_, &opened);
      if (!status.ok()) return storage_error("cannot open " + folder_, status);
      const Database db(opened);
      TRY(apply_logs(*db, aside().string()));
    }
    lock_ = TRY(FolderLock::take(folder_));
    for (const auto number : FolderListing::of(folder_).logs) ::unlink((folder_ + "/" + log_name(number)).c_str());
    return drop_mark();
  }

  // A new database of all that can be read.
  Result<void> rebuild() {
    const auto fresh = work_ / "new";
    TRY(make_folder(fresh));
    std::uint64_t total = 0;
    for (const auto number : FolderListing::of(folder_).tables) {
      std::error_code code;
      const auto size = fs::file_size(fs::path(folder_) / table_name(number), code);
      if (!code) total += size;
    }
    const auto room = free_bytes(folder_);
    if (room && *room < total) {
      return Error{ErrorCode::Storage, fmt::format("the repair needs {} MB of room in {}, which has {} MB",
                                                   (total >> 20) + 1, folder_, *room >> 20)};
    }
    auto source = folder_;
    if (!check_.opened || !unreadable_.empty()) source = TRY(make_manifest());
    {
      TablesOnly from(source);
      if (const auto status = from.open(); !status.ok()) return storage_error("cannot read " + source, status);
      auto options = options_of(fresh.string());
      rocksdb::DB* opened = nullptr;
      const auto status = rocksdb::DB::Open(options, fresh.string(), &opened);
      if (!status.ok()) return storage_error("cannot create " + fresh.string(), status);
      const Database to(opened);
      Copier copier(from.db(), *to, total, options_.progress);
      TRY(copier.run());
      report_.ranges_lost = copier.lost();
      TRY(apply_logs(*to, folder_));
    }
    TRY(write_ready());
    return take_over(options_.aside);
  }

  // A folder with the tables that can be read and a manifest made from them.  Which of them is newer than which is
  // lost, but every entry has its number, and those who read all of them in order (the copy does) see the newest.
  Result<std::string> make_manifest() {
    const auto old = work_ / "old";
    TRY(make_folder(old));
    const auto files = FolderListing::of(folder_);
    const auto* marked =
        check_.mark && check_.mark->files && check_.mark->files->complete ? &*check_.mark->files : nullptr;
    std::uint64_t newest_marked = 0;
    if (marked != nullptr) {
      for (const auto& table : marked->tables) newest_marked = std::max(newest_marked, table.number);
    }
    for (const auto number : files.tables) {
      if (std::find(unreadable_.begin(), unreadable_.end(), number) != unreadable_.end()) continue;
      // A file that compaction had replaced could bring back deleted keys.
      const bool superfluous =
          marked != nullptr && number < newest_marked &&
          std::none_of(
              marked->tables.begin(), marked->tables.end(), [&](const auto& table) { return table.number == number; });
      if (!superfluous) TRY(link_file(fs::path(folder_) / table_name(number), old / table_name(number)));
    }
    options_.progress("making a manifest", 0, 1);
    const auto status = rocksdb::RepairDB(old.string(), options_of(old.string()));
    if (!status.ok()) return storage_error("cannot make a manifest", status);
    for (const auto number : FolderListing::of((old / "lost").string()).tables) {
      report_.tables_lost.push_back(table_name(number));
    }
    return old.string();
  }

  // Every commit in the logs of `logs` that the database does not have yet.
  Result<void> apply_logs(rocksdb::DB& db, const std::string& logs) {
    std::string value;
    const auto status = db.Get({}, {kSequenceKey.data(), kSequenceKey.size()}, &value);
    const std::uint64_t last = status.ok() && value.size() == 9 ? read_u64be(value.data() + 1) : 0;
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    report_.commits_saved = 0;
    std::uint64_t newest = last;
    TRY(for_each_commit(logs, last, [&](std::uint64_t sequence, BytesView record) -> Result<void> {
      newest = sequence;
      rocksdb::WriteBatch batch{std::string(record)};
      const auto done = db.Write(write, &batch);
      if (!done.ok()) return storage_error("cannot write what was saved", done);
      options_.progress("replaying the logs", ++report_.commits_saved, report_.acknowledged - last);
      return {};
    }));
    if (check_.tables_read) {
      const auto expected = report_.acknowledged - std::min(report_.acknowledged, last);
      report_.commits_lost = expected - std::min(expected, report_.commits_saved);
    }
    // The number of a commit that is lost is not given out again: streams and readers may remember it.
    Bytes sequence(1, kSequenceVersion);
    append_u64be(sequence, std::max(newest, report_.acknowledged));
    auto done = db.Put(write, {kSequenceKey.data(), kSequenceKey.size()}, sequence);
    if (done.ok()) done = db.Flush({});
    if (!done.ok()) return storage_error("cannot write what was saved", done);
    return {};
  }

  // Puts the new database into the place of the old one.  CURRENT is the first to go and the last to come: without it
  // the folder is not opened, and neither is it while READY is there.
  Result<void> take_over(const std::string& aside_name) {
    const auto target = fs::path(folder_) / aside_name;
    const auto fresh = work_ / "new";
    TRY(make_folder(target));
    // After a first run, files from `new` are already in the folder, and a second run must not move them away.
    if (fs::exists(fresh / "CURRENT") && !fs::exists(work_ / "CLEARED")) {
      auto names = rocksdb_files(folder_);
      std::stable_partition(names.begin(), names.end(), [](const auto& name) { return name == "CURRENT"; });
      for (const auto& name : names) TRY(rename_file(fs::path(folder_) / name, target / name));
      TRY(sync_entries(folder_));
      TRY(replace_file((work_ / "CLEARED").string(), "\n"));
      TRY(sync_entries(work_.string()));
    }
    for (const auto& name : rocksdb_files(fresh)) {
      if (name != "CURRENT") TRY(rename_file(fresh / name, fs::path(folder_) / name));
    }
    TRY(sync_entries(folder_));
    if (fs::exists(fresh / "CURRENT")) TRY(rename_file(fresh / "CURRENT", fs::path(folder_) / "CURRENT"));
    // It says what was there before; the next start makes a new one.
    if (fs::exists(fs::path(folder_) / kMarkName)) TRY(rename_file(fs::path(folder_) / kMarkName, target / kMarkName));
    TRY(sync_entries(folder_));
    std::error_code code;
    fs::remove_all(work_, code);
    return {};
  }

  // It says what was there before; the next start makes a new one.
  Result<void> drop_mark() const {
    if (fs::exists(fs::path(folder_) / kMarkName)) TRY(move_aside(kMarkName));
    return {};
  }

  const std::string& folder_;
  const RepairOptions& options_;
  const fs::path work_;
  std::unique_ptr<FolderLock> lock_;
  FolderCheck check_;
  std::vector<std::uint64_t> unreadable_;  // tables that cannot even be opened
  RepairReport report_;
};

}  // namespace

Result<RepairReport> repair_folder(const std::string& folder, const RepairOptions& options) {
  const OwnerGuard owner(folder);
  return Repair(folder, options).run();
}

}  // namespace stator::storage
