// Several runs over each other.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/figures.h"
#include "report/page.h"
#include "report/run_series.h"
#include "run/run_dir.h"
#include "run/run_summary.h"

namespace lockstep {

struct OverlaidRun {
  RunSummary summary;
  RunSeries series;         // without its lists of events
  nlohmann::json config;    // of the record; or null
  double global_batch = 0;  // samples per step; 0: not known
  std::string problem{};    // why there is nothing of it; "" nothing
};

// Each run costs memory for a part of `columns` alone, however many there are. A run that cannot be
// read has a `problem`, and hides no other.
OverlaidRun read_overlaid_run(const RunDir& run, std::optional<double> smooth, std::size_t columns);
// Columns of a curve where so many runs lie over each other.
std::size_t columns_for(std::size_t runs);

constexpr std::size_t most_overlaid = 20;  // curves that are drawn

Page overlay_page(const std::vector<OverlaidRun>& runs, CurveAxis axis);
nlohmann::json overlay_json(const std::vector<OverlaidRun>& runs);

}  // namespace lockstep
