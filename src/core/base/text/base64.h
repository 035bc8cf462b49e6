// Converts bytes to and from Base64 (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);  // nothing if the text is not base64

}  // namespace lockstep
