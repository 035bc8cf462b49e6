// What a job says of itself: results among the lines of its LOCKSTEP_EVENTS.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_results = 200;         // of one attempt
inline constexpr std::size_t longest_result_name = 100;  // bytes
inline constexpr std::size_t longest_result_text = 1000;
inline constexpr std::uint64_t most_event_bytes = 16u << 20;  // what lies behind is not read

struct JobResult {
  std::string name;
  std::variant<double, std::string> value;  // a finite number, or a text
  bool operator==(const JobResult&) const = default;
};

struct JobResults {
  std::vector<JobResult> values;  // in the order in which their names came first
  std::string left_out;           // what was not taken, and why; for people; "" nothing
};

// Lines {"result": "auc", "value": 0.71} and {"results": {"auc": 0.71, "rows": 1200}}; of one name
// the last value counts, true and false are 1 and 0, and NaN, Infinity and -Infinity, as Python
// writes them, texts. Other lines are no results. A file that is not there has none. Never throws:
// what cannot be taken is told in `left_out`.
JobResults read_job_results(const std::filesystem::path& events);

}  // namespace lockstep
