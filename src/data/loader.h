// Loads the micro-batches of a rank ahead of the step, with threads.
#pragma once

#include "data/dataset.h"
#include "plan/order.h"

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
  std::int64_t prefetch_steps = 2;             // at most so many steps are ready or in the making
  // Called once a micro-batch on a loader thread; adds to StepData::weights.
  std::function<std::vector<double>(const Batch&)> loss_weights;
  // Called on each collated tensor; may move it into pinned memory.
  std::function<at::Tensor(at::Tensor)> pin;
};

// Steps come out in order whatever the number of threads. An exception in a dataset is rethrown by
// `next` of its step. The destructor stops the threads without waiting for unread steps.
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One micro-batch of given rows. Also used by evaluation.
Batch make_batch(const Dataset& dataset, const std::vector<Row>& rows, std::uint64_t seed,
                 std::int64_t step, bool training);

}  // namespace lockstep
