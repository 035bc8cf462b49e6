// Whether the kernel killed a process because memory ran out, judged by its counters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

// Numbers of such kills so far; nothing if a counter cannot be read.
struct MemoryKills {
  std::optional<std::uint64_t> group;    // in this process's control group and those below it
  std::optional<std::uint64_t> machine;  // anywhere on the machine
  std::optional<std::uint64_t> group_limit_bytes;  // memory limit of the group; nothing: none is
                                                   // known
};

// root: where /proc and /sys are.
MemoryKills read_memory_kills(const std::filesystem::path& root = "/");

// Explains a SIGKILL between the two readings: "the kernel killed it because memory ran out: …".
std::string explain_kill(const MemoryKills& before, const MemoryKills& after);

// The same for a process that ended in another way: "" unless the group's counter rose.
std::string memory_ran_out(const MemoryKills& before, const MemoryKills& after);

}  // namespace lockstep
