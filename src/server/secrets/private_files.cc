#include "stator/server/secrets/private_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "stator/library/shared_store.h"
#include "stator/server/secrets/private_folder.h"

namespace stator::server {
namespace {

class FilesInFolder final : public PrivateFiles {
 public:
  explicit FilesInFolder(std::string folder) : folder_(std::move(folder)) {}

  Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) override {
    const auto folder = TRY(PrivateFolder::open(folder_));
    return folder ? folder->read(name, max_bytes) : std::optional<std::string>();
  }

  Result<void> change(const std::string& name, std::size_t max_bytes, const Change& change) override {
    // A change that is refused makes no folder.
    if (!TRY(PrivateFolder::open(folder_))) TRY(change(std::nullopt));
    auto folder = TRY(PrivateFolder::open_or_make(folder_));
    TRY(folder.lock());
    return folder.replace(name, TRY(change(TRY(folder.read(name, max_bytes)))));
  }

  Result<std::string> stamp(const std::string& name) override {
    struct stat status{};
    if (::stat(path(name).c_str(), &status) != 0) return std::string();
    return fmt::format("{} {} {}", status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  }

  std::string path(const std::string& name) const override { return fmt::format("{}/{}", folder_, name); }
  std::string option() const override { return "--data " + folder_; }
  std::string removal(const std::string& name) const override {
    return fmt::format("move it away (mv {0} {0}.bad)", path(name));
  }

 private:
  const std::string folder_;
};

class FilesInStore final : public PrivateFiles {
 public:
  FilesInStore(engine::Engine& engine, std::string store) : engine_(engine), store_(std::move(store)) {}

  Result<std::optional<std::string>> read(const std::string& name, std::size_t max_bytes) override {
    return checked(name, TRY(engine_.server_text(name)), max_bytes);
  }

  Result<void> change(const std::string& name, std::size_t max_bytes, const Change& change) override {
    return engine_.change_server_text(name, [&](const std::optional<std::string>& text) -> Result<std::string> {
      return change(TRY(checked(name, text, max_bytes)));
    });
  }

  Result<std::string> stamp(const std::string& name) override {
    auto text = TRY(engine_.server_text(name));
    return text ? "is there: " + std::move(*text) : std::string();
  }

  std::string path(const std::string& name) const override { return fmt::format("{} in {}", name, store_); }
  std::string option() const override { return "--store URL"; }
  std::string removal(const std::string& name) const override {
    return fmt::format("remove it (psql: DELETE FROM stator.entries WHERE head = 'cf{}')", name);
  }

 private:
  Result<std::optional<std::string>> checked(const std::string& name, std::optional<std::string> text,
                                             std::size_t max_bytes) const {
    if (text && text->size() > max_bytes) {
      return usage_error(fmt::format("{} is longer than {} bytes", path(name), max_bytes));
    }
    return text;
  }

  engine::Engine& engine_;
  const std::string store_;
};

}  // namespace

std::unique_ptr<PrivateFiles> files_in_folder(std::string folder) {
  return std::make_unique<FilesInFolder>(std::move(folder));
}

std::unique_ptr<PrivateFiles> files_in_store(engine::Engine& engine, std::string store) {
  return std::make_unique<FilesInStore>(engine, std::move(store));
}

std::unique_ptr<PrivateFiles> files_of(const Config& config, library::Instance& instance) {
  if (config.store.empty()) return files_in_folder(config.data);
  return files_in_store(instance.engine(), library::described_store(config.store));
}

Result<OpenedFiles> open_files(const Config& config) {
  if (config.store.empty()) return OpenedFiles{.instance = nullptr, .files = files_in_folder(config.data)};
  auto instance = TRY(library::Instance::open({.data_folder = {}, .store = config.store}));
  auto files = files_of(config, *instance);
  return OpenedFiles{.instance = std::move(instance), .files = std::move(files)};
}

}  // namespace stator::server
