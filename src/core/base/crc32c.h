// CRC-32C (Castagnoli; RFC 3720, B.4), in its plain form and in the masked form of TensorFlow's
// records.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

std::uint32_t crc32c(std::string_view bytes);
// Returns the masked form. A CRC over bytes that contain CRCs detects errors less well, and the
// mask avoids this (tensorflow/core/lib/hash/crc32c.h).
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace lockstep
