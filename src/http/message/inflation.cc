#include "stator/http/message/inflation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

namespace stator::http {

Inflation::Inflation(ContentCoding coding, std::string_view body) : coding_(coding) {
  if (inflateInit2(&stream_, window_bits(coding)) != Z_OK) throw std::bad_alloc();
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream_.avail_in = static_cast<uInt>(body.size());
}

Inflation::~Inflation() { inflateEnd(&stream_); }

Result<std::size_t> Inflation::read(char* out, std::size_t room) {
  room = std::min<std::size_t>(room, std::numeric_limits<uInt>::max());
  stream_.next_out = reinterpret_cast<Bytef*>(out);
  stream_.avail_out = static_cast<uInt>(room);
  const Error undecodable{ErrorCode::Internal, fmt::format("The request's body is not valid {}", name_of(coding_))};
  while (!ended_ && stream_.avail_out > 0) {
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      // gzip allows several members in a row; anything else behind the end is damage.
      ended_ = stream_.avail_in == 0;
      const bool another = !ended_ && coding_ == ContentCoding::Gzip && inflateReset(&stream_) == Z_OK;
      if (!ended_ && !another) return undecodable;
    } else if (status != Z_OK && !(status == Z_BUF_ERROR && stream_.avail_out == 0)) {
      return undecodable;
    }
  }
  return room - stream_.avail_out;
}

}  // namespace stator::http
