// A batch whose jobs are shared out among tasks of another scheduler.
//
// BATCH/shares/K is a batch of its own, with its own ledger, lock and supervisors: the task that
// has taken its lock runs it. Which jobs it has is in its ledger, by key. Folders jobs, logs and
// attempts are links to those of BATCH: a job's name and number and an attempt's number are the
// same nowhere else in BATCH.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobs/batch_folder.h"
#include "jobs/ledger.h"
#include "run/run_lock.h"

namespace lockstep {

bool has_shares(const BatchFolder& batch);
BatchFolder share_folder(const BatchFolder& batch, std::int64_t share);
std::vector<std::int64_t> shares_of(const BatchFolder& batch);  // ascending
// The shares, or the batch itself where it has none.
std::vector<BatchFolder> parts_of(const BatchFolder& batch);

// Who runs the batch, or one of its shares, as far as can be seen from here.
std::optional<LockHolder> holder_of(const BatchFolder& batch);
std::set<std::int64_t> running_shares(const BatchFolder& batch);

// To read: the batch's own, or a copy in memory of what all shares know, with a table
// share(job, number). There, reasons of jobs that wait for a job of another share that did not
// succeed are filled in. limit_s: as in Ledger::open_to_read, of all ledgers. Throws Error.
Ledger ledger_to_read(const BatchFolder& batch, double limit_s = INFINITY);

// Jobs that are new, shared out.
struct NewShare {
  std::int64_t number = 0;
  JobList list;  // with final names and numbers
};
struct SharePlan {
  AddedJobs added;
  std::vector<NewShare> shares;
  JobList known;  // jobs that have a share already, as the list says them now
};
// Into `all`, which is ledger_to_read: what becomes of the batch with this list in place of the
// last one, at most `most` new jobs in a share. Writes nothing to disk.
SharePlan plan_shares(Ledger& all, JobList list, std::size_t most);
// The same on disk. Each share is there whole or not at all.
void write_shares(const BatchFolder& batch, const SharePlan& plan);

// Jobs of a share that wait for jobs of others are held back (job.listed = 2) until this is called
// and these have succeeded. By who is about to run the share. How many are held still.
std::int64_t release_held(const BatchFolder& batch, std::int64_t share);

// What is left in a share that can run, now or after jobs of others.
struct ShareWork {
  std::int64_t left = 0;
  int level = 0;                 // it begins after those of lower levels
  std::set<std::int64_t> after;  // other shares in which jobs are left that it waits for
};
std::map<std::int64_t, ShareWork> work_left(Ledger& all);

}  // namespace lockstep
