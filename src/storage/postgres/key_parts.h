#pragma once

#include "stator/base/bytes.h"
#include "stator/storage/store.h"

namespace stator::storage::postgres {

// A key as its columns.  PostgreSQL's B-tree takes entries of at most 2,704 bytes, so a long key is split:
//
//   head    its first kHeadBytes bytes
//   tail    the others; empty for a key that fits
//   digest  SHA-256 of the tail, so that the index holds something short for it; empty like the tail
//
// The index is (lane, head, digest), and keys have the order of (head, tail): exactly that of the whole keys, because a
// head that is shorter than kHeadBytes has no tail.
struct KeyParts {
  static constexpr std::size_t kHeadBytes = 2600;

  BytesView head, tail;  // views of the key
  Bytes digest;

  explicit KeyParts(BytesView key);
};

}  // namespace stator::storage::postgres
