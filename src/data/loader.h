// Loads the micro-batches of a rank ahead of the step, with threads that share the rows.
#pragma once

#include "data/dataset.h"
#include "data/pending_batch.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace lockstep {

// What one rank needs for one optimizer step.
struct StepData {
  std::int64_t step = 0;  // from 0
  std::int64_t epoch = 0;
  std::vector<Batch> batches;         // `accumulation` micro-batches, on the host
  std::vector<std::int64_t> samples;  // dataset indexes of all rows in order of place; -1 = padding
  std::vector<double> weights;        // of each loss term, over all micro-batches of this rank
};

struct LoaderOptions {
  std::uint64_t seed = 0;
  bool shuffle = true;
  BatchPlan batch;
  int rank = 0;
  std::int64_t first_step = 0, last_step = 0;  // steps [first, last)
  std::int64_t threads = 1;                    // 0: loads in `next`, without threads
  // At most so many steps are ready or in the making; where a step has fewer rows than there are
  // threads, as many more as give each thread a row.
  std::int64_t prefetch_steps = 2;
  // Called once a micro-batch on a loader thread; adds to StepData::weights.
  std::function<std::vector<double>(const Batch&)> loss_weights;
  // Called on each collated tensor; may move it into pinned memory.
  std::function<at::Tensor(at::Tensor)> pin;
  bool training = true;  // what samples are told of their use
  // Which rows; unset: those of training, by the dataset, seed, batch and the options of order.
  RowOf row_of;
  bool drop_last = false, group_by_length = false;  // see data/training_rows.h
};

// Steps come out in order, and the same, whatever the number of threads. Threads read different
// rows of a micro-batch, or of the next ones. An exception in a dataset is rethrown by `next` of
// its step, with the sample named: that of the first row, if there are several. The destructor
// stops the threads without waiting for unread steps.
class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  bool done() const;   // all steps were taken
  StepData next();     // blocks; checks !done()
  bool ready() const;  // next would not block
  void add_thread();
  std::int64_t threads() const;  // to be called where add_thread is

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
