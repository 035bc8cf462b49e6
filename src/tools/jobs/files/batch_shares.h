// A batch whose jobs are divided among tasks of another scheduler.
//
// BATCH/shares/K is a batch of its own, with its own ledger, lock and supervisors. The task that
// holds its lock runs it. Its ledger lists its jobs, by key. Its folders jobs, logs and attempts
// are links to those of BATCH, because names and numbers of jobs and numbers of attempts are unique
// in BATCH.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/run/folder/run_lock.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {

bool has_shares(const BatchFolder& batch);
BatchFolder share_folder(const BatchFolder& batch, std::int64_t share);
std::vector<std::int64_t> shares_of(const BatchFolder& batch);  // ascending
// The shares, or the batch itself if it has none.
std::vector<BatchFolder> parts_of(const BatchFolder& batch);

// The holder of the batch, or of one of its shares, as far as visible from here.
std::optional<LockHolder> holder_of(const BatchFolder& batch);
std::set<std::int64_t> running_shares(const BatchFolder& batch);

// Opens a ledger for reading: the batch's own, or a copy in memory that merges those of all shares
// and has a table share(job, number). The copy includes reasons for jobs that wait for an
// unsuccessful job of another share. limit_s: as in Ledger::open_to_read, for all ledgers together.
// Throws Error.
Ledger ledger_to_read(const BatchFolder& batch, double limit_s = INFINITY);

// The new jobs of one share.
struct NewShare {
  std::int64_t number = 0;
  JobList list;  // with final names and numbers
};
struct SharePlan {
  AddedJobs added;
  std::vector<NewShare> shares;
  JobList known;  // jobs that have a share already, with the list's current values
};
// Applies the list to `all`, which is from ledger_to_read, in place of the previous list. A share
// gets at most `most` new jobs. Writes nothing to disk.
SharePlan plan_shares(Ledger& all, JobList list, std::size_t most);
// Writes the plan to disk. Each share is written whole or not at all.
void write_shares(const BatchFolder& batch, const SharePlan& plan);

// A job that waits for jobs of other shares is held (job.listed = 2). This releases those whose
// awaited jobs have succeeded. The process about to run the share calls it. Returns how many are
// still held.
std::int64_t release_held(const BatchFolder& batch, std::int64_t share);

// Work left in a share that can run, now or after jobs of other shares.
struct ShareWork {
  std::int64_t left = 0;
  int level = 0;                 // the share begins after all shares of lower levels
  std::set<std::int64_t> after;  // other shares for which it waits and that have remaining jobs
};
std::map<std::int64_t, ShareWork> work_left(Ledger& all);

}  // namespace lockstep
