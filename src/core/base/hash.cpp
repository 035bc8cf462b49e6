// Compiles XXH3 in, so that no shared library is needed at run time.
#include "core/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

namespace lockstep {
namespace {

std::string digits(XXH128_hash_t hash) {
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = "0123456789abcdef"[hash.high64 >> (4 * i) & 0xF];
    text[31 - i] = "0123456789abcdef"[hash.low64 >> (4 * i) & 0xF];
  }
  return text;
}

}  // namespace

// XXH3 needs a state that is aligned to 64 bytes. `new` respects the alignment of the type.
struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->xxh);
  XXH3_128bits_reset(&state_->xxh);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(const void* data, std::size_t bytes) {
  XXH3_128bits_update(&state_->xxh, data, bytes);
}

std::string Hasher::hex() const { return digits(XXH3_128bits_digest(&state_->xxh)); }

std::string hash128_hex(std::string_view bytes) {
  return digits(XXH3_128bits(bytes.data(), bytes.size()));
}

std::uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace lockstep
