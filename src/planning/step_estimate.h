// Estimates the time of a step on these devices before anything runs. The forecast uses it, and so
// does the warning that more GPUs would not be faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/devices/gpus/gpu_links.h"
#include "planning/plan.h"

namespace lockstep {

// An estimate of the time of a step, with these assumptions:
// - Arithmetic runs at a third of the peak. Steps of the models in bench/results reach from a tenth
//   of the peak to more than a half, so the true time is within a factor of 3.
// - Arithmetic takes at least 2 ms, the time to launch the kernels of a small model.
// - Gradients are added up at four fifths of the link's speed. A part of this time overlaps with
//   the backward pass.
// - Work that costs the same on any number of devices, such as the update, is left out. So the true
//   `gain` is nearer to 1.
struct StepEstimate {
  std::int64_t devices = 1;
  std::size_t fastest = 0;        // rank of the fastest device
  double arithmetic_one_s = 0;    // arithmetic of the step on that device
  double arithmetic_s = 0;        // arithmetic on the slowest rank, with its padding
  double sample_s = 0;            // time of one training sample on the slowest device
  double exchange_s = 0;          // adding up the gradients; 0 on one device
  double exchange_bytes = 0;      // bytes of gradients per device
  std::int64_t accumulation = 1;  // only the last micro-batch's backward overlaps with the exchange
  bool knows_exchange = true;  // false: the speed of the link, or the number of bytes, is unknown

  double compute_one_s() const;  // computing time of the step on one device
  double compute_s() const;      // computing time of the step on all devices
  double step_s() const;
  double gain() const { return compute_one_s() / step_s(); }  // speed relative to one device alone
};

// Nothing if the FLOPs of a step or the peak are unknown. link: the link between the devices;
// nothing if there is one device, or if the link is unknown.
std::optional<StepEstimate> estimate_step(const Plan& plan, const TrainOptions& options,
                                          const std::optional<LinkLimit>& link);

// "2 GPUs: 1.8 x the speed of one (estimated, over PCIe 3 x16, which is assumed)". Empty for one
// device, and if the link is unknown.
std::string gain_text(const StepEstimate& step, const LinkLimit& link);

// A warning that more devices are hardly faster. It gives the reason, and the smallest global batch
// with which they would be faster. It also gives that batch for gradients in bf16, if it is smaller
// then. It suggests `--devices` with `alone`, which names the fastest device. If NVLink may join
// the devices, it instead reports that the answer depends on the link. Empty if more devices are
// worth it, or if the link or the number of parameters is unknown. The text has no full stop at the
// end.
std::string gain_warning(const StepEstimate& step, const Plan& plan, const TrainOptions& options,
                         const LinkLimit& link, const std::string& alone);

}  // namespace lockstep
