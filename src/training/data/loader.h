// Loads a rank's micro-batches on threads, ahead of the steps that use them.
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
  std::int64_t step = 0;  // number of the step, from 0
  std::int64_t epoch = 0;
  std::vector<Batch> batches;  // `accumulation` micro-batches, on the host
  // The dataset index of each row, in order; -1 for padding rows.
  std::vector<std::int64_t> samples;
  // The weight of each loss term, summed over this rank's micro-batches.
  std::vector<double> weights;
};

struct LoaderOptions {
  std::uint64_t seed = 0;
  bool shuffle = true;
  BatchPlan batch;
  int rank = 0;
  std::int64_t first_step = 0, last_step = 0;  // steps [first_step, last_step)
  std::int64_t threads = 1;                    // 0: there are no threads, and `next` loads
  // The largest number of steps that are ready or being loaded. The loader exceeds this number if
  // these steps have fewer rows than there are threads, so that every thread has a row to load.
  std::int64_t prefetch_steps = 2;
  // A function that is called once for each micro-batch, on the thread that loads it. The results
  // are added up in StepData::weights.
  std::function<std::vector<double>(const Batch&)> loss_weights;
  // A function that is called on each field that will be uploaded. It may return a copy in pinned
  // memory.
  std::function<at::Tensor(at::Tensor)> pin;
  bool training = true;  // false: the samples are for validation
  // The function that says which rows to load. If `row_of` is empty, training_rows decides by the
  // other options.
  RowOf row_of;
  bool drop_last = false, group_by_length = false;  // see OrderOptions
};

// Steps are returned in order. The content of a step does not depend on the number of threads. The
// threads read different rows of the same micro-batch, or rows of the next micro-batches. If the
// dataset throws an exception, `next` rethrows the exception for that step and names the sample. If
// several rows fail, `next` rethrows the exception of the first of these rows. The destructor waits
// only for the rows that are being read, then stops the threads.
class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  bool done() const;   // whether `next` has returned all steps
  StepData next();     // blocks until the step is loaded; not allowed if done()
  bool ready() const;  // whether `next` would return at once
  void add_thread();
  std::int64_t threads() const;  // must be called on the thread that calls add_thread

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
