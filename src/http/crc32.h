#pragma once

#include <cstdint>
#include <string_view>

namespace stator::http {

// The CRC-32 of zlib and gzip, which the service sends as x-amz-crc32.
std::uint32_t crc32_of(std::string_view bytes);

}  // namespace stator::http
