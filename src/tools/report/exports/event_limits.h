// Finds, before the events of a file are read, which of them count. After {"kind": "resume",
// "step": S}, earlier events of steps above S do not count (docs/reference/events.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// The step of the event in this line; NaN if it has none.
double step_of_line(const std::string& line);

class EventLimits {
 public:
  // Reads only the resumes of the file. Throws Error if it cannot be read.
  explicit EventLimits(const std::filesystem::path& events);

  std::int64_t lines() const { return lines_; }
  std::int64_t step_lines() const { return step_lines_; }
  // Whether an event of that step counts; `line` is its line, from 0. Calls must be in the order of
  // lines.
  bool counts(std::int64_t line, double step);

 private:
  std::int64_t lines_ = 0, step_lines_ = 0;
  // Line of each resume, and the lowest step of that resume and all later ones.
  std::vector<std::pair<std::int64_t, double>> limits_;
  std::size_t next_ = 0;
};

// Calls `visit` for each event that counts, in order, with its unchanged line. Lines that are added
// after this call began are left out.
void for_each_effective_line(const std::filesystem::path& events,
                             const std::function<void(const std::string& line)>& visit);
// The same with limits read earlier, so that several passes read the same lines.
void for_each_effective_line(const std::filesystem::path& events, EventLimits limits,
                             const std::function<void(const std::string& line)>& visit);

}  // namespace lockstep
