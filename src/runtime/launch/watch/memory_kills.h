// Finds out from the kernel's counters whether the kernel killed a process because memory ran out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// The number of such kills so far. Nothing if a counter cannot be read.
struct MemoryKills {
  std::optional<std::uint64_t> group;    // kills in this process's control group and those below it
  std::optional<std::uint64_t> machine;  // kills anywhere on the machine
  // memory limit of the group; nothing if none is known
  std::optional<std::uint64_t> group_limit_bytes;
};

// root: the folder that has /proc and /sys.
MemoryKills read_memory_kills(const std::filesystem::path& root = "/");

// Explains a SIGKILL between the two readings: "the kernel killed a process here because memory ran
// out: …".
std::string explain_kill(const MemoryKills& before, const MemoryKills& after);

// The same for a process that ended in another way. Empty unless the group's counter increased.
std::string memory_ran_out(const MemoryKills& before, const MemoryKills& after);

}  // namespace lockstep
