#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "stator/engine/schema.h"
#include "stator/engine/write/pending_commit.h"
#include "stator/value/attribute_value.h"

// Time to live: when items expire, and the entries that know it in order.  docs/internals/ttl.md tells how and why.
namespace stator::engine {

// Items that should have expired longer ago than this never do: their attribute most likely is no time at all.
inline constexpr std::chrono::years kOldestExpiry{5};

// When an item expires, in whole seconds since 1970; nullopt when it does not, because the table has no time to live,
// or the item lacks the attribute, or has another type than N there, or a number that is no time.
std::optional<std::uint64_t> expiry_of(const Table& table, const value::AttributeMap& item);

// The value of an expiry entry: version:u8 = 1.
Bytes expiry_entry_value();

// Part of the commit that changes a table's time to live: forgets the entries of the old attribute, and notes that the
// entries of the new one have to be filled.
void change_time_to_live(PendingCommit& commit, const Table& before, const Table& after);

// How far the entries of a table are filled for the items that were there before: version:u8 = 1, the key of the last
// item looked at, or nothing at the start.  The record goes when all is done.
Bytes encode_expiry_progress(BytesView last_item_key);
Result<KeyBytes> decode_expiry_progress(BytesView bytes);  // Errors: Corruption

}  // namespace stator::engine
