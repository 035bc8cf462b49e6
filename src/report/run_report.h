// Everything that a run left behind, from its directory alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/figures.h"
#include "report/gpu_series.h"
#include "report/page.h"
#include "report/run_series.h"
#include "run/checkpoint_index.h"
#include "run/run_dir.h"
#include "run/run_files.h"
#include "run/run_summary.h"

namespace lockstep {

struct ReadRunReport {
  std::optional<double> smooth{};
  std::size_t columns = 2048;  // of a curve, at most
  // The recipe's options with their defaults, as `config` of run.json has them; null: not known.
  nlohmann::json defaults = nullptr;
  std::size_t picture_bytes = std::size_t{4} << 20;  // of all pictures that go into the page
  // This program holds the run, and has ended it: it is as state.json says, and does not run.
  bool has_ended = false;
};

struct RunOption {
  std::string key, value;
  std::string standard{};  // the default, where it differs and is known
};

struct LoggedOutput {
  std::string file;   // "logs/rank0.log"
  std::string lines;  // its last ones
};

struct RunReport {
  RunSummary summary;
  nlohmann::json record;  // run.json, or null
  RunSeries series;
  GpuSeries gpus;
  std::vector<CheckpointInfo> checkpoints;  // that are there, by their sizes alone
  std::vector<RunFolder> files;
  std::vector<PagePicture> pictures;        // of the best evaluation, else of the newest
  std::string pictures_of{};                // the name of their folder
  std::size_t pictures_listed = 0;          // of them, without their bytes
  std::vector<RunOption> changed, options;  // those other than the default; all
  bool defaults_known = false;
  std::vector<LoggedOutput> output;  // of a run that failed
  std::vector<PageNote> problems;    // what is wrong with the folder, or with the run
  double global_batch = 0;           // samples per step; 0: not known

  std::string metric() const;  // the name of the metric that is chosen by; "" there is none
};

// Throws Error only where the events cannot be read; what else is damaged or missing is told in
// `problems`.
RunReport read_run_report(const RunDir& run, const ReadRunReport& how = {});

Page run_report_page(const RunReport& report, CurveAxis axis);
nlohmann::json run_report_json(const RunReport& report);

// Parts of it, for pages of several runs.
nlohmann::json curve_json(const Curve& curve);
CurveFrame metric_frame(const std::string& name, const std::string& unit, const Curve& curve,
                        CurveAxis axis);

}  // namespace lockstep
