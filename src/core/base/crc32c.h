// CRC-32C (Castagnoli; RFC 3720, B.4), and as TensorFlow's records keep it.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

std::uint32_t crc32c(std::string_view bytes);
// Masked, so that a CRC of bytes that hold CRCs stays useful: tensorflow/core/lib/hash/crc32c.h.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace lockstep
