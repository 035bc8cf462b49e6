// Checks the result that a batch must reach to exit successfully: --expect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/monitor/gpu/gpu_log.h"

namespace lockstep {

struct BatchOutcome {
  std::vector<GpuActivity> gpus;       // mean activity of each GPU over the batch
  std::int64_t failed = 0, total = 0;  // numbers of jobs; failed includes jobs that could not run
};

class Expectation {
 public:
  // Parses "gpu_activity>=40%" (for each GPU), "sm_activity>=20%", "failed<=15%" (of all jobs) or
  // "failed<=3". The sign may be >= or <=. Throws Error for other forms.
  explicit Expectation(std::string_view text);

  bool is_of_gpus() const { return of_ != Of::failed; }
  bool is_of_failures() const { return of_ == Of::failed; }
  // Whether the expectation also applies to a part of the batch. An expectation of a number of
  // failed jobs, such as "failed<=3", does not.
  bool is_of_parts() const { return is_of_gpus() || is_share_; }
  const std::string& text() const { return text_; }

  struct Answer {
    bool met = false;
    std::string text;  // "gpu_activity>=40%: GPU 0 52 %, GPU 1 18 %: not met by GPU 1"
  };
  // Says whether the outcome meets the expectation. An unmeasured value does not meet it.
  Answer answer(const BatchOutcome& outcome) const;
  // Returns by how many percentage points the outcome misses the expectation, or 0 if it meets it.
  // A GPU that was not measured misses the expectation by 100 percentage points. Call it only if
  // is_of_parts() returns true.
  double shortfall(const BatchOutcome& outcome) const;

 private:
  enum class Of { gpu_activity, sm_activity, failed };
  bool holds(double value) const { return at_least_ ? value >= bound_ : value <= bound_; }
  std::optional<double> value_of(const GpuActivity& gpu) const;
  Answer of_gpus(const std::vector<GpuActivity>& gpus) const;

  std::string text_;
  Of of_ = Of::failed;
  bool at_least_ = false, is_share_ = false;
  double bound_ = 0;  // a percentage, or a number of failed jobs
};

}  // namespace lockstep
