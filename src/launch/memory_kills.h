// Whether the kernel killed a process because memory ran out, as far as its counters tell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// How often the kernel has done so; nothing where that cannot be read.
struct MemoryKills {
  std::optional<std::uint64_t> group;    // in this process's control group, and those below it
  std::optional<std::uint64_t> machine;  // anywhere on the machine
  std::optional<std::uint64_t> group_limit_bytes;  // of the group's memory; nothing: none is known
};

// root: where /proc and /sys are.
MemoryKills read_memory_kills(const std::filesystem::path& root = "/");

// In words, for a process that SIGKILL ended between the two: "the kernel killed it because memory
// ran out: …".
std::string explain_kill(const MemoryKills& before, const MemoryKills& after);

// The same for one that ended in another way: "" unless the counter of its group says so.
std::string memory_ran_out(const MemoryKills& before, const MemoryKills& after);

}  // namespace lockstep
