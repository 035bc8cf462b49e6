// Manages a batch whose jobs are divided among tasks of Slurm.
//
// BATCH/shares/K, a share, is a separate batch with its own ledger, lock and supervisors. The task
// that holds the lock of a share runs the share. The ledger of a share lists the jobs of the share.
// The share's folders jobs, logs and attempts are links to those of BATCH. This is possible because
// names and numbers of jobs, and ids of attempts, are unique in BATCH.
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
// no such process is visible from here.
std::optional<LockHolder> holder_of(const BatchFolder& batch);
std::set<std::int64_t> running_shares(const BatchFolder& batch);

// Opens a ledger for reading. Without shares, it is the batch's own ledger. With shares, it is a
// copy in memory of the ledgers of all shares, with an additional table share(job, number). In the
// copy, a job that waits for an unsuccessful job of another share has this as its reason. limit_s:
// as in Ledger::open_to_read, for all ledgers together. Throws Error if a ledger cannot be read.
Ledger ledger_to_read(const BatchFolder& batch, double limit_s = INFINITY);

// The new jobs of one share.
struct NewShare {
  std::int64_t number = 0;
  JobList list;  // jobs with their final names and numbers
};
struct SharePlan {
  AddedJobs added;
  std::vector<NewShare> shares;
  JobList known;  // jobs of the new list that already have a share
};
// Replaces the previous list of jobs in `all`, and plans shares for the new jobs. all: the result
// of ledger_to_read. A share gets at most `most` new jobs. Writes nothing to disk.
SharePlan plan_shares(Ledger& all, JobList list, std::size_t most);
// Writes the plan to disk. Each new share is written whole or not at all.
void write_shares(const BatchFolder& batch, const SharePlan& plan);

// Releases held jobs of a share. A job that waits for jobs of other shares is held: in the ledger,
// its job.listed is 2. A held job is released when these jobs have succeeded. The process that is
// about to run the share calls this. Returns the number of jobs that are still held.
std::int64_t release_held(const BatchFolder& batch, std::int64_t share);

// The remaining work of a share. It consists of jobs that are not over and can still run, now or
// after jobs of other shares.
struct ShareWork {
  std::int64_t left = 0;
  int level = 0;                 // the share begins after all shares with lower levels
  std::set<std::int64_t> after;  // other shares for whose remaining jobs this share waits
};
std::map<std::int64_t, ShareWork> work_left(Ledger& all);

}  // namespace lockstep
