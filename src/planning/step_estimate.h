// Estimates how long a step takes on these devices, before anything runs. Both the forecast and the
// warning that further GPUs do not pay use this estimate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/devices/gpus/gpu_links.h"
#include "planning/plan.h"

namespace lockstep {

// An estimate of a step's time. Arithmetic runs at a third of the peak, but takes at least 2 ms,
// the time in which the kernels of a small model start. Then the gradients are added up at four
// fifths of the link's speed, and the backward pass hides what it can of that. A third is the
// middle of what was measured: steps of the models in bench/results reach from a tenth of the peak
// to a half and more. So the true time is within a factor of 3. The estimate leaves out work that
// costs the same on any number of devices, such as the update. So the true gain is nearer to 1.
struct StepEstimate {
  std::int64_t devices = 1;
  std::size_t fastest = 0;        // rank of the device that would be the quickest one alone
  double arithmetic_one_s = 0;    // arithmetic of the step on that device
  double arithmetic_s = 0;        // on the rank that ends last, its padding places included
  double sample_s = 0;            // time of one training sample on the slowest device
  double exchange_s = 0;          // adding up the gradients; 0 on one device
  double exchange_bytes = 0;      // bytes of gradients, per device
  std::int64_t accumulation = 1;  // only the last micro-batch's backward hides the exchange
  bool knows_exchange = true;     // false: there is one, but the link or its bytes are not known

  double compute_one_s() const;  // computing time of the step on one device
  double compute_s() const;      // computing time on the busiest of all devices
  double step_s() const;
  double gain() const { return compute_one_s() / step_s(); }  // over one device
};

// Nothing if FLOPs or peak are unknown. link: between the devices; nothing on one, or unknown.
std::optional<StepEstimate> estimate_step(const Plan& plan, const TrainOptions& options,
                                          const std::optional<LinkLimit>& link);

// "2 GPUs: 1.8 x the speed of one (estimated, over PCIe 3 x16, which is assumed)"; "" on one device
// and if the link is unknown.
std::string gain_text(const StepEstimate& step, const LinkLimit& link);

// The warning that more devices hardly pay. It says why, and from which batch on they would, also
// with gradients in bf16. It also says what to write to use the fastest device alone: `alone`, as
// --devices takes it. If they do not pay over PCIe only, it says that this depends on the link. ""
// if they pay or nothing is known. Without a full stop.
std::string gain_warning(const StepEstimate& step, const Plan& plan, const TrainOptions& options,
                         const LinkLimit& link, const std::string& alone);

}  // namespace lockstep
