// Makes a report on a run from its directory alone.
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
  std::size_t columns = 2048;  // the largest number of columns per curve
  // The recipe's options with their defaults, in the form of `config` of run.json. Null if unknown.
  nlohmann::json defaults = nullptr;
  // limit for the bytes of all pictures in the page
  std::size_t picture_bytes = std::size_t{4} << 20;
  // Whether the calling program holds the run's lock and has ended the run. If true, state.json is
  // up to date, and no other process trains the run.
  bool has_ended = false;
};

struct RunOption {
  std::string key, value;
  std::string standard{};  // the default, if it is known and differs
};

struct LoggedOutput {
  std::string file;   // such as "logs/rank0.log"
  std::string lines;  // the last lines of the file
};

struct RunReport {
  RunSummary summary;
  nlohmann::json record;  // the content of run.json, or null
  RunSeries series;
  GpuSeries gpus;
  std::vector<CheckpointInfo> checkpoints;  // existing checkpoints, which are checked only by size
  std::vector<RunFolder> files;
  std::vector<PagePicture> pictures;  // pictures of the best evaluation, or else of the newest
  std::string pictures_of{};          // name of the pictures' folder
  std::size_t pictures_listed = 0;    // number of pictures that are named without their content
  // changed: options that differ from the default; options: all options
  std::vector<RunOption> changed, options;
  bool defaults_known = false;
  std::vector<LoggedOutput> output;  // last lines of the logs; only for a run that failed
  std::vector<PageNote> problems;    // problems with the folder or the run
  double global_batch = 0;           // samples per step; 0 if unknown

  std::string metric() const;  // name of the metric that selects checkpoints; "" if there is none
};

// Throws Error only if the events cannot be read. Other damaged or missing parts are listed in
// `problems`.
RunReport read_run_report(const RunDir& run, const ReadRunReport& how = {});

Page run_report_page(const RunReport& report, CurveAxis axis);
nlohmann::json run_report_json(const RunReport& report);

// Parts of the report, which pages of several runs also use.
nlohmann::json curve_json(const Curve& curve);
CurveFrame metric_frame(const std::string& name, const std::string& unit, const Curve& curve,
                        CurveAxis axis);

}  // namespace lockstep
