// Uploads a step's data to the device, while the previous step is computed.
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

// A step whose upload has been started in advance.
struct StagedStep {
  StepData data;  // the fields of its batches were moved into `uploads`
  // One upload for each micro-batch, of these tensors: fields…, row_weight, counters.
  std::vector<std::unique_ptr<Upload>> uploads;
  // f64 [terms + ranks] on the host. The tensor begins with the weights of the loss's terms. Then
  // comes one number for each rank: a hash of the shapes of the rank's data, or -1 if the rank has
  // no data. When `agreement` is done, the tensor is summed over the ranks.
  at::Tensor agreed;
  std::unique_ptr<Pending> agreement;
  bool out_of_memory = false;  // memory ran out, so the data are not on the device
};

// The inputs of a step on the device. A graph has its own copy, whose addresses do not change.
struct StepInputs {
  // One list for each micro-batch, of these tensors: fields…, row_weight, counters.
  std::vector<std::vector<at::Tensor>> micro;
  std::vector<std::int64_t> first_global_rows;
  at::Tensor weights;  // weights of the loss terms, f64 [terms], summed over all ranks
  at::Tensor report;   // f64, the result of StepMetrics::report
  at::Tensor lr;       // f32 0-dim
  // The members below are on the host.
  std::vector<std::shared_ptr<const HostPart>> host_parts;  // Batch::host_part of each micro-batch
  std::int64_t accumulation = 0;
  // Hash of the shapes and dtypes of all ranks' data; the same on every rank.
  std::uint64_t shapes_key = 0;
  Phase out_of_memory = Phase::none;
};

// Starts the upload of steps ("stages" them), and turns staged steps into inputs. All calls must
// come from one thread.
class StepStage {
 public:
  StepStage(std::size_t terms, std::int64_t seed, const StepMetrics& numbers, ProcessGroup& group,
            Backend& backend, MemoryReserve& reserve);

  StagedStep stage(StepData data);  // starts the upload; all ranks call it
  // Call it in place of `stage` on a rank that cannot read its data. `all_have_data` then returns
  // false on all ranks, and `take` must not be called.
  StagedStep stage_nothing();
  // Returns whether every rank has its data. Blocks until every rank has staged the step. All ranks
  // call it before `take`.
  bool all_have_data(const StagedStep& staged) const;
  // Returns the inputs of a staged step. Blocks until every rank has staged the step. All ranks
  // call it, in the order in which steps were staged.
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
