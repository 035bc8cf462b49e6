// A report on a run, from its directory alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/folder/run_files.h"
#include "runtime/run/folder/run_summary.h"
#include "tools/report/pages/figures.h"
#include "tools/report/pages/page.h"
#include "tools/report/reports/gpu_series.h"
#include "tools/report/reports/run_series.h"

namespace lockstep {

struct ReadRunReport {
  std::optional<double> smooth{};
  std::size_t columns = 2048;  // the most per curve
  // The recipe's options with their defaults, as in `config` of run.json; null: unknown.
  nlohmann::json defaults = nullptr;
  std::size_t picture_bytes = std::size_t{4} << 20;  // the most for all pictures in the page
  // True if the calling program has the run's lock and has ended the run. state.json is then right,
  // and nobody trains the run.
  bool has_ended = false;
};

struct RunOption {
  std::string key, value;
  std::string standard{};  // the default, if it differs and is known
};

struct LoggedOutput {
  std::string file;   // "logs/rank0.log"
  std::string lines;  // the file's last lines
};

struct RunReport {
  RunSummary summary;
  nlohmann::json record;  // run.json, or null
  RunSeries series;
  GpuSeries gpus;
  std::vector<CheckpointInfo> checkpoints;  // existing ones, checked by size only
  std::vector<RunFolder> files;
  std::vector<PagePicture> pictures;        // of the best evaluation, else of the newest
  std::string pictures_of{};                // name of their folder
  std::size_t pictures_listed = 0;          // how many of them lack their bytes
  std::vector<RunOption> changed, options;  // changed: other than the default; options: all
  bool defaults_known = false;
  std::vector<LoggedOutput> output;  // for a run that failed
  std::vector<PageNote> problems;    // problems with the folder or the run
  double global_batch = 0;           // samples per step; 0: unknown

  std::string metric() const;  // name of the metric that selects checkpoints; "" if there is none
};

// Throws Error only if the events cannot be read. Other damaged or missing parts are listed in
// `problems`.
RunReport read_run_report(const RunDir& run, const ReadRunReport& how = {});

Page run_report_page(const RunReport& report, CurveAxis axis);
nlohmann::json run_report_json(const RunReport& report);

// Parts of the report, for pages of several runs.
nlohmann::json curve_json(const Curve& curve);
CurveFrame metric_frame(const std::string& name, const std::string& unit, const Curve& curve,
                        CurveAxis axis);

}  // namespace lockstep
