#include "stator/backup/checksum.h"

#include <fmt/format.h>

// Not inlined: g++ cannot inline the streaming functions in a build with sanitizers.
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace stator::backup {
namespace {

std::string to_text(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

struct Checksum::State {
  XXH3_state_t xxh;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) { XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()); }
std::string Checksum::text() const { return to_text(XXH3_128bits_digest(&state_->xxh)); }

std::string checksum_of(std::string_view bytes) { return to_text(XXH3_128bits(bytes.data(), bytes.size())); }

}  // namespace stator::backup
