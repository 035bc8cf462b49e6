// Which events of a file count, told before they are read: after {"kind": "resume", "step": S}
// earlier ones of steps above S do not (docs/reference/events.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

double step_of_line(const std::string& line);  // NaN: it has none

class EventLimits {
 public:
  // Reads the file for its resumes alone. Throws Error where it cannot be read.
  explicit EventLimits(const std::filesystem::path& events);

  std::int64_t lines() const { return lines_; }
  std::int64_t step_lines() const { return step_lines_; }
  // Whether an event of that step in that line, from 0, counts. Lines are asked about in order.
  bool counts(std::int64_t line, double step);

 private:
  std::int64_t lines_ = 0, step_lines_ = 0;
  // Lines of resumes, and the lowest step of that one and all later ones.
  std::vector<std::pair<std::int64_t, double>> limits_;
  std::size_t next_ = 0;
};

// Calls `visit` for each event that counts, in order, as it stands in its line; what came behind
// the lines that were there at the beginning is left out.
void for_each_effective_line(const std::filesystem::path& events,
                             const std::function<void(const std::string& line)>& visit);
// As of the time when the limits were read: several passes see the same lines.
void for_each_effective_line(const std::filesystem::path& events, EventLimits limits,
                             const std::function<void(const std::string& line)>& visit);

}  // namespace lockstep
