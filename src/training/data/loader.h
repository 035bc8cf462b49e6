// Loads a rank's micro-batches ahead of the step. Its threads divide the rows among themselves.
#pragma once

#include "training/data/dataset.h"
#include "training/data/pending_batch.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace lockstep {

// A rank's data for one optimizer step.
struct StepData {
  std::int64_t step = 0;  // from 0
  std::int64_t epoch = 0;
  std::vector<Batch> batches;         // `accumulation` micro-batches, on the host
  std::vector<std::int64_t> samples;  // dataset indexes of all rows, in row order; -1 = padding
  std::vector<double> weights;        // weight of each loss term, over all micro-batches of this
                                      // rank
};

struct LoaderOptions {
  std::uint64_t seed = 0;
  bool shuffle = true;
  BatchPlan batch;
  int rank = 0;
  std::int64_t first_step = 0, last_step = 0;  // steps [first, last)
  std::int64_t threads = 1;                    // 0: `next` loads, without threads
  // At most this many steps are ready or being loaded. If a step has fewer rows than there are
  // threads, more steps are loaded, so that each thread has a row.
  std::int64_t prefetch_steps = 2;
  // Called once for each micro-batch, on a loader thread. The results are added to
  // StepData::weights.
  std::function<std::vector<double>(const Batch&)> loss_weights;
  // Called on each collated tensor; may move it into pinned memory.
  std::function<at::Tensor(at::Tensor)> pin;
  bool training = true;  // whether samples are read for training
  // Says which rows to load. If unset: the training rows, by the dataset, seed, batch and order
  // options.
  RowOf row_of;
  bool drop_last = false, group_by_length = false;  // see training/data/training_rows.h
};

// Steps come in order and with the same content, whatever the number of threads. The threads read
// different rows of the same micro-batch, or of the next ones. If a dataset throws an exception,
// `next` rethrows it for that step and names the sample. If several rows fail, it rethrows the
// exception of the first row. The destructor stops the threads without waiting for unread steps.
class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  bool done() const;   // all steps have been taken
  StepData next();     // blocks; checks !done()
  bool ready() const;  // next would not block
  void add_thread();
  std::int64_t threads() const;  // call it on the thread that calls add_thread

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
