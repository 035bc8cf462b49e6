// CRC-32C (Castagnoli; RFC 3720, B.4), in its plain form and in the masked form that TensorFlow's
// record files use.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

std::uint32_t crc32c(std::string_view bytes);
// Returns the masked form. It is needed because a CRC over bytes that contain CRCs themselves
// detects fewer errors (tensorflow/core/lib/hash/crc32c.h).
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace lockstep
