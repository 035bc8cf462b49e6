// Files of /proc, whose process may end at any time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct ProcFile {
  std::string text;
  int error = 0;  // errno of open or read; text is empty then
};
ProcFile read_proc_file(const std::filesystem::path& path);  // never throws

// Parsed /proc/PID/stat: the name without its brackets, and the fields from the third, "state", on.
// The fields are empty if the file was cut off. The name may hold anything, also brackets.
struct ProcStat {
  std::string name;
  std::vector<std::string> fields;
};
ProcStat parse_proc_stat(const std::string& stat);

double ticks_s(const std::string& ticks);  // seconds in a field that counts clock ticks

// The numbers of all processes.
std::vector<int> process_numbers(const std::filesystem::path& proc);

}  // namespace lockstep
