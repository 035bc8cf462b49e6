// Bytes that a model and its micro-batch take on a device, and bytes that a device has.
#include "plan/memory.h"

#include "plan/optimizers.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

constexpr double gpu_share = 0.92, gpu_reserve_bytes = 512.0 * 1024 * 1024;
constexpr double host_share = 0.5;
constexpr std::int64_t no_limit = std::int64_t{1} << 40;

// 0 = unknown.
double available_bytes(const Device& device) {
  const double total = static_cast<double>(device.memory_bytes);
  if (device.kind == DeviceKind::cpu || total == 0) return total * host_share;
  return std::max(1.0, total * gpu_share - gpu_reserve_bytes);
}

}  // namespace

double weight_bytes_per_parameter(const TrainOptions& options) {
  return 4 + (options.precision == Precision::fp32 ? 4 : 2);
}

double optimizer_bytes_per_parameter(const TrainOptions& options) {
  double of_matrices = 0, of_others = 0;
  for (const OptimizerState& state : optimizer_states(options)) {
    of_matrices += state.of_matrices ? state.bytes_per_element : 0;
    of_others += state.of_others ? state.bytes_per_element : 0;
  }
  const double states = std::max(of_matrices, of_others);
  return states + (options.ema.decay > 0 ? 4 : 0) + (options.precision == Precision::fp32 ? 0 : 4);
}

std::optional<TightestDevice> tightest_device(const std::vector<Device>& devices) {
  std::optional<TightestDevice> tightest;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    const double available = available_bytes(devices[rank]);
    if (available > 0 && (!tightest || available < tightest->available_bytes))
      tightest = TightestDevice{.rank = rank, .available_bytes = available};
  }
  return tightest;
}

std::int64_t largest_micro(const MemoryEstimate& memory, const std::vector<Device>& devices) {
  const auto tightest = tightest_device(devices);
  if (!tightest || memory.per_sample_bytes <= 0) return no_limit;
  const double left = tightest->available_bytes - memory.fixed_bytes;
  const double in_backward = left / (memory.per_sample_bytes + memory.backward_bytes);
  // With the loss in one piece, or beside a whole piece.
  double in_loss = left / (memory.per_sample_bytes + memory.loss_bytes);
  if (memory.loss_piece_bytes > 0)
    in_loss = std::max(in_loss, (left - memory.loss_piece_bytes) / memory.per_sample_bytes);
  const double fits = std::floor(std::min(in_backward, in_loss));
  return static_cast<std::int64_t>(std::clamp(fits, 1.0, static_cast<double>(no_limit)));
}

// While a block is computed again, what it usually keeps is there once more, beside nothing of the
// blocks behind it. So where all are, the last saves something in the loss only.
double needed_bytes(const MemoryEstimate& memory, std::int64_t micro, std::int64_t blocks) {
  const double block = std::max(0.0, memory.block_bytes - memory.recomputed_block_bytes);
  const double samples = static_cast<double>(micro), loss = memory.loss_bytes * samples;
  const double pieces =
      memory.loss_piece_bytes > 0 ? std::max(1.0, std::ceil(loss / memory.loss_piece_bytes)) : 1;
  const bool all = memory.blocks > 0 && blocks >= memory.blocks;
  const double backward = (memory.backward_bytes + (all ? block : 0)) * samples;
  const double saved = static_cast<double>(std::min(blocks, memory.blocks)) * block * samples;
  return memory.fixed_bytes + memory.per_sample_bytes * samples - saved +
         std::max(loss / pieces, backward);
}

bool take_peak(MemoryEstimate& memory, std::int64_t micro, double peak_bytes) {
  if (micro < 1) return false;
  MemoryEstimate empty = memory;
  empty.per_sample_bytes = 0;
  const double activations = peak_bytes - needed_bytes(empty, micro);
  if (activations <= 0) return false;
  memory.per_sample_bytes = activations / static_cast<double>(micro);
  return true;
}

}  // namespace lockstep
