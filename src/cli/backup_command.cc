#include "stator/cli/backup_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stator/backup/backup_folder.h"
#include "stator/base/clock.h"
#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/cli/progress_bar.h"
#include "stator/library/data_folder.h"
#include "stator/library/shared_store.h"
#include "stator/server/tool_client.h"

namespace stator::cli {
namespace {

using backup::BackupFolder;

constexpr std::string_view kBackupHelp =
    R"(Copy a database, as it is at one moment, to a folder of backups.  A running server keeps serving.  The folder
can hold several backups; they share files that are the same, so a second backup copies only new files.  At the
end, every file of the backup is read and compared with its checksum, also files of earlier backups; a damaged
file is copied again.  Access keys (keys.yaml) and app_secret are not part of a backup.

Usage: stator backup FOLDER [--endpoint URL | --data DATA_FOLDER] [--keep N] [--quick]
       stator backup --list FOLDER
       stator backup --verify FOLDER [--backup ID]

Options:
  --endpoint URL
      Back up the database of a running server.  If the server has access keys, give one of them in
      AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or in a profile, as for any AWS tool.
  --data DATA_FOLDER
      Back up a data folder that no server uses.  Else from $STATOR_DATA, else from stator.yaml.
  --keep N
      Then keep the newest N backups and remove older ones.  Backups with missing files do not count.
  --quick
      Do not read the files that are shared with earlier backups; compare only their sizes.
  --list
      Show the backups in the folder.
  --verify
      Read every file of every backup, or of the one with --backup, and compare its checksum.
  --backup ID
      The id of a backup, as --list shows it.
  --config FILE
      Read settings from this file; else from $STATOR_CONFIG, else from ./stator.yaml if it is there.

Exit status: 0 success; 1 failure, or --list or --verify has found damage; 2 wrong arguments.

Examples:
  stator backup /mnt/backups --endpoint http://127.0.0.1:8000 --keep 14
  stator backup --verify /mnt/backups
  stator restore /mnt/backups --data ./stator-data-restored
)";

constexpr std::string_view kRestoreHelp =
    R"(Make a data folder from a backup.  Every file is compared with its checksum, and the new folder is opened to
check that it has every commit of the backup.  The new folder must be empty or must not exist.  The backup is
not changed.

Usage: stator restore FOLDER --data NEW_FOLDER [--backup ID]

Options:
  --data NEW_FOLDER
      The new data folder.  Start a server on it with stator serve --data NEW_FOLDER.
  --backup ID
      Which backup, as stator backup --list FOLDER shows it; else the newest.

A backup contains no access keys.  Copy keys.yaml or make new keys (stator key add) before other machines can reach
the server.

Exit status: 0 success; 1 failure, and the new folder is empty; 2 wrong arguments.

Examples:
  stator restore /mnt/backups --data ./stator-data-restored
  stator restore /mnt/backups --data ./yesterday --backup 2026-01-15T10-00-00Z
)";

backup::Progress progress_of(ProgressBar& bar, std::string_view what) {
  return [&bar, what](std::uint64_t done, std::uint64_t total) {
    bar.show(what, done, total, ProgressBar::Unit::Bytes);
    return true;
  };
}

int list(const std::string& path) {
  const auto folder = BackupFolder::open(path, BackupFolder::Use::Read);
  if (!folder) return fail(kFailed, folder.error().message);
  const auto backups = folder->list();
  if (!backups) return fail(kFailed, backups.error().message);
  bool whole = true;
  for (const auto& listed : *backups) {
    if (listed.backup) {
      fmt::print("{}  {}  commit {}  {}\n", listed.id, bytes_text(listed.backup->size_bytes()),
                 listed.backup->last_commit.value, listed.backup->source);
    } else {
      whole = false;
      fmt::print("{}  damaged: {}\n", listed.id, listed.problem);
    }
  }
  if (backups->empty()) fmt::print(stderr, "stator: there is no complete backup in {}\n", path);
  return whole ? kDone : kFailed;
}

int verify(const std::string& path, const std::string& id) {
  const auto folder = BackupFolder::open(path, BackupFolder::Use::Read);
  if (!folder) return fail(kFailed, folder.error().message);
  const auto verified = [&] {
    ProgressBar bar;
    return folder->verify(id, library::verify_table_file, progress_of(bar, "verifying"));
  }();
  if (!verified) return fail(kFailed, verified.error().message);
  for (const auto& problem : verified->problems) fmt::print("{}\n", problem);
  fmt::print("{} backups, {} files, {}: {}\n", verified->backups, verified->files, bytes_text(verified->bytes),
             verified->total_problems == 0 ? std::string("nothing is wrong")
                                           : fmt::format("{} damaged", verified->total_problems));
  if (verified->total_problems == 0) return kDone;
  return fail(
      kFailed,
      fmt::format("make another backup into {}: it copies the damaged files again that the database still has", path));
}

// The files of a database, and the object that keeps them.
struct Source {
  std::unique_ptr<server::ToolClient> client;
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<storage::FrozenFiles> files;  // last: goes first
};

Result<Source> freeze(const Where& where) {
  Source source;
  if (!where.endpoint.empty()) {
    source.client = TRY(server::ToolClient::connect(where.endpoint, client::process_environment()));
    source.files = TRY(source.client->freeze());
    return source;
  }
  auto store = library::open_data_folder(where.folder, library::FolderUse::Read);
  if (!store && store.error().code == ErrorCode::Usage && store.error().message.find("in use") != std::string::npos) {
    return Error{ErrorCode::Usage,
                 store.error().message + "; to back up the database of a running server, use --endpoint URL"};
  }
  source.store = TRY(std::move(store));
  source.files = TRY(source.store->files()->freeze());
  return source;
}

// Advice about a damaged or failed database.
std::string advice(const Error& error, const Where& where) {
  if (!where.endpoint.empty()) {
    if (error.code != ErrorCode::Corruption) return {};
    return fmt::format(
        "; see stator check --endpoint {}, then stop the server and run stator repair --data with its folder",
        where.endpoint);
  }
  if (error.code != ErrorCode::Corruption && error.code != ErrorCode::Storage) return {};
  return fmt::format("; see stator check --data {}, and stator repair --data {}", where.folder, where.folder);
}

int back_up(const std::string& path, const Where& where, std::optional<std::size_t> keep, BackupFolder::Reuse reuse) {
  auto folder = BackupFolder::open(path, BackupFolder::Use::Write);
  if (!folder) return fail(kFailed, folder.error().message);
  const auto source = freeze(where);
  if (!source) return fail(kFailed, source.error().message + advice(source.error(), where));
  const SystemClock clock;
  const auto added = [&] {
    ProgressBar bar;
    return folder->add(*source->files, where.endpoint.empty() ? where.folder : where.endpoint, clock,
                       library::verify_table_file, progress_of(bar, "copying"), reuse);
  }();
  if (!added) {
    const bool damaged = added.error().code == ErrorCode::Corruption;
    return fail(kFailed, added.error().message + (damaged ? advice(added.error(), where) : std::string()));
  }
  if (added->mended_files > 0) {
    fmt::print(stderr,
               "stator: {} files of earlier backups were damaged, and have been copied again; look at the disk\n",
               added->mended_files);
  }
  fmt::print("backup {}: {} in {} files, of which {} in {} files are new; commit {}\n", added->backup.id,
             bytes_text(added->backup.size_bytes()), added->backup.files.size(), bytes_text(added->copied_bytes),
             added->copied_files, added->backup.last_commit.value);
  if (keep) {
    const auto removed = folder->prune(*keep);
    if (!removed) return fail(kFailed, removed.error().message);
    if (*removed > 0) fmt::print("{} older backups removed\n", *removed);
  }
  return kDone;
}

}  // namespace

BackupCommand::BackupCommand(CLI::App& app) : app_(add_command(app, "backup", std::string(kBackupHelp))) {
  app_->add_option("FOLDER")->expected(1);
  add_where_options(*app_);
  for (const auto* name : {"--keep", "--backup"}) app_->add_option(name)->expected(1)->allow_extra_args(false);
  for (const auto* name : {"--list", "--verify", "--quick"}) app_->add_flag(name);
}

int BackupCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto folder = option(*app_, "FOLDER");
  if (!folder) return fail(kWrongArguments, "backup needs a folder to put backups in; see stator backup --help");
  const bool lists = app_->count("--list") > 0;
  const bool verifies = app_->count("--verify") > 0;
  const auto id = option(*app_, "--backup").value_or("");
  if (lists && verifies) return fail(kWrongArguments, "--list and --verify cannot be used together");
  if (!id.empty() && !verifies)
    return fail(kWrongArguments, "--backup can be used only with --verify; see stator backup --help");
  if (lists) return list(*folder);
  if (verifies) return verify(*folder, id);
  std::optional<std::size_t> keep;
  if (const auto text = option(*app_, "--keep")) {
    keep = positive_number(*text);
    if (!keep) {
      return fail(kWrongArguments, fmt::format("--keep {}: how many backups to keep is a number from 1 on", *text));
    }
  }
  const auto where = find_database(*app_);
  if (!where) return fail(kWrongArguments, where.error().message);
  if (!where->store.empty()) {
    return fail(kFailed,
                fmt::format("the database is in the store {}, which PostgreSQL's own tools back up; name a data "
                            "folder with --data",
                            library::described_store(where->store)));
  }
  const bool quick = app_->count("--quick") > 0;
  return back_up(*folder, *where, keep, quick ? BackupFolder::Reuse::Trust : BackupFolder::Reuse::Verify);
}

RestoreCommand::RestoreCommand(CLI::App& app) : app_(add_command(app, "restore", std::string(kRestoreHelp))) {
  app_->add_option("FOLDER")->expected(1);
  for (const auto* name : {"--data", "--backup"}) app_->add_option(name)->expected(1)->allow_extra_args(false);
}

int RestoreCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto path = option(*app_, "FOLDER");
  const auto target = option(*app_, "--data");
  if (!path || !target) {
    return fail(kWrongArguments, "restore needs a folder of backups, and --data NEW_FOLDER; see stator restore --help");
  }
  const auto folder = BackupFolder::open(*path, BackupFolder::Use::Read);
  if (!folder) return fail(kFailed, folder.error().message);
  const auto backup = folder->find(option(*app_, "--backup").value_or(""));
  if (!backup) return fail(kFailed, backup.error().message);
  const auto last_commit = [](const std::string& made) -> Result<storage::CommitSequence> {
    return TRY(library::open_data_folder(made, library::FolderUse::Read))->last_commit();
  };
  const auto restored = [&] {
    ProgressBar bar;
    return folder->restore(*backup, *target, last_commit, progress_of(bar, "restoring"));
  }();
  library::give_to_owner(*target);
  if (!restored) return fail(kFailed, restored.error().message);
  fmt::print("{} is backup {}, with every write up to commit {}\n", *target, backup->id, backup->last_commit.value);
  fmt::print(stderr,
             "stator: a backup holds no access keys: copy keys.yaml, or make new keys: stator key add --data {}\n",
             *target);
  if (::geteuid() == 0) {
    fmt::print(stderr, "stator: {} belongs to root; give it to the user that runs the server: chown -R USER {}\n",
               *target, *target);
  }
  return kDone;
}

}  // namespace stator::cli
