// Finds which events of a file count, before they are read. After {"kind": "resume", "step": S},
// earlier events of steps above S do not count (docs/reference/events.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Returns the step of the event in this line, or NaN if it has none.
double step_of_line(const std::string& line);

class EventLimits {
 public:
  // Reads the "resume" events of the file. Throws Error if the file cannot be read.
  explicit EventLimits(const std::filesystem::path& events);

  std::int64_t lines() const { return lines_; }
  std::int64_t step_lines() const { return step_lines_; }
  // Whether an event of this step counts. line: index of the event's line, from 0. Calls must be in
  // the order of the lines.
  bool counts(std::int64_t line, double step);

 private:
  std::int64_t lines_ = 0, step_lines_ = 0;
  // For each "resume" event: its line, and the lowest step of this and all later "resume" events.
  std::vector<std::pair<std::int64_t, double>> limits_;
  std::size_t next_ = 0;
};

// Calls `visit` for each event that counts, in order, with its unchanged line. Lines that are added
// to the file after this call began are left out.
void for_each_effective_line(const std::filesystem::path& events,
                             const std::function<void(const std::string& line)>& visit);
// Visits the lines in the same way, but with limits that were read earlier. So several passes over
// the file read the same lines.
void for_each_effective_line(const std::filesystem::path& events, EventLimits limits,
                             const std::function<void(const std::string& line)>& visit);

}  // namespace lockstep
