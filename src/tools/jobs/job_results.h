// Reads the results that a job reports, from the file that its variable LOCKSTEP_EVENTS names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

inline constexpr std::size_t most_results = 200;         // per attempt
inline constexpr std::size_t longest_result_name = 100;  // bytes
inline constexpr std::size_t longest_result_text = 1000;
inline constexpr std::uint64_t most_event_bytes = 16u << 20;  // only this much of a file is read

struct JobResult {
  std::string name;
  std::variant<double, std::string> value;  // a finite number or a text
  bool operator==(const JobResult&) const = default;
};

struct JobResults {
  std::vector<JobResult> values;  // in the order in which the names first appeared
  // the rejected results and the reason, for people; empty if no result was rejected
  std::string left_out;
};

// Reads lines {"result": "auc", "value": 0.71} and {"results": {"auc": 0.71, "rows": 1200}}. If a
// name occurs several times, its last value is kept. true and false become 1 and 0. The numbers
// NaN, Infinity and -Infinity, as Python writes them, become texts. Other lines are ignored. A
// missing file has no results. Never throws: rejected results are reported in `left_out`.
JobResults read_job_results(const std::filesystem::path& events);

}  // namespace lockstep
