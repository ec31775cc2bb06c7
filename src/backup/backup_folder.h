#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/backup/file.h"
#include "stator/backup/manifest.h"
#include "stator/base/clock.h"
#include "stator/base/result.h"
#include "stator/storage/store.h"

namespace stator::backup {

// Called now and then with the bytes that are done and the bytes in all; false ends the work.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;
// Looks whether a data file is whole, by its contents; the checksum only tells that the file is as it was copied.
using FileCheck = std::function<Result<void>(const std::string& path)>;

struct AddedBackup {
  Backup backup;
  std::uint64_t copied_files = 0, copied_bytes = 0;  // the rest was there already
  std::uint64_t mended_files = 0;                    // were there and damaged, and have been copied again
  std::uint64_t removed_bytes = 0;                   // of files that no backup needs
};

struct ListedBackup {
  std::string id;
  std::optional<Backup> backup;  // nothing: it cannot be read, and `problem` says why
  std::string problem = {};
};

struct VerifiedBackups {
  std::uint64_t backups = 0, files = 0, bytes = 0;
  std::vector<std::string> problems;  // one line each, at most kMaxProblems
  std::uint64_t total_problems = 0;
  static constexpr std::size_t kMaxProblems = 100;
};

// A folder of backups, which share their common files.  docs/formats/backup.md describes the folder.
//
// A backup exists when its manifest exists, and the manifest is written last; files that an interrupted backup has
// copied are used by the next one, or removed.  One process at a time writes.  Only the owner can read the files.  Not
// thread-safe.
class BackupFolder {
 public:
  enum class Use : std::uint8_t { Read, Write };
  // Write: makes the folder if there is none, or if it is empty.  Errors: Usage (it holds something else, another
  // process writes), Storage.
  static Result<BackupFolder> open(const std::string& path, Use use);

  // How to check files that the folder has already: by the checksum of their bytes, or only by their size.
  enum class Reuse : std::uint8_t { Verify, Trust };
  // Copies the files that the folder does not have, or has damaged, reads each back, and makes them a backup.  Its id
  // is later than that of every other, even if the clock went back.  Errors: Busy, when it was ended; Corruption, when
  // a file was damaged at its source or on its way; Storage.
  Result<AddedBackup> add(const storage::FrozenFiles& files, std::string_view source, const Clock& clock,
                          const FileCheck& check, const Progress& progress, Reuse reuse = Reuse::Verify);

  Result<std::vector<ListedBackup>> list() const;  // oldest first
  // The newest when `id` is empty.  Errors: Usage (there is none), Corruption, Storage.
  Result<Backup> find(std::string_view id) const;

  // Reads every file of every backup, or of one.  Errors: Busy, Storage, Usage.
  Result<VerifiedBackups> verify(std::string_view id, const FileCheck& check, const Progress& progress) const;

  // Removes the backups that are older than the newest `keep` whole ones, and the files that only they had.  A backup
  // is whole when its manifest can be read and its files are there with their sizes.  Answers how many went.
  Result<std::uint64_t> prune(std::size_t keep);

  // Makes a data folder of a backup: every file is compared with its checksum on the way.  `target` is empty or does
  // not exist; when this fails, it is as it was.  `check` opens the new folder, and answers its newest commit.  Errors:
  // Usage, Busy, Corruption, Storage.
  Result<void> restore(const Backup& backup, const std::string& target,
                       const std::function<Result<storage::CommitSequence>(const std::string& folder)>& check,
                       const Progress& progress) const;

 private:
  BackupFolder(std::string path, std::optional<File> lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string object_path(const BackupFile& file) const;
  std::string manifest_path(std::string_view id) const;
  bool is_whole(const ListedBackup& listed) const;
  Result<BackupFile> copy_in(const storage::FrozenFiles& files, std::size_t index, const FileCheck& check,
                             const std::function<Result<void>(std::uint64_t bytes)>& advance);
  Result<std::string> new_id(const Clock& clock) const;
  Result<std::uint64_t> collect_garbage();  // bytes that were removed

  std::string path_;
  std::optional<File> lock_;  // held to write
};

}  // namespace stator::backup
