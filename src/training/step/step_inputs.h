// Brings a step's data from the loader to the device, one step ahead.
#pragma once

#include "backends/backend.h"
#include "backends/memory_reserve.h"
#include "training/data/loader.h"
#include "training/distributed/process_group.h"
#include "training/step/step_metrics.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// A step whose upload was started one step ahead, so that nothing waits for it.
struct StagedStep {
  StepData data;  // its batches were moved into `uploads`
  std::vector<std::unique_ptr<Upload>>
      uploads;  // one per micro-batch: fields…, row_weight, counters
  // f64 [terms + ranks] on the host: the weights of the loss's terms, and for each rank a hash of
  // its shapes, or -1 if it has no data. After a wait for `agreement`, it is summed over the ranks.
  at::Tensor agreed;
  std::unique_ptr<Pending> agreement;
  bool out_of_memory = false;  // the data are not on the device
};

// The inputs of a step on the device. With a graph they are always at the same address.
struct StepInputs {
  std::vector<std::vector<at::Tensor>> micro;  // fields…, row_weight, counters
  std::vector<std::int64_t> first_global_rows;
  at::Tensor weights;  // f64 [terms], summed over all ranks
  at::Tensor report;   // f64, see StepMetrics
  at::Tensor lr;       // f32 0-dim
  // On the host:
  std::vector<std::shared_ptr<const HostPart>> host_parts;  // host part of each micro-batch
  std::int64_t accumulation = 0;
  std::uint64_t shapes_key = 0;  // hash of sizes and dtypes of all ranks' data; the same on every
                                 // rank
  Phase out_of_memory = Phase::none;
};

// Stages the data of steps, and turns staged steps into inputs. One thread.
class StepStage {
 public:
  StepStage(std::size_t terms, std::int64_t seed, const StepMetrics& numbers, ProcessGroup& group,
            Backend& backend, MemoryReserve& reserve);

  StagedStep stage(StepData data);  // all ranks call it
  // Replaces `stage` on a rank that cannot read its data. The step cannot be taken then, and all
  // ranks learn this by `all_have_data`.
  StagedStep stage_nothing();
  // All ranks call it before `take`. Blocks until every rank has staged the step.
  bool all_have_data(const StagedStep& staged) const;
  // All ranks call it, in the order of `stage`. Blocks until every rank has staged the step.
  StepInputs take(StagedStep staged, double lr, const RankReport& report);

 private:
  void upload(StagedStep& staged);
  void agree(StagedStep& staged, double own_shapes);

  std::size_t terms_;
  std::int64_t seed_;
  const StepMetrics& numbers_;
  ProcessGroup& group_;
  Backend& backend_;
  MemoryReserve& reserve_;
};

}  // namespace lockstep
