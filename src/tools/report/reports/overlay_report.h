// Makes a report that overlays several runs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/run/folder/run_dir.h"
#include "runtime/run/folder/run_summary.h"
#include "tools/report/pages/figures.h"
#include "tools/report/pages/page.h"
#include "tools/report/reports/run_series.h"

namespace lockstep {

struct OverlaidRun {
  RunSummary summary;
  RunSeries series;         // the run's series without its lists of events
  nlohmann::json config;    // the options from the run's record, or null
  double global_batch = 0;  // samples per step; 0 if unknown
  std::string problem{};    // why the run could not be read; empty if it could be read
};

// Reads a run. smooth: as ReadSeries::smooth. columns: the largest number of columns that each
// curve keeps (CurveColumn in curve.h). It limits the memory for a run. For a run that cannot be
// read, `problem` is set, and nothing is thrown.
OverlaidRun read_overlaid_run(const RunDir& run, std::optional<double> smooth, std::size_t columns);
// Returns the value of `columns` for read_overlaid_run if this many runs are overlaid. With more
// runs, each curve gets fewer columns.
std::size_t columns_for(std::size_t runs);

constexpr std::size_t most_overlaid = 20;  // the largest number of curves in a drawing

Page overlay_page(const std::vector<OverlaidRun>& runs, CurveAxis axis);
nlohmann::json overlay_json(const std::vector<OverlaidRun>& runs);

}  // namespace lockstep
