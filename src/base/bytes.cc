#include "stator/base/bytes.h"

#include <cstring>

namespace stator {
namespace {

template <typename Integer>
void append_big_endian(Bytes& out, Integer value) {
  char buffer[sizeof(Integer)];
  for (std::size_t i = sizeof(Integer); i-- > 0;) {
    buffer[i] = static_cast<char>(value & 0xFF);
    value = static_cast<Integer>(value >> 8);
  }
  out.append(buffer, sizeof buffer);
}

template <typename Integer>
Integer read_big_endian(const char* at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value = static_cast<Integer>((value << 8) | static_cast<unsigned char>(at[i]));
  }
  return value;
}

}  // namespace

void append_u16be(Bytes& out, std::uint16_t value) { append_big_endian(out, value); }
void append_u32be(Bytes& out, std::uint32_t value) { append_big_endian(out, value); }
void append_u64be(Bytes& out, std::uint64_t value) { append_big_endian(out, value); }
std::uint16_t read_u16be(const char* at) { return read_big_endian<std::uint16_t>(at); }
std::uint32_t read_u32be(const char* at) { return read_big_endian<std::uint32_t>(at); }
std::uint64_t read_u64be(const char* at) { return read_big_endian<std::uint64_t>(at); }

void append_varint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

bool take_varint(BytesView& in, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < in.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

Bytes prefix_end(BytesView prefix) {
  Bytes end(prefix);
  while (!end.empty()) {
    const auto last = static_cast<unsigned char>(end.back());
    if (last != 0xFF) {
      end.back() = static_cast<char>(last + 1);
      return end;
    }
    end.pop_back();
  }
  return end;
}

std::string hex(BytesView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 3);
  for (const char c : bytes) {
    if (!out.empty()) out.push_back(' ');
    out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(c) & 0xF]);
  }
  return out;
}

}  // namespace stator
