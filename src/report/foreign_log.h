// What logs of other programs have in common: series of numbers over steps and time.
#pragma once

#include "report/facts.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct ForeignPoint {
  std::int64_t step = 0;
  double seconds = 0;  // since the first; NaN where the log has no time
  double value = 0;
};

struct ForeignSeries {
  std::string name;  // "val/loss"
  std::vector<ForeignPoint> points;
};

// Fills in steps, times, qualities and the curve. counted: "steps" or "epochs"; "": points are
// numbered, and how much was done is not known.
void add_foreign_log(const std::vector<ForeignSeries>& series, const std::string& counted,
                     Trial& trial);

}  // namespace lockstep
