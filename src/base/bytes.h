#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stator {

// Uninterpreted bytes.  std::string rather than a vector: small-buffer storage, cheap views, and every library takes
// it.
using Bytes = std::string;
using BytesView = std::string_view;

// Big-endian integers sort as bytes the way they sort as numbers; keys use them.
void append_u16be(Bytes& out, std::uint16_t value);
void append_u32be(Bytes& out, std::uint32_t value);
void append_u64be(Bytes& out, std::uint64_t value);
std::uint16_t read_u16be(const char* at);
std::uint32_t read_u32be(const char* at);
std::uint64_t read_u64be(const char* at);

// LEB128, for lengths and counts inside stored values.
void append_varint(Bytes& out, std::uint64_t value);
// Takes a varint off the front of `in`; false when it is cut short or longer than ten bytes.
bool take_varint(BytesView& in, std::uint64_t& value);

// The smallest key greater than every key that starts with `prefix`; empty (no upper bound) when there is none.
Bytes prefix_end(BytesView prefix);

// "61 00 ff", for tests and messages.
std::string hex(BytesView bytes);

}  // namespace stator
