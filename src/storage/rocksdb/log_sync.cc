#include "stator/storage/rocksdb/log_sync.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "stator/base/descriptor.h"
#include "stator/storage/rocksdb/log_file.h"

namespace stator::storage {
namespace {

// Commits that are larger, or are not synced one by one, gain nothing from filling.
constexpr std::uint64_t kMostUnsynced = 64ULL << 10;
// On a disk that is almost full, the room is for commits.
constexpr std::uint64_t kLeastFree = 64ULL << 20;

constexpr auto kFilling = [] {
  std::array<char, 16U << 10> bytes{};
  bytes.fill(kLogFilling);
  return bytes;
}();

bool has_room(int file) {
  struct statvfs disk;
  return ::fstatvfs(file, &disk) == 0 && std::uint64_t{disk.f_bavail} * disk.f_frsize >= kLeastFree;
}

rocksdb::IOStatus io_error(const std::string& what, const std::string& path, int code) {
  const auto reason = std::strerror(code);
  return code == ENOSPC ? rocksdb::IOStatus::NoSpace(what + " " + path, reason)
                        : rocksdb::IOStatus::IOError(what + " " + path, reason);
}

}  // namespace

struct LogSync::Log {
  Log(std::string where, int fd) : path(std::move(where)), file(fd) {}

  const std::string path;
  const Descriptor file;
  std::atomic<std::uint64_t> appended{0};  // bytes
  std::atomic<std::uint64_t> synced{0};    // of these
  std::atomic<bool> closed{false};
  std::atomic<bool> named{false};  // its name is on disk

  // Of the one thread that appends:
  std::uint64_t filled = 0;         // the size of the file
  std::uint64_t look_for_room = 0;  // not before so much is appended: it was too little the last time
  bool may_be_filled = true;        // until it fails once

  bool is_done() const { return closed && synced == appended; }

  void fill_ahead() {
    if (appended <= filled || appended < look_for_room || !may_be_filled || appended - synced > kMostUnsynced) return;
    if (!has_room(file.get())) {
      look_for_room = appended + kFilledAhead;
      return;
    }
    std::array<iovec, kFilledAhead / kFilling.size()> parts{};
    parts.fill({const_cast<char*>(kFilling.data()), kFilling.size()});  // it is only read
    const auto written =
        ::pwritev(file.get(), parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(appended));
    filled = appended + static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    may_be_filled = written == static_cast<ssize_t>(kFilledAhead);
    if (!may_be_filled) cut();
  }

  // A filling that cannot be cut off does no harm.
  void cut() {
    if (filled > appended && ::ftruncate(file.get(), static_cast<off_t>(appended)) == 0) filled = appended;
  }
};

// RocksDB's own file. Counts the appended bytes, and fills the file ahead.
class LogSync::LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<Log> log, LogSync& owner)
      : FSWritableFileOwnerWrapper(std::move(file)), log_(std::move(log)), owner_(owner) {}
  ~LogFile() override {
    log_->cut();
    owner_.close(log_);
  }

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* context) override {
    return count(data, FSWritableFileOwnerWrapper::Append(data, options, context));
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& verification,
                           rocksdb::IODebugContext* context) override {
    return count(data, FSWritableFileOwnerWrapper::Append(data, options, verification, context));
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
    log_->cut();
    return FSWritableFileOwnerWrapper::Close(options, context);
  }

 private:
  rocksdb::IOStatus count(const rocksdb::Slice& data, rocksdb::IOStatus appended) {
    if (!appended.ok()) return appended;
    log_->appended.fetch_add(data.size(), std::memory_order_release);
    log_->fill_ahead();
    return appended;
  }

  const std::shared_ptr<Log> log_;
  LogSync& owner_;
};

LogSync::LogSync(std::string folder, SyncFile sync_file)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), folder_(std::move(folder)), sync_file_(std::move(sync_file)) {}

LogSync::~LogSync() = default;

rocksdb::IOStatus LogSync::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                                           rocksdb::IODebugContext* context) {
  auto made = FileSystemWrapper::NewWritableFile(name, options, file, context);
  if (!made.ok() || !name.ends_with(".log")) return made;
  std::error_code unknown;
  const bool elsewhere = !std::filesystem::equivalent(std::filesystem::path(name).parent_path(), folder_, unknown);
  if (elsewhere && !unknown) return made;
  auto log = std::make_shared<Log>(name, ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!log->file.is_open()) {
    file->reset();
    return io_error("While opening", name, errno);
  }
  *file = std::make_unique<LogFile>(std::move(*file), log, *this);
  MutexLock lock(mutex_);
  logs_.push_back(std::move(log));
  return made;
}

void LogSync::close(const std::shared_ptr<Log>& log) {
  MutexLock lock(mutex_);
  log->closed = true;
  if (log->is_done()) std::erase(logs_, log);
}

void LogSync::drop_closed() {
  MutexLock lock(mutex_);
  std::erase_if(logs_, [](const auto& log) { return log->closed.load(); });
}

rocksdb::IOStatus LogSync::sync() {
  std::vector<std::shared_ptr<Log>> logs;
  {
    MutexLock lock(mutex_);
    logs = logs_;
  }
  for (const auto& log : logs) {
    const auto appended = log->appended.load(std::memory_order_acquire);
    if (appended == log->synced) continue;
    if (sync_file_(log->file.get()) != 0) return io_error("While syncing", log->path, errno);
    if (!log->named) {
      if (!sync_folder(folder_)) {
        return io_error("While syncing the folder of", log->path, errno);
      }
      log->named = true;
    }
    log->synced = appended;
    if (log->is_done()) close(log);
  }
  return rocksdb::IOStatus::OK();
}

}  // namespace stator::storage
