// Ledgers in a folder of their own, and jobs for them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

inline Job small_job(const std::string& key) {
  Job job;
  job.key = key;
  job.name = "name-" + key;
  job.command = {"true", key};
  job.folder = "/";
  return job;
}

inline JobList small_jobs(const std::vector<std::string>& keys) {
  JobList list;
  for (const std::string& key : keys) list.jobs.push_back(small_job(key));
  return list;
}

class LedgerFolder : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder.path() / "ledger.sqlite"; }
  Ledger open() const { return Ledger::open(file()); }
  Ledger open_with(const std::vector<std::string>& keys) const {
    Ledger ledger = open();
    ledger.add(small_jobs(keys), true);
    return ledger;
  }
  // One attempt of the job, of supervisor "s".
  static Attempt begin(Ledger& ledger, std::int64_t job) {
    std::vector<Attempt> attempts{{.job = job, .supervisor = "s", .slot = 1, .cores = {0, 3}}};
    ledger.begin(attempts);
    return attempts[0];
  }
  static void end(Ledger& ledger, const Attempt& attempt, AttemptOutcome outcome, JobState state) {
    ledger.end(attempt, {.outcome = outcome}, state, 0);
  }
  static std::int64_t number(Ledger& ledger, const std::string& sql) {
    Statement row(ledger.database(), sql);
    return row.step() ? row.integer(0) : -1;
  }

  TemporaryDirectory folder;
};

}  // namespace lockstep
