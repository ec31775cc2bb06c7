#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator backup: copies a database, of a running server or a stopped one, to a folder of backups.
class BackupCommand {
 public:
  explicit BackupCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

// stator restore: makes a data folder of a backup.
class RestoreCommand {
 public:
  explicit RestoreCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

}  // namespace stator::cli
