#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/store.h"

namespace stator::backup {

struct BackupFile {
  std::string name;  // in the data folder
  std::uint64_t size_bytes = 0;
  std::string checksum;         // XXH3, 128 bits, hexadecimal
  std::string content_id = {};  // see storage::StoreFile

  // The name of its bytes in the backup folder.  Backups with the same bytes share them.
  std::string object_name() const;
};

// One backup: the files that a data folder is made of, and as of when.
struct Backup {
  std::string id;      // "2026-01-15T10-00-00Z", when it was begun
  std::string source;  // the data folder or the endpoint
  storage::CommitSequence last_commit;
  std::vector<BackupFile> files;

  std::uint64_t size_bytes() const;
};

// A backup as a file in the folder `backups`, which is there only when all its files are; docs/formats/backup.md draws
// it.  Decoding checks everything that a path is made of, so that a forged manifest cannot name a file elsewhere.
// Errors: Corruption.
Bytes encode_manifest(const Backup& backup);
Result<Backup> decode_manifest(BytesView bytes);

// "000012.sst", and nothing that means another folder.
bool is_file_name(std::string_view name);
bool is_content_id(std::string_view id);  // may be empty
bool is_backup_id(std::string_view id);
// Of an object; nothing but size and checksums.  Errors: Corruption.
Result<BackupFile> parse_object_name(std::string_view name);

}  // namespace stator::backup
