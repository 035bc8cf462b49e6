// Fills in the placeholders of an attempt when it starts: {out}, {slot}, {gpu}, {cores} and
// {attempt}. {{ becomes one brace, and other braces stay.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr std::array<std::string_view, 5> attempt_names{"out", "slot", "gpu", "cores",
                                                               "attempt"};

bool is_attempt_name(std::string_view name);

// Appends `literal` with doubled braces where necessary. Filling then leaves it unchanged, even if
// a placeholder follows.
void append_escaped(std::string& text, std::string_view literal);

}  // namespace lockstep
