// Manages a batch whose jobs are divided among tasks of Slurm.
//
// BATCH/shares/K, a share, is a separate batch with its own ledger, lock and supervisors. The task
// that holds its lock runs it. Its ledger lists its jobs. Its folders jobs, logs and attempts are
// links to those of BATCH. This is possible because names and numbers of jobs, and ids of attempts,
// are unique in BATCH.
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
std::vector<std::int64_t> shares_of(const BatchFolder& batch);  // in ascending order
// Returns the shares, or the batch itself if it has none.
std::vector<BatchFolder> parts_of(const BatchFolder& batch);

// Returns the process that holds the lock of the batch, or of one of its shares. Returns nothing if
// none is visible from here.
std::optional<LockHolder> holder_of(const BatchFolder& batch);
std::set<std::int64_t> running_shares(const BatchFolder& batch);

// Opens a ledger for reading. Without shares, it is the batch's own ledger. With shares, it is a
// copy in memory of the ledgers of all shares, with an additional table share(job, number). In the
// copy, jobs that wait for an unsuccessful job of another share have a reason. limit_s: as in
// Ledger::open_to_read, for all ledgers together. Throws Error.
Ledger ledger_to_read(const BatchFolder& batch, double limit_s = INFINITY);

// The new jobs of one share.
struct NewShare {
  std::int64_t number = 0;
  JobList list;  // jobs with their final names and numbers
};
struct SharePlan {
  AddedJobs added;
  std::vector<NewShare> shares;
  JobList known;  // jobs that already have a share, with the values of the new list
};
// Replaces the previous list of jobs in `all`, which is from ledger_to_read, and plans shares for
// the new jobs. A share gets at most `most` new jobs. Writes nothing to disk.
SharePlan plan_shares(Ledger& all, JobList list, std::size_t most);
// Writes the plan to disk. Each new share is written whole or not at all.
void write_shares(const BatchFolder& batch, const SharePlan& plan);

// Releases held jobs of a share. A job that waits for jobs of other shares is held (job.listed =
// 2). It is released when these jobs have succeeded. The process that is about to run the share
// calls this. Returns the number of jobs that are still held.
std::int64_t release_held(const BatchFolder& batch, std::int64_t share);

// The remaining work of a share: jobs that are not over and can still run, now or after jobs of
// other shares.
struct ShareWork {
  std::int64_t left = 0;
  int level = 0;                 // the share begins after all shares with lower levels
  std::set<std::int64_t> after;  // other shares that still have jobs and for which it waits
};
std::map<std::int64_t, ShareWork> work_left(Ledger& all);

}  // namespace lockstep
