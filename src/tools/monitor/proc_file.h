// Reads files of /proc. The process of such a file may end at any time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct ProcFile {
  std::string text;
  int error = 0;  // errno of open or read, or 0; after an error, text is empty
};
ProcFile read_proc_file(const std::filesystem::path& path);  // never throws

// The content of /proc/PID/stat: the name without its brackets, and all fields after it. The first
// of these fields is "state". The fields are empty if the file was truncated. The name may contain
// any characters, including brackets.
struct ProcStat {
  std::string name;
  std::vector<std::string> fields;
};
ProcStat parse_proc_stat(const std::string& stat);

double ticks_s(const std::string& ticks);  // converts a field in clock ticks to seconds

// Returns the numbers of all processes.
std::vector<int> process_numbers(const std::filesystem::path& proc);

}  // namespace lockstep
