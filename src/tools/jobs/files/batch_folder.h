// Gives the paths of the files in a batch's folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/text/text.h"

namespace lockstep {

// BATCH/
//   ledger.sqlite    jobs and attempts (docs/reference/batch-ledger.md)
//   batch.json       the kind of this folder, and how it was made
//   jobs/NAME/       files of a job that has succeeded
//   attempts/N/      files of an attempt that runs or failed
//   logs/NAME.K.log  output of the K-th attempt of a job; absent if it printed nothing
//   gpu.csv          activity of the GPUs that jobs requested, a line per second and GPU
//   supervisors/     records of the processes that start the jobs
//   shares/K/        if Slurm runs the batch: each share is a separate batch (batch_shares.h)
struct BatchFolder {
  std::filesystem::path path;

  std::filesystem::path ledger() const { return path / "ledger.sqlite"; }
  std::filesystem::path record() const { return path / "batch.json"; }
  std::filesystem::path gpu_log() const { return path / "gpu.csv"; }
  std::filesystem::path lock() const { return path / "lock"; }
  std::filesystem::path attempt(std::int64_t id) const { return path / "attempts" / cat(id); }
  std::filesystem::path published(const std::string& job) const { return path / "jobs" / job; }
  std::filesystem::path log(const std::string& job, int number) const {
    return path / "logs" / cat(job, ".", number, ".log");
  }
  std::filesystem::path supervisor(const std::string& id) const {
    return path / "supervisors" / cat(id, ".jsonl");
  }
};

}  // namespace lockstep
