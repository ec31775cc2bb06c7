#include "stator/storage/rocksdb/folder_check.h"

#include <fmt/format.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

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

constexpr std::string_view kManifestPrefix = "MANIFEST-";

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class FolderChecker {
 public:
  explicit FolderChecker(const std::string& folder) : folder_(folder), files_(FolderListing::of(folder)) {}

  Result<FolderCheck> run() {
    check_.mark = MarkFile::read(folder_);
    if (check_.mark) check_.expected = check_.mark->acknowledged.value;
    if (files_.repair_ready) {
      add(Kind::Repair, kRepairFolder,
          "holds a repair that was interrupted, and the database is in pieces until it is finished");
      return std::move(check_);
    }
    // The first manifest is there before CURRENT names it; no database that was ever open has that one alone.
    const bool had_manifest = !files_.manifests.empty() && files_.manifests.back() > 1;
    check_.is_new = !files_.current && !had_manifest && files_.tables.empty() && files_.logs.empty() && !files_.aside &&
                    !files_.repair_begun && check_.expected == 0;
    if (check_.is_new) return std::move(check_);
    if (const auto format = read_format(folder_); format != kDataFolderFormat) {
      add(Kind::Format, "FORMAT",
          format          ? fmt::format("says format {}", *format)
          : files_.format ? "is damaged"
                          : "is missing");
    }
    check_current();
    if (check_.manifest != 0) check_manifest();
    if (!found(Kind::Current) && !found(Kind::Manifest)) TRY(read_tables());
    TRY(read_logs());
    return std::move(check_);
  }

 private:
  void add(Kind kind, std::string file, std::string what) {
    check_.damage.push_back({kind, std::move(file), std::move(what)});
  }
  bool found(Kind kind) const {
    return std::any_of(check_.damage.begin(), check_.damage.end(), [&](const auto& one) { return one.kind == kind; });
  }
  const LiveFiles* marked() const { return check_.mark && check_.mark->files ? &*check_.mark->files : nullptr; }

  void check_current() {
    // The expected manifest, in case CURRENT does not name one.
    if (!files_.manifests.empty()) check_.manifest = files_.manifests.back();
    if (marked() != nullptr && has(files_.manifests, marked()->manifest)) check_.manifest = marked()->manifest;
    if (!files_.current) return add(Kind::Current, "CURRENT", "is missing");
    const DataFile file(folder_ + "/CURRENT", O_RDONLY);
    Bytes text(file.is_open() ? std::min<std::uint64_t>(file.size(), 64) : 0, '\0');
    if (!file.is_open() || !file.read_at(0, text)) return add(Kind::Current, "CURRENT", "cannot be read");
    std::optional<std::uint64_t> number;
    if (text.starts_with(kManifestPrefix) && text.ends_with('\n')) {
      number = number_of(BytesView(text).substr(kManifestPrefix.size(), text.size() - kManifestPrefix.size() - 1));
    }
    if (!number) return add(Kind::Current, "CURRENT", "is damaged");
    if (!has(files_.manifests, *number)) {
      // Which of the two is wrong, the mark tells.
      if (marked() != nullptr && has(files_.manifests, marked()->manifest)) {
        return add(Kind::Current, "CURRENT", fmt::format("names {}, which does not exist", manifest_name(*number)));
      }
      check_.manifest = *number;
      return add(Kind::Manifest, manifest_name(*number), "is missing");
    }
    if (marked() != nullptr && *number < marked()->manifest) {
      return add(Kind::Current, "CURRENT",
                 fmt::format("names {}, and {} was in use", manifest_name(*number), manifest_name(marked()->manifest)));
    }
    check_.manifest = *number;
  }

  void check_manifest() {
    if (found(Kind::Manifest)) return;
    const auto name = manifest_name(check_.manifest);
    std::optional<std::uint64_t> bad;
    std::string why;
    bool behind = false;
    const auto size = read_log_file(folder_ + "/" + name, RecordFile::Manifest,
                                    {.record = [&](auto, auto) { behind = bad.has_value(); },
                                     .damage =
                                         [&](std::uint64_t offset, std::string_view what) {
                                           if (!bad) why = what;
                                           bad = bad.value_or(offset);
                                         }});
    if (!size) return add(Kind::Manifest, name, size.error().message);
    std::uint64_t needed = 1;  // a manifest is never empty
    if (marked() != nullptr && marked()->manifest == check_.manifest) needed = marked()->manifest_bytes;
    if (*size < needed) {
      return add(Kind::Manifest, name, fmt::format("has {} bytes, and had {} when it was last written", *size, needed));
    }
    // A record that was being appended when the machine stopped may be incomplete.  It was never acknowledged.
    if (!bad) return;
    torn_manifest_ = fmt::format("is damaged at byte {}: {}", *bad, why);
    if (*bad < needed || behind) add(Kind::Manifest, name, torn_manifest_);
  }

  // Which tables there must be, the manifest says: RocksDB compares their sizes, and opens the first few.
  Result<void> read_tables() {
    TablesOnly tables(folder_);
    auto status = tables.open();
    check_.opened = status.ok();
    std::string value;
    if (status.ok()) status = tables.db().Get({}, {kSequenceKey.data(), kSequenceKey.size()}, &value);
    if (status.ok() && (value.size() != 9 || value[0] != kSequenceVersion)) {
      status = rocksdb::Status::Corruption("the commit sequence reads " + hex(value));
    }
    if (status.ok()) check_.flushed = read_u64be(value.data() + 1);
    // The manifest says which logs it was not the last to hear of, and how large they were.
    for (const auto& [number, what] : tables.bad_logs()) add(Kind::Log, log_name(number), what);
    if (status.ok() || status.IsNotFound()) {
      check_.tables_read = true;
      return {};
    }
    const auto text = status.ToString();
    const auto file = table_in(text);
    const bool missing = !file.empty() && !has(files_.tables, number_of(file.substr(0, file.find('.'))).value_or(0));
    if (file.empty() && !status.IsCorruption()) return storage_error("cannot read data folder " + folder_, status);
    if (missing && !torn_manifest_.empty()) {
      // Its lost records may say that a compaction has replaced the table.
      add(Kind::Manifest, manifest_name(check_.manifest), torn_manifest_);
      check_.opened = false;
      return {};
    }
    // RocksDB names the manifest, or nothing, when the end of a table is damaged.
    if (file.empty() && TRY(add_damaged_tables())) return {};
    add(Kind::Table, file.empty() ? std::string("a table file") : file,
        missing ? std::string("is missing") : fmt::format("is damaged: {}", text));
    return {};
  }

  // Whether there is one.
  Result<bool> add_damaged_tables() {
    const auto before = check_.damage.size();
    const auto tables = named_tables(folder_);
    if (!tables) return false;
    for (const auto& table : *tables) {
      const auto [opened, status] = check_table_file(folder_ + table.name, Blocks::Skipped);
      if (opened) continue;
      if (trouble_of(status) == StoreTrouble::NoDescriptors) return storage_error("cannot read " + table.name, status);
      check_.damage.push_back(table_damage(table.file_number, status));
    }
    return check_.damage.size() > before;
  }

  struct BadLog {
    std::string name, what;
    bool needed;  // holds commits that are in no table
  };

  Result<void> read_logs() {
    CommitChain reached(check_.flushed);
    std::uint64_t newest = 0;
    std::uint64_t synced = 0;  // the newest commit that was on disk when something behind it was written
    std::vector<BadLog> bad;
    for (const auto number : files_.logs) {
      std::uint64_t newest_here = 0;
      std::optional<BadLog> bad_here;
      const auto size = read_log_file(
          folder_ + "/" + log_name(number), RecordFile::Log,
          {.record =
               [&](std::uint64_t, BytesView record) {
                 const auto commit = commit_of_record(record);
                 if (!commit) return;
                 newest_here = std::max(newest_here, *commit);
                 // A record of an older program does not tell: all before it was on disk, and so may it be.
                 synced = std::max(synced, synced_at_record(record).value_or(*commit));
                 // RocksDB goes on behind a damaged record only with the next file, and only if no commit is missing
                 // there.  It does not notice every hole, so ReplayFilter keeps it from what this chain does not take.
                 if (!bad_here) reached.take(*commit);
               },
           .damage =
               [&](std::uint64_t offset, std::string_view what) {
                 if (!bad_here)
                   bad_here = {log_name(number), fmt::format("is damaged at byte {}: {}", offset, what), true};
               }});
      if (!size) return size.error();
      if (*size > 0 && !check_.mark) check_.mark_lost = true;
      newest = std::max(newest, newest_here);
      if (bad_here) bad.push_back(std::move(*bad_here));
    }
    check_.reachable = reached.last();
    const auto acknowledged = check_.expected;
    check_.expected = std::max({acknowledged, newest, check_.reachable});
    if (!check_.tables_read) return {};  // then there is no telling what the logs must hold
    // A power cut may have left any part of the unsynced records: relaxed, all behind the mark; otherwise those that
    // were written while the disk was still busy with earlier commits.
    const bool all_synced = marked() == nullptr || !marked()->relaxed;
    const auto must_have = all_synced ? std::max(acknowledged, synced) : acknowledged;
    if (check_.reachable >= must_have) return {};
    if (!torn_manifest_.empty() && check_.reachable == check_.flushed) {
      // Its lost records may name the newest tables, and RocksDB would delete those.
      add(Kind::Manifest, manifest_name(check_.manifest), torn_manifest_);
      check_.opened = check_.tables_read = false;
      return {};
    }
    std::erase_if(check_.damage,
                  [](const auto& one) { return one.kind == Kind::Log; });  // told again, with the commits
    const auto first = check_.reachable + 1;
    const auto missing = first == must_have
                             ? fmt::format("commit {} is missing", must_have)
                             : fmt::format("commits {} to {} are missing or behind the damage", first, must_have);
    if (!bad.empty()) {
      for (auto& one : bad) add(Kind::Log, one.name, fmt::format("{}; {}", one.what, missing));
      return {};
    }
    if (marked() != nullptr) {
      for (const auto number : marked()->logs) {
        if (!has(files_.logs, number)) add(Kind::Log, log_name(number), fmt::format("is missing; {}", missing));
      }
      if (found(Kind::Log)) return {};
    }
    if (files_.logs.empty()) {
      add(Kind::Log, "the log", fmt::format("is missing; {}", missing));
    } else {
      add(Kind::Log, log_name(files_.logs.back()), fmt::format("is cut short; {}", missing));
    }
    return {};
  }

  static bool has(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
    return std::binary_search(numbers.begin(), numbers.end(), number);
  }

  const std::string& folder_;
  const FolderListing files_;
  FolderCheck check_;
  std::string torn_manifest_;  // what is wrong with its end, which may be as a crash leaves it
};

}  // namespace

std::string manifest_name(std::uint64_t number) { return fmt::format("{}{:06}", kManifestPrefix, number); }
std::string table_name(std::uint64_t number) { return fmt::format("{:06}.sst", number); }
std::string log_name(std::uint64_t number) { return fmt::format("{:06}.log", number); }

FolderDamage table_damage(std::uint64_t number, const rocksdb::Status& status) {
  return {FolderDamage::Kind::Table, table_name(number), fmt::format("is damaged: {}", status.ToString())};
}

FolderListing FolderListing::of(const std::string& folder) {
  FolderListing listing;
  std::error_code code;
  for (fs::directory_iterator file(folder, code), end; !code && file != end; file.increment(code)) {
    const auto name = file->path().filename().string();
    if (name == "CURRENT") listing.current = true;
    if (name == "FORMAT") listing.format = true;
    if (name.starts_with("damaged-")) listing.aside = true;
    if (name == kRepairFolder) {
      listing.repair_begun = true;
      std::error_code ignored;
      listing.repair_ready = fs::exists(fs::symlink_status(file->path() / kRepairReady, ignored));
    }
    auto* numbers = &listing.manifests;
    std::optional<std::uint64_t> number;
    if (name.starts_with(kManifestPrefix)) {
      number = number_of(std::string_view(name).substr(kManifestPrefix.size()));
    } else if (name.size() > 4 && (name.ends_with(".sst") || name.ends_with(".log"))) {
      number = number_of(std::string_view(name).substr(0, name.size() - 4));
      numbers = name.ends_with(".sst") ? &listing.tables : &listing.logs;
    }
    if (number) numbers->push_back(*number);
  }
  for (auto* numbers : {&listing.manifests, &listing.tables, &listing.logs})
    std::sort(numbers->begin(), numbers->end());
  return listing;
}

Result<FolderCheck> check_folder(const std::string& folder) { return FolderChecker(folder).run(); }

Error damage_error(const std::string& folder, const FolderCheck& check) {
  if (check.damage.front().kind == Kind::Repair) {
    return {
        ErrorCode::Corruption,
        fmt::format("a repair of data folder {0} was interrupted: {0}/{1} holds what it saved, and the database is in "
                    "pieces. It was not opened, and nothing was changed. `stator repair --accept-loss --data {0}` "
                    "finishes the repair",
                    folder, kRepairFolder)};
  }
  static constexpr std::size_t kMost = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(check.damage.size(), kMost); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : "; ", check.damage[i].file, check.damage[i].what);
  }
  if (check.damage.size() > kMost) list += fmt::format("; and {} more", check.damage.size() - kMost);
  return {ErrorCode::Corruption,
          fmt::format(
              "data folder {0} is damaged: {1}. Acknowledged writes would be lost, so the database was not opened, and "
              "nothing was changed. Either restore a backup with `stator restore BACKUPS --data NEW_FOLDER`, or let "
              "`stator repair --data {0}` "
              "show what can be saved and `stator repair --accept-loss --data {0}` save it",
              folder, list)};
}

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& folder) {
  rocksdb::FileLock* lock = nullptr;
  const auto status = rocksdb::Env::Default()->LockFile(folder + "/LOCK", &lock);
  if (!status.ok()) {
    // Nobody can write to it, so nobody has to be kept from it.
    if (status.ToString().find("Read-only file system") != std::string::npos) {
      return std::unique_ptr<FolderLock>(new FolderLock(nullptr));
    }
    if (is_in_use(status)) {
      return Error{ErrorCode::Usage, fmt::format("data folder {} is in use by another stator process", folder)};
    }
    auto error = storage_error("cannot lock data folder " + folder, status);
    if (status.ToString().find("Permission denied") != std::string::npos) {
      if (const auto owner = foreign_owner(folder); !owner.empty()) error.message += "; " + owner;
    }
    return error;
  }
  return std::unique_ptr<FolderLock>(new FolderLock(lock));
}

FolderLock::~FolderLock() {
  if (lock_ != nullptr) rocksdb::Env::Default()->UnlockFile(static_cast<rocksdb::FileLock*>(lock_));
}

}  // namespace stator::storage
