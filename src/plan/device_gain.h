// Whether several GPUs are worth it at a step's batch, estimated before anything runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "devices/gpu_links.h"
#include "plan/plan.h"

namespace lockstep {

// Seconds of a step, estimated: arithmetic at half the peak, gradients added up over four fifths of
// the link, of which the backward pass hides what it can. What costs the same on any number of
// devices (the update, small kernels) is left out, so that the true gain is nearer to 1.
struct DeviceGain {
  double compute_one_s = 0;       // arithmetic of the step on one device
  double compute_s = 0;           // on the busiest of all
  double exchange_s = 0;          // adding up the gradients
  double exchange_bytes = 0;      // of gradients, per device
  std::int64_t accumulation = 1;  // only the last micro-batch's backward hides the exchange

  double step_s() const;
  double gain() const { return compute_one_s / step_s(); }  // over one device
};

// Nothing on one device, on CPUs, and where FLOPs, peak, parameters or link are unknown.
std::optional<DeviceGain> device_gain(const Plan& plan, const TrainOptions& options,
                                      const std::optional<LinkLimit>& link);

// That more devices hardly pay, why, from which batch on they would, also with gradients in bf16,
// and what to write to use one alone; where that is so over PCIe
// alone, that it depends on the link. "" where they pay or nothing is known. Without a full stop.
std::string device_gain_note(const Plan& plan, const TrainOptions& options,
                             const std::optional<LinkLimit>& link);

}  // namespace lockstep
