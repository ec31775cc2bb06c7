#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/bytes.h"
#include "stator/base/result.h"
#include "stator/storage/store.h"

// The texts of servers that share a store, such as the access keys.
namespace stator::engine {

//   'c' 'f' name -> version:u8 = 1, text
Bytes encode_server_text(std::string_view text);
Result<std::optional<std::string>> decode_server_text(const std::optional<Bytes>& record);  // Errors: Corruption

// All of them, by name.  Errors: Storage, Corruption.
Result<std::map<std::string, std::string>> server_texts(const storage::Snapshot& snapshot);

}  // namespace stator::engine
