// The end of a rank's log, for the message about its failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockstep {

// At most `lines` last lines of what the file holds from byte `from` on, without the final newline.
// Of a line that was rewritten with carriage returns (a progress bar) what was last visible; bytes
// of a line beyond 1000 are left out. "" if the file cannot be read.
std::string log_tail(const std::filesystem::path& path, std::uint64_t from, int lines);

}  // namespace lockstep
