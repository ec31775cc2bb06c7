#include "stator/value/plain_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stator::value {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighBits = kOnes * 0x80;

template <typename Word>
std::uint64_t load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The high bits of the bytes that are not plain, or of one behind such a byte: only the lowest counts.  Subtracting
// borrows from the high bit of exactly those bytes that are below the subtrahend.
std::uint64_t special_bytes(std::uint64_t word) {
  const auto quotes = word ^ (kOnes * '"');
  const auto backslashes = word ^ (kOnes * '\\');
  return (((word - kOnes * 0x20) & ~word) | ((quotes - kOnes) & ~quotes) | ((backslashes - kOnes) & ~backslashes)) &
         kHighBits;
}

#if defined(__SSE2__)

constexpr std::size_t kBlock = 16;

__m128i load_block(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

bool is_plain_block(const char* at) {
  const auto block = load_block(at);
  const auto last_control = _mm_set1_epi8(0x1F);
  const auto controls = _mm_cmpeq_epi8(_mm_max_epu8(block, last_control), last_control);
  const auto quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  const auto backslashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  return _mm_movemask_epi8(_mm_or_si128(controls, _mm_or_si128(quotes, backslashes))) == 0;
}

bool is_ascii_block(const char* at) { return _mm_movemask_epi8(load_block(at)) == 0; }

std::size_t sum_of_bytes(__m128i block) {
  const auto sums = _mm_sad_epu8(block, _mm_setzero_si128());  // of each half
  return static_cast<std::size_t>(_mm_cvtsi128_si64(sums) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums)));
}

// In at most 255 blocks, so that each byte of the sum has room.
std::size_t count_in_blocks(const char* at, std::size_t blocks, char byte) {
  auto counts = _mm_setzero_si128();  // of each place of a block
  for (std::size_t i = 0; i < blocks; ++i) {
    counts = _mm_sub_epi8(counts, _mm_cmpeq_epi8(load_block(at + i * kBlock), _mm_set1_epi8(byte)));
  }
  return sum_of_bytes(counts);
}

// How many of the bytes go on with a code point; as signed numbers those are the lowest, up to 0xBF.
std::size_t continuing_bytes(const char* at) {
  const auto first_other = _mm_set1_epi8(static_cast<char>(0xC0));
  return sum_of_bytes(_mm_and_si128(_mm_cmplt_epi8(load_block(at), first_other), _mm_set1_epi8(1)));
}

#else

constexpr std::size_t kBlock = kWord;

bool is_plain_block(const char* at) { return special_bytes(load<std::uint64_t>(at)) == 0; }

bool is_ascii_block(const char* at) { return (load<std::uint64_t>(at) & kHighBits) == 0; }

std::size_t count_in_blocks(const char* at, std::size_t blocks, char byte) {
  return static_cast<std::size_t>(std::count(at, at + blocks * kBlock, byte));
}

std::size_t continuing_bytes(const char* at) {
  const auto word = load<std::uint64_t>(at);
  return static_cast<std::size_t>(std::popcount(word & ~(word << 1) & kHighBits));
}

#endif

// Whether the last bytes of a text are plain, up to a word of them.  They are looked at together with some before them,
// or twice, which is quicker than one by one: most texts are names.
bool has_plain_end(std::string_view text) {
  const char* const end = text.data() + text.size();
  if (text.size() >= kWord) return special_bytes(load<std::uint64_t>(end - kWord)) == 0;
  if (text.size() < kWord / 2) return false;
  const auto first = load<std::uint32_t>(text.data());
  const auto last = load<std::uint32_t>(end - kWord / 2);
  return special_bytes(first | last << 32) == 0;
}

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < plain.size(); ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

bool is_plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::size_t plain_length(std::string_view text) {
  std::size_t at = 0;
  while (at + kBlock <= text.size() && is_plain_block(text.data() + at)) at += kBlock;
  if (at + kWord <= text.size() && special_bytes(load<std::uint64_t>(text.data() + at)) == 0) at += kWord;
  if (text.size() - at <= kWord && has_plain_end(text)) return text.size();
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

bool is_ascii(std::string_view text) {
  std::size_t at = 0;
  while (at + kBlock <= text.size() && is_ascii_block(text.data() + at)) at += kBlock;
  if (at + kBlock <= text.size()) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                     [](char c) { return (c & 0x80) == 0; });
}

std::size_t count_bytes(std::string_view text, char byte) {
  constexpr std::size_t kMostBlocks = 255;
  std::size_t count = 0;
  while (text.size() >= kBlock) {
    const auto blocks = std::min(text.size() / kBlock, kMostBlocks);
    count += count_in_blocks(text.data(), blocks, byte);
    text.remove_prefix(blocks * kBlock);
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), byte));
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = text.size();
  std::size_t at = 0;
  for (; at + kBlock <= text.size(); at += kBlock) {
    count -= continuing_bytes(text.data() + at);
  }
  for (; at < text.size(); ++at) count -= continues(text[at]) ? 1U : 0U;
  return count;
}

}  // namespace stator::value
