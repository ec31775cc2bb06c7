#include "stator/http/crc32.h"

#include <libdeflate.h>

namespace stator::http {

std::uint32_t crc32_of(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

}  // namespace stator::http
