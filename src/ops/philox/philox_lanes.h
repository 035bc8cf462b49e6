// Many Philox draws at once on the CPU: the numbers of ops/philox/philox_inline.h, several lanes an
// instruction.
#pragma once

#include <cstdint>

namespace lockstep {

constexpr std::int64_t philox_lanes = 32;

// words[4 * lane + i] = word i of row_words(first_quad + lane, place, step, layer, key).
void draw_row_words(std::int64_t first_quad, std::int64_t place, std::int64_t step,
                    std::int64_t layer, std::uint64_t key,
                    std::uint32_t (&words)[4 * philox_lanes]);

}  // namespace lockstep
