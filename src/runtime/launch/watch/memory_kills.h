// Finds out from the kernel's counters whether the kernel killed a process because memory ran out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// The number of processes that the kernel has killed so far because memory ran out. A member is not
// set if its counter cannot be read.
struct MemoryKills {
  // kills in this process's control group and the groups below it
  std::optional<std::uint64_t> group;
  std::optional<std::uint64_t> machine;  // kills anywhere on the machine
  // memory limit of this control group; not set if it is unknown or if there is none
  std::optional<std::uint64_t> group_limit_bytes;
};

// Reads the counters. root: the folder that contains proc and sys; another one in tests.
MemoryKills read_memory_kills(const std::filesystem::path& root = "/");

// Returns the probable reason why a process was killed by SIGKILL between the two readings: "the
// kernel killed a process here because memory ran out: …".
std::string explain_kill(const MemoryKills& before, const MemoryKills& after);

// The same for a process that did not end by SIGKILL. Empty unless MemoryKills::group has
// increased.
std::string memory_ran_out(const MemoryKills& before, const MemoryKills& after);

}  // namespace lockstep
