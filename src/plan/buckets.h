// Where each parameter lies in the arena, and which ranges are reduced together.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Offsets in elements. Parameters lie in reverse order of registration, because gradients become
// ready in about that order; each starts at a multiple of the alignment, in elements.
inline constexpr std::int64_t arena_alignment = 64;

struct ArenaLayout {
  std::vector<std::int64_t> offsets;  // by registration index
  std::int64_t elements = 0;          // of the whole arena, padding included
};

// alignment: `arena_alignment` times the number of equal pieces that each bucket must cut into.
ArenaLayout lay_out(const std::vector<std::int64_t>& sizes,
                    std::int64_t alignment = arena_alignment);

struct Bucket {
  std::int64_t begin = 0, end = 0;       // elements of the arena
  std::vector<std::int64_t> parameters;  // registration indexes inside
};

// Cuts the arena into consecutive buckets of at least `first_bytes` (the first: it is ready early)
// or `bytes` (the others) of fp32, never through a parameter. Together they cover [0, elements).
std::vector<Bucket> cut_buckets(const ArenaLayout& layout, const std::vector<std::int64_t>& sizes,
                                std::int64_t first_bytes = 1 << 20, std::int64_t bytes = 25 << 20);

}  // namespace lockstep
