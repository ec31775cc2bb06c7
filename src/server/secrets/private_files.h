#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "stator/base/result.h"
#include "stator/engine/engine.h"
#include "stator/library/instance.h"
#include "stator/server/config.h"

namespace stator::server {

// The small files of a database that hold secrets: keys.yaml and app_secret.
//
// They are in the data folder.  If several processes share the store, they are texts in the store instead, so that all
// processes have the same ones.  A file is replaced as a whole, and changes of several processes take turns.
// Thread-safe.
class PrivateFiles {
 public:
  virtual ~PrivateFiles() = default;

  // The text of a file; nullopt when there is none.  Errors: Usage (it is not a private file of ours, or longer than
  // `max_bytes`), Storage, Corruption.
  virtual Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) = 0;

  // Replaces a text by the result of `change`.  `change` may be called again.  Errors: as read(), and those of
  // `change`.
  using Change = std::function<Result<std::string>(const std::optional<std::string>& text)>;
  virtual Result<void> change(const std::string& name, std::size_t max_bytes, const Change& change) = 0;

  // Another text when the file has been written, replaced, or given other permissions.  Errors: Storage, Corruption.
  virtual Result<std::string> stamp(const std::string& name) = 0;

  // For messages: where a file is, the option of commands that leads there (an address can hold a password, so it is
  // not repeated), and how to get rid of a damaged file.
  virtual std::string path(const std::string& name) const = 0;
  virtual std::string option() const = 0;
  virtual std::string removal(const std::string& name) const = 0;
};

// The folder need not be there; the first change makes it.
std::unique_ptr<PrivateFiles> files_in_folder(std::string folder);
// `store` is the address of the store, without a password.  The engine outlives the files.
std::unique_ptr<PrivateFiles> files_in_store(engine::Engine& engine, std::string store);
// The files of the database that the settings name.  The instance, which is that database, outlives the files.
std::unique_ptr<PrivateFiles> files_of(const Config& config, library::Instance& instance);

// The same for a command, which has no database open.
struct OpenedFiles {
  std::unique_ptr<library::Instance> instance;  // null: they are in the data folder
  std::shared_ptr<PrivateFiles> files;
};
// Errors: Usage, Storage, Corruption.
Result<OpenedFiles> open_files(const Config& config);

}  // namespace stator::server
