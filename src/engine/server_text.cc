#include "stator/engine/server_text.h"

#include "stator/engine/keyspace.h"

namespace stator::engine {
namespace {

constexpr char kServerTextVersion = 1;

}  // namespace

Bytes encode_server_text(std::string_view text) { return kServerTextVersion + Bytes(text); }

Result<std::optional<std::string>> decode_server_text(const std::optional<Bytes>& record) {
  if (!record) return std::optional<std::string>();
  if (!record->starts_with(kServerTextVersion)) {
    return Error{ErrorCode::Corruption, "a text of the server has an unknown format"};
  }
  return std::optional(record->substr(1));
}

Result<std::map<std::string, std::string>> server_texts(const storage::Snapshot& snapshot) {
  std::map<std::string, std::string> texts;
  const auto prefix = server_text_key("");
  const auto cursor = snapshot.cursor(storage::KeyRange::prefix(prefix), storage::Direction::Forward);
  for (; cursor->valid(); cursor->next()) {
    auto text = TRY(decode_server_text(Bytes(cursor->value())));
    texts.emplace(cursor->key().substr(prefix.size()), std::move(*text));
  }
  TRY(cursor->status());
  return texts;
}

}  // namespace stator::engine
