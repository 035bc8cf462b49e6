// Fast hashes for checksums and fingerprints. They are not cryptographic.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lockstep {

// XXH3-128 of all bytes that are passed to `update`, in order. Movable; not thread-safe.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void update(const void* data, std::size_t bytes);
  void update(std::string_view bytes) { update(bytes.data(), bytes.size()); }
  // Returns 32 lower-case hexadecimal digits, most significant first, as `xxhsum -H2` prints them.
  // `update` may be called again afterwards.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the same digits as a Hasher for these bytes, but is much faster for few bytes.
std::string hash128_hex(std::string_view bytes);

// Returns the XXH3-64 hash with seed 0.
std::uint64_t hash64(std::string_view bytes);

}  // namespace lockstep
