#include "stator/server/console_service.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "stator/base/log.h"
#include "stator/server/secrets/private_folder.h"

namespace stator::server {
namespace {

constexpr auto kSavedFile = "console.json";
constexpr auto kSessionsFile = "console_sessions";

std::optional<console::SharedText> shared_text(PrivateFiles* files, const std::string& name, std::size_t most_bytes) {
  if (files == nullptr) return std::nullopt;
  return console::SharedText{.read = [=] { return files->read(name, most_bytes); },
                             .change = [=](const auto& change) { return files->change(name, most_bytes, change); }};
}

// Null: it cannot be written, or must not, because a person may want to look at the present file.
console::SavedQueries::Write writer_of(const std::string& folder) {
  if (folder.empty()) return nullptr;
  const auto read = [&]() -> Result<std::optional<std::string>> {
    auto opened = TRY(PrivateFolder::open(folder));
    if (!opened) return std::optional<std::string>();
    return opened->read(kSavedFile, console::SavedQueries::kMostFileBytes);
  }();
  const SystemClock clock;
  auto wrong = read ? std::string() : read.error().message;
  if (read && *read) {
    if (const auto loaded = console::SavedQueries(clock).load(**read); !loaded) wrong = loaded.error().message;
  }
  if (!wrong.empty()) {
    log::warning("console_file_unreadable",
                 {{"file", fmt::format("{}/{}", folder, kSavedFile)},
                  {"reason", wrong},
                  {"message",
                   "saved queries and the history of the console are empty, and queries that are saved now are lost "
                   "when the server stops; repair or remove the file, and start again"}});
    return nullptr;
  }
  return [folder](std::string_view text) -> Result<void> {
    auto opened = TRY(PrivateFolder::open_or_make(folder));
    TRY(opened.lock());
    return opened.replace(kSavedFile, text);
  };
}

void load_saved(console::SavedQueries& saved, const std::string& folder) {
  auto opened = PrivateFolder::open(folder);
  if (!opened || !*opened) return;
  const auto text = (*opened)->read(kSavedFile, console::SavedQueries::kMostFileBytes);
  if (text && *text) (void)saved.load(**text);  // what is wrong with it was told by writer_of()
}

std::vector<console::ServedModel> served_by(Systems* systems) {
  return systems == nullptr ? std::vector<console::ServedModel>() : systems->served();
}

}  // namespace

ConsoleService::ConsoleService(const ConsoleParts& parts, const Config& config, const std::string& folder)
    : sessions_(parts.signatures, parts.clock,
                shared_text(parts.shared, kSessionsFile, console::SignedSessions::kMostBytes)),
      saved_(parts.shared != nullptr
                 ? console::SavedQueries(parts.clock,
                                         *shared_text(parts.shared, kSavedFile, console::SavedQueries::kMostFileBytes))
                 : console::SavedQueries(parts.clock, writer_of(folder))),
      models_(served_by(parts.systems), parts.client, parts.clock,
              {.roles_claim = config.jwt_roles_claim,
               .max_body_bytes = config.max_rest_body_bytes,
               .memory = parts.memory}),
      console_(parts.client, sessions_, saved_, models_, parts.live, parts.clock, parts.options) {
  if (!folder.empty() && parts.shared == nullptr) load_saved(saved_, folder);
}

console::PartitionKeyOf partition_keys_of(const engine::Engine& engine) {
  return [&engine](std::string_view name, std::string_view index) -> std::optional<std::string> {
    const auto table = engine.catalog().find(name);
    if (!table) return std::nullopt;
    if (index.empty()) return table->keys.partition.front().name;
    const auto* found = table->find_index(index);
    return found != nullptr ? std::optional(found->keys.partition.front().name) : std::nullopt;
  };
}

}  // namespace stator::server
