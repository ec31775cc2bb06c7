#include "stator/server/store_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "stator/engine/server_text.h"
#include "stator/engine/store_copy.h"
#include "stator/library/data_folder.h"
#include "stator/library/shared_store.h"
#include "stator/server/secrets/private_files.h"

namespace stator::server {
namespace {

using Texts = std::map<std::string, std::string>;

// The texts of a store that a data folder has as files.
constexpr std::array<std::string_view, 3> kFiles{"app_secret", "console.json", "keys.yaml"};
constexpr std::size_t kMostFileBytes = std::size_t{8} << 20;

std::string described(const std::string& place) {
  return library::is_store_url(place) ? library::described_store(place) : place;
}

// Says which of the two places an error is about.
Error in_place(Error error, const std::string& place) {
  error.message = fmt::format("{}: {}", described(place), error.message);
  return error;
}

Result<std::unique_ptr<storage::Store>> open(const std::string& place, library::FolderUse use) {
  using library::FolderUse;
  auto store =
      library::is_store_url(place)
          ? library::open_store(place, use == FolderUse::Read ? library::IfMissing::Refuse : library::IfMissing::Make)
          : library::open_data_folder(place, use);
  if (!store) return in_place(std::move(store).error(), place);
  return store;
}

Result<Texts> texts_of(const std::string& place, const storage::Store& store) {
  if (library::is_store_url(place)) return engine::server_texts(*store.snapshot());
  const auto files = files_in_folder(place);
  Texts texts;
  for (const auto name : kFiles) {
    if (auto text = TRY(files->read(std::string(name), kMostFileBytes))) texts.emplace(name, std::move(*text));
  }
  return texts;
}

// Files of the target folder are not overwritten: somebody else has made them.
Result<void> refuse_other_files(const std::string& folder, const Texts& texts) {
  const auto files = files_in_folder(folder);
  for (const auto name : kFiles) {
    const auto there = TRY(files->read(std::string(name), kMostFileBytes));
    const auto wanted = texts.find(std::string(name));
    if (there && (wanted == texts.end() || wanted->second != *there)) {
      return usage_error(fmt::format("{} exists already and differs from that of the source: remove it first",
                                     files->path(std::string(name))));
    }
  }
  return {};
}

Result<void> write_files(const std::string& folder, const Texts& texts) {
  const auto files = files_in_folder(folder);
  for (const auto& [name, text] : texts) {
    TRY(files->change(name, kMostFileBytes, [&](const auto&) -> Result<std::string> { return text; }));
    if (TRY(files->read(name, kMostFileBytes)) != text) {
      return Error{ErrorCode::Storage, fmt::format("{} is not what was written", files->path(name))};
    }
  }
  return {};
}

}  // namespace

Result<StoreCopyOutcome> copy_database(const StoreCopyRequest& request) {
  const auto source = TRY(open(request.from, library::FolderUse::Read));
  auto texts = TRY(texts_of(request.from, *source));
  StoreCopyOutcome outcome;
  const bool to_store = library::is_store_url(request.to);
  if (!to_store) {
    for (auto text = texts.begin(); text != texts.end();) {
      if (std::ranges::find(kFiles, text->first) != kFiles.end()) {
        ++text;
        continue;
      }
      outcome.left_behind.push_back(text->first);
      text = texts.erase(text);
    }
    TRY(refuse_other_files(request.to, texts));
  }
  const auto target = TRY(open(request.to, library::FolderUse::Make));
  auto copied = engine::copy_store(*source, *target, {.progress = request.progress});
  if (!copied) return in_place(std::move(copied).error(), request.to);
  if (!to_store) TRY(write_files(request.to, texts));
  TRY(engine::finish_copy(*target, to_store ? texts : Texts()));
  outcome.records = copied->records;
  outcome.bytes = copied->bytes;
  outcome.resumed = copied->resumed;
  outcome.last_commit = copied->source_commit.value;
  for (const auto& [name, text] : texts) outcome.texts.push_back(name);
  return outcome;
}

}  // namespace stator::server
