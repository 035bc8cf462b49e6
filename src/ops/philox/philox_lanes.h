// Computes many Philox words at once on the CPU, with vector instructions. The random words are
// those of ops/philox/philox_inline.h.
#pragma once

#include <cstdint>

namespace lockstep {

constexpr std::int64_t philox_lanes = 32;

// Sets words[4 * lane + i] to word i of row_words(first_quad + lane, place, step, layer, key).
void draw_row_words(std::int64_t first_quad, std::int64_t place, std::int64_t step,
                    std::int64_t layer, std::uint64_t key,
                    std::uint32_t (&words)[4 * philox_lanes]);

}  // namespace lockstep
