#include "stator/backup/backup_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "stator/backup/checksum.h"

namespace stator::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "stator-backups 1\n";
constexpr std::string_view kManifestSuffix = ".manifest";
constexpr std::string_view kTableSuffix = ".sst";
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxManifestBytes = std::size_t{16} << 20;

Error ended() { return {ErrorCode::Busy, "it was ended"}; }

// Adds up what is done, and asks whether to go on.
class Meter {
 public:
  Meter(const Progress& progress, std::uint64_t total) : progress_(progress), total_(total) {}
  Result<void> advance(std::uint64_t bytes) {
    done_ += bytes;
    if (progress_ && !progress_(done_, total_)) return ended();
    return {};
  }

 private:
  const Progress& progress_;
  const std::uint64_t total_;
  std::uint64_t done_ = 0;
};

// The damage of an object's bytes; nothing if they are unchanged.
Result<std::optional<std::string>> compare(const std::string& path, const BackupFile& file, Meter* meter) {
  auto opened = File::open(path);
  if (!opened) return std::optional<std::string>("it is missing, or cannot be opened");
  Checksum checksum;
  std::uint64_t size = 0;
  for (;;) {
    const auto bytes = opened->read(kChunkBytes);
    if (!bytes) return std::optional<std::string>(bytes.error().message);
    if (bytes->empty()) break;
    checksum.add(*bytes);
    size += bytes->size();
    if (meter != nullptr) TRY(meter->advance(bytes->size()));
  }
  if (size != file.size_bytes) {
    return std::optional<std::string>(fmt::format("it has {} bytes instead of {}", size, file.size_bytes));
  }
  if (checksum.text() != file.checksum) return std::optional<std::string>("its bytes have changed");
  return std::optional<std::string>();
}

void remove_file(const std::string& path) {
  std::error_code code;
  fs::remove(path, code);
}

}  // namespace

Result<BackupFolder> BackupFolder::open(const std::string& path, Use use) {
  const auto format_path = path + "/FORMAT";
  std::error_code code;
  const bool there = fs::exists(format_path, code);
  if (there) {
    const auto format = TRY(read_file(format_path, 64));
    if (format != kFormat) {
      return Error{ErrorCode::Usage, fmt::format("{} is not a folder of backups, or a newer stator has made it", path)};
    }
  }
  if (use == Use::Read) {
    if (!there) return Error{ErrorCode::Usage, fmt::format("there are no backups in {}", path)};
    return BackupFolder(path, std::nullopt);
  }
  if (!there) {
    // FORMAT comes last: what an interrupted start has made is there again the next time.
    TRY(make_folder(path));
    static constexpr std::string_view kOwn[] = {"FORMAT.new", "LOCK", "backups", "files", "partial"};
    for (const auto& name : TRY(list_folder(path))) {
      if (std::find(std::begin(kOwn), std::end(kOwn), name) == std::end(kOwn)) {
        return Error{
            ErrorCode::Usage,
            fmt::format("{} holds something else ({}); name an empty folder, or one that holds backups", path, name)};
      }
    }
  }
  const auto lock_path = path + "/LOCK";
  if (!fs::exists(lock_path, code)) ignore_error(File::create(lock_path), "another process may have been faster");
  auto lock = TRY(File::open(lock_path));
  if (!TRY(lock.lock())) return Error{ErrorCode::Usage, fmt::format("another stator process is writing to {}", path)};
  for (const auto* folder : {"/files", "/backups", "/partial"}) TRY(make_folder(path + folder));
  for (const auto& name : TRY(list_folder(path + "/partial"))) remove_file(path + "/partial/" + name);
  if (!there) {
    remove_file(format_path + ".new");
    auto format = TRY(File::create(format_path + ".new"));
    TRY(format.write(kFormat));
    TRY(format.sync());
    TRY(rename_file(format_path + ".new", format_path));
    TRY(sync_folder(path));
  }
  return BackupFolder(path, std::move(lock));
}

std::string BackupFolder::object_path(const BackupFile& file) const {
  return fmt::format("{}/files/{}", path_, file.object_name());
}

std::string BackupFolder::manifest_path(std::string_view id) const {
  return fmt::format("{}/backups/{}{}", path_, id, kManifestSuffix);
}

Result<std::string> BackupFolder::new_id(const Clock& clock) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(clock.now()).time_since_epoch().count();
  const auto time = fmt::format("{:%Y-%m-%dT%H-%M-%SZ}", fmt::gmtime(seconds));
  const auto backups = TRY(list());
  if (backups.empty() || backups.back().id < time) return time;
  // Another one in this second, or the clock was set back: one more than the newest, so that this is the newest.
  const auto& newest = backups.back().id;
  const auto dash = newest.rfind('-');
  const auto number = dash == newest.npos ? std::string_view() : std::string_view(newest).substr(dash + 1);
  int count = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  const bool counted = error == std::errc() && end == number.data() + number.size() && number.size() == 3;
  if (!counted || count == 999) return newest + "-002";
  return fmt::format("{}-{:03}", newest.substr(0, dash), count + 1);
}

Result<BackupFile> BackupFolder::copy_in(const storage::FrozenFiles& files, std::size_t index, const FileCheck& check,
                                         const std::function<Result<void>(std::uint64_t)>& advance) {
  const auto& source = files.files()[index];
  BackupFile file{
      .name = source.name, .size_bytes = source.size_bytes, .checksum = {}, .content_id = source.content_id};
  const auto partial = fmt::format("{}/partial/{}", path_, index);
  Checksum checksum;
  {
    auto out = TRY(File::create(partial));
    for (std::uint64_t at = 0; at < file.size_bytes;) {
      const auto limit = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, file.size_bytes - at));
      const auto bytes = TRY(files.read(index, at, limit));
      if (bytes.size() != limit) return Error{ErrorCode::Storage, fmt::format("{} ends early", source.name)};
      checksum.add(bytes);
      TRY(out.write(bytes));
      at += bytes.size();
      TRY(advance(bytes.size()));
    }
    TRY(out.sync());
  }
  file.checksum = checksum.text();
  if (const auto problem = TRY(compare(partial, file, nullptr))) {
    return Error{ErrorCode::Storage, fmt::format("{} was written and reads differently: {}", partial, *problem)};
  }
  if (file.name.ends_with(kTableSuffix) && check) {
    if (const auto whole = check(partial); !whole) {
      return Error{ErrorCode::Corruption, fmt::format("{} of the database is damaged, and is not backed up: {}",
                                                      file.name, whole.error().message)};
    }
  }
  TRY(rename_file(partial, object_path(file)));
  return file;
}

Result<AddedBackup> BackupFolder::add(const storage::FrozenFiles& files, std::string_view source, const Clock& clock,
                                      const FileCheck& check, const Progress& progress, Reuse reuse) {
  AddedBackup added{
      .backup = {
          .id = TRY(new_id(clock)), .source = std::string(source), .last_commit = files.last_commit(), .files = {}}};
  std::map<std::string, BackupFile> present;  // by content id
  for (const auto& name : TRY(list_folder(path_ + "/files"))) {
    auto object = parse_object_name(name);
    if (!object || object->content_id.empty()) continue;
    const auto size = size_of_file(object_path(*object));
    if (size && *size == object->size_bytes) present.insert_or_assign(object->content_id, std::move(*object));
  }
  std::uint64_t total = 0;
  std::set<std::string> names;
  const auto known = [&](const storage::StoreFile& file) -> const BackupFile* {
    const auto found = file.content_id.empty() ? present.end() : present.find(file.content_id);
    return found != present.end() && found->second.size_bytes == file.size_bytes ? &found->second : nullptr;
  };
  for (const auto& file : files.files()) {
    if (!is_file_name(file.name) || !is_content_id(file.content_id) || !names.insert(file.name).second) {
      return Error{ErrorCode::Corruption,
                   fmt::format("the source names a file that no data folder has: {}", file.name)};
    }
    if (reuse == Reuse::Verify || known(file) == nullptr) total += file.size_bytes;
  }

  Meter meter(progress, total);
  TRY(meter.advance(0));
  for (std::size_t i = 0; i < files.files().size(); ++i) {
    const auto& file = files.files()[i];
    if (const auto* object = known(file)) {
      if (reuse == Reuse::Trust || !TRY(compare(object_path(*object), *object, &meter))) {
        auto again = *object;
        again.name = file.name;
        added.backup.files.push_back(std::move(again));
        continue;
      }
      ++added.mended_files;  // the copy takes its place, for the backups that have it, too
    }
    added.backup.files.push_back(
        TRY(copy_in(files, i, check, [&](std::uint64_t bytes) { return meter.advance(bytes); })));
    ++added.copied_files;
    added.copied_bytes += file.size_bytes;
  }
  TRY(sync_folder(path_ + "/files"));

  const auto manifest = encode_manifest(added.backup);
  if (manifest.size() > kMaxManifestBytes) return Error{ErrorCode::LimitExceeded, "the database has too many files"};
  const auto partial = path_ + "/partial/manifest";
  {
    auto out = TRY(File::create(partial));
    TRY(out.write(manifest));
    TRY(out.sync());
  }
  TRY(rename_file(partial, manifest_path(added.backup.id)));
  TRY(sync_folder(path_ + "/backups"));
  added.removed_bytes = TRY(collect_garbage());
  return added;
}

Result<std::vector<ListedBackup>> BackupFolder::list() const {
  std::vector<ListedBackup> backups;
  for (auto name : TRY(list_folder(path_ + "/backups"))) {
    if (!name.ends_with(kManifestSuffix)) continue;
    name.resize(name.size() - kManifestSuffix.size());
    if (!is_backup_id(name)) continue;
    const auto bytes = read_file(manifest_path(name), kMaxManifestBytes);
    auto backup = bytes ? decode_manifest(*bytes) : Result<Backup>(bytes.error());
    if (backup && backup->id != name) backup = Error{ErrorCode::Corruption, "the manifest is that of another backup"};
    ListedBackup listed{.id = name, .backup = {}};
    if (backup) {
      listed.backup = std::move(*backup);
    } else {
      listed.problem = backup.error().message;
    }
    backups.push_back(std::move(listed));
  }
  // Not as the files sort: "...Z-002.manifest" is before "...Z.manifest".
  std::sort(backups.begin(), backups.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return backups;
}

Result<Backup> BackupFolder::find(std::string_view id) const {
  auto backups = TRY(list());
  if (id.empty() && !backups.empty()) id = backups.back().id;
  for (auto& listed : backups) {
    if (listed.id != id) continue;
    if (listed.backup) return std::move(*listed.backup);
    return Error{ErrorCode::Corruption,
                 fmt::format("backup {} in {}: {}; stator backup --list {} shows others, which --backup ID chooses",
                             listed.id, path_, listed.problem, path_)};
  }
  if (backups.empty()) return Error{ErrorCode::Usage, fmt::format("there is no complete backup in {}", path_)};
  return Error{ErrorCode::Usage,
               fmt::format("there is no backup {} in {}; stator backup --list {} shows them", id, path_, path_)};
}

Result<VerifiedBackups> BackupFolder::verify(std::string_view id, const FileCheck& check,
                                             const Progress& progress) const {
  VerifiedBackups verified;
  const auto object_to = [&](std::string what) {
    if (++verified.total_problems <= VerifiedBackups::kMaxProblems) verified.problems.push_back(std::move(what));
  };
  std::map<std::string, std::pair<BackupFile, std::string>> objects;  // and a backup that has it
  bool found = false;
  for (const auto& listed : TRY(list())) {
    if (!id.empty() && listed.id != id) continue;
    found = true;
    ++verified.backups;
    if (!listed.backup) {
      object_to(fmt::format("backup {}: {}", listed.id, listed.problem));
      continue;
    }
    for (const auto& file : listed.backup->files)
      objects.insert_or_assign(file.object_name(), std::pair(file, listed.id));
  }
  if (!found) return Error{ErrorCode::Usage, fmt::format("there is no {} in {}", id.empty() ? "backup" : id, path_)};
  std::uint64_t total = 0;
  for (const auto& [name, entry] : objects) total += entry.first.size_bytes;
  Meter meter(progress, total);
  for (const auto& [name, entry] : objects) {
    const auto& [file, backup] = entry;
    auto problem = TRY(compare(object_path(file), file, &meter));
    if (!problem && check && file.name.ends_with(kTableSuffix)) {
      if (const auto whole = check(object_path(file)); !whole) problem = whole.error().message;
    }
    ++verified.files;
    verified.bytes += file.size_bytes;
    if (problem) object_to(fmt::format("{} ({} in backup {}): {}", object_path(file), file.name, backup, *problem));
  }
  return verified;
}

bool BackupFolder::is_whole(const ListedBackup& listed) const {
  return listed.backup && std::all_of(listed.backup->files.begin(), listed.backup->files.end(), [&](const auto& file) {
           const auto size = size_of_file(object_path(file));
           return size && *size == file.size_bytes;
         });
}

Result<std::uint64_t> BackupFolder::prune(std::size_t keep) {
  const auto backups = TRY(list());
  std::uint64_t removed = 0;
  std::size_t whole = 0;
  for (auto listed = backups.rbegin(); listed != backups.rend(); ++listed) {
    if (whole < keep) {
      if (is_whole(*listed)) ++whole;
      continue;
    }
    remove_file(manifest_path(listed->id));
    ++removed;
  }
  TRY(sync_folder(path_ + "/backups"));
  TRY(collect_garbage());
  return removed;
}

Result<std::uint64_t> BackupFolder::collect_garbage() {
  std::set<std::string> needed;
  for (const auto& listed : TRY(list())) {
    if (!listed.backup) return 0;  // nobody knows what it needs
    for (const auto& file : listed.backup->files) needed.insert(file.object_name());
  }
  std::uint64_t removed = 0;
  for (const auto& name : TRY(list_folder(path_ + "/files"))) {
    const auto object = parse_object_name(name);
    if (!object || needed.contains(name)) continue;
    remove_file(object_path(*object));
    removed += object->size_bytes;
  }
  return removed;
}

Result<void> BackupFolder::restore(
    const Backup& backup, const std::string& target,
    const std::function<Result<storage::CommitSequence>(const std::string& folder)>& check,
    const Progress& progress) const {
  std::error_code code;
  const bool there = fs::exists(target, code);
  if (there && (!fs::is_directory(target, code) || !TRY(list_folder(target)).empty())) {
    return Error{ErrorCode::Usage,
                 fmt::format("{} is not empty; restore into a new folder, so that nothing is overwritten", target)};
  }
  // Folders in which a folder is made, so that a power failure does not take it away.
  std::vector<std::string> parents;
  for (auto path = fs::absolute(target, code); !fs::exists(path, code) && path.has_relative_path();) {
    path = path.parent_path();
    parents.push_back(path.string());
  }
  TRY(make_folder(target));
  const auto copy_all = [&]() -> Result<void> {
    // Without FORMAT and with CURRENT no stator opens the folder, so these come last and first.
    auto files = backup.files;
    const auto rank = [](const BackupFile& file) { return file.name == "CURRENT" ? 0 : file.name == "FORMAT" ? 2 : 1; };
    std::stable_sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (files.empty() || rank(files.front()) != 0 || rank(files.back()) != 2) {
      return Error{ErrorCode::Corruption, fmt::format("backup {} has no CURRENT or no FORMAT", backup.id)};
    }
    Meter meter(progress, backup.size_bytes());
    for (const auto& file : files) {
      auto in = TRY(File::open(object_path(file)));
      auto out = TRY(File::create(target + "/" + file.name));
      Checksum checksum;
      std::uint64_t size = 0;
      for (;;) {
        const auto bytes = TRY(in.read(kChunkBytes));
        if (bytes.empty()) break;
        checksum.add(bytes);
        size += bytes.size();
        if (size > file.size_bytes) break;  // it differs from the backup, so the rest is not read
        TRY(out.write(bytes));
        TRY(meter.advance(bytes.size()));
      }
      if (size != file.size_bytes || checksum.text() != file.checksum) {
        return Error{ErrorCode::Corruption,
                     fmt::format("{} ({} in backup {}) is damaged; try an older backup, see stator backup --list {}",
                                 object_path(file), file.name, backup.id, path_)};
      }
      TRY(out.sync());
    }
    TRY(sync_folder(target));
    for (const auto& parent : parents) TRY(sync_folder(parent));
    const auto last_commit = TRY(check(target));
    if (last_commit != backup.last_commit) {
      return Error{ErrorCode::Corruption, fmt::format("the restored database ends with commit {} instead of {}",
                                                      last_commit.value, backup.last_commit.value)};
    }
    return {};
  };
  auto copied = copy_all();
  if (copied) return {};
  for (const auto& name : TRY(list_folder(target))) remove_file(target + "/" + name);
  if (!there) fs::remove(target, code);
  return copied;
}

}  // namespace stator::backup
