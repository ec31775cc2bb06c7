#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stator::backup {

inline constexpr std::size_t kChecksumDigits = 32;

// XXH3 with 128 bits, in hexadecimal.  Finds damage; it is no protection against files that are made to have equal
// checksums.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::string_view bytes);
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string checksum_of(std::string_view bytes);

}  // namespace stator::backup
