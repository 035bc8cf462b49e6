// Everything that a batch left behind, from its folder alone.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/analysis.h"
#include "jobs/batch_folder.h"
#include "jobs/job_results.h"
#include "jobs/ledger.h"
#include "report/page.h"

namespace lockstep {

struct ReportedJob {
  std::int64_t number = 0;
  std::string name, state, reason;
  std::int64_t tries = 0;
  int attempt = 0;                // the number of its last one; 0: none
  std::optional<double> seconds;  // of that
  std::vector<std::string> devices;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<JobResult> results;
};

struct JobFailure {
  std::string job, reason;
  std::string log;    // "logs/NAME.1.log"; "" there is none
  std::string lines;  // its last ones
};

struct BatchReport {
  std::string name, path;
  bool runs_now = false;
  std::map<JobState, std::int64_t> counts;
  BatchAnalysis analysis;
  std::vector<ReportedJob> jobs;  // that are listed, by number
  std::vector<JobFailure> failures;
  std::int64_t failed = 0;  // of which `failures` holds the first
  std::vector<std::string> notes;
  std::vector<std::string> problems;  // what of it could not be read
};

// Throws Error where its ledger cannot be read.
BatchReport read_batch_report(const BatchFolder& batch);

Page batch_report_page(const BatchReport& report);
nlohmann::json batch_report_json(const BatchReport& report);

}  // namespace lockstep
