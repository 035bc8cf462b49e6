// Makes a report on a batch from its folder alone.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/jobs/analysis/analysis.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/job_results.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/report/pages/page.h"

namespace lockstep {

struct ReportedJob {
  std::int64_t number = 0;
  std::string name, state, reason;
  std::int64_t tries = 0;
  int attempt = 0;                // number of its last attempt; 0 if there is none
  std::optional<double> seconds;  // duration of that attempt
  std::vector<std::string> devices;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<JobResult> results;
};

// A summary of one numeric result that jobs report.
struct ResultSum {
  std::int64_t values = 0;
  double sum = 0, low = 0, high = 0;
  std::string lowest, highest;  // names of the jobs with the lowest and the highest value
};

struct JobFailure {
  std::string job, reason;
  std::string log;    // such as "logs/NAME.1.log"; empty if there is none
  std::string lines;  // the last lines of the log
};

inline constexpr std::size_t most_reported_jobs = 100'000, most_summed_results = 1000;

struct BatchReport {
  std::string name, path;
  bool runs_now = false;
  std::map<JobState, std::int64_t> counts;
  BatchAnalysis analysis;
  // the listed jobs in the order of their numbers, at most most_reported_jobs
  std::vector<ReportedJob> jobs;
  std::int64_t listed = 0;  // the number of all listed jobs
  // results by name, over all listed jobs; only the first most_summed_results names
  std::map<std::string, ResultSum> sums;
  std::vector<JobFailure> failures;
  // the number of failed jobs and jobs that cannot run; `failures` holds the first of them
  std::int64_t failed = 0;
  std::vector<PagePicture> pictures;  // SVG files in the batch's folder, such as a recipe's maps
  std::vector<std::string> notes;
  std::vector<std::string> problems;  // parts that could not be read or are incomplete
};

// Throws Error if the batch's ledger cannot be read.
BatchReport read_batch_report(const BatchFolder& batch);

Page batch_report_page(const BatchReport& report);
nlohmann::json batch_report_json(const BatchReport& report);

}  // namespace lockstep
