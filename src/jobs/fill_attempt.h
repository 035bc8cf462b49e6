// Texts that wait for an attempt: {out}, {slot}, {gpu}, {cores} and {attempt} stand for values, {{
// for a brace, any other brace for itself.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr std::array<std::string_view, 5> attempt_names{"out", "slot", "gpu", "cores",
                                                               "attempt"};

bool is_attempt_name(std::string_view name);

// Adds `literal` so that it stands for itself, also when a placeholder follows.
void append_escaped(std::string& text, std::string_view literal);

}  // namespace lockstep
