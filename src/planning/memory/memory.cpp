// The memory that a model and its micro-batch need on a device, and the memory that a device has.
#include "planning/memory/memory.h"

#include "planning/batch/buckets.h"
#include "planning/options/optimizers.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

constexpr double gpu_share = 0.92, gpu_reserve_bytes = 512.0 * 1024 * 1024;
constexpr double host_share = 0.5;
constexpr std::int64_t no_limit = std::int64_t{1} << 40;

// Returns 0 if the memory is unknown.
double available_bytes(const Device& device) {
  const double total = static_cast<double>(device.memory_bytes);
  if (device.kind == DeviceKind::cpu || total == 0) return total * host_share;
  return std::max(1.0, total * gpu_share - gpu_reserve_bytes);
}

// The largest number of state bytes per parameter element, over all granularities.
double most_state_bytes(const TrainOptions& options) {
  double of_matrices = 0, of_others = 0;
  for (const OptimizerState& state : optimizer_states(options)) {
    of_matrices += state.of_matrices ? state.bytes_per_element : 0;
    of_others += state.of_others ? state.bytes_per_element : 0;
  }
  return std::max(of_matrices, of_others);
}

// The micro-batch in samples of mean size, with its largest samples included.
double mean_samples(const MemoryEstimate& memory, std::int64_t micro) {
  return static_cast<double>(micro) +
         memory.large_size * static_cast<double>(std::min(micro, memory.large_samples));
}

// The inverse of mean_samples, which has a kink at large_samples.
double micro_of(const MemoryEstimate& memory, double samples) {
  return memory.large_samples == 0
             ? samples
             : std::max(samples / (1 + memory.large_size),
                        samples - memory.large_size * static_cast<double>(memory.large_samples));
}

double state_bytes(const TrainOptions& options, Granularity granularity) {
  double bytes = 0;
  for (const OptimizerState& state : optimizer_states(options))
    bytes += state.is_of(granularity) ? state.bytes_per_element : 0;
  return bytes;
}

std::int64_t overlap(std::int64_t a_begin, std::int64_t a_end, std::int64_t b_begin,
                     std::int64_t b_end) {
  return std::max<std::int64_t>(0, std::min(a_end, b_end) - std::max(a_begin, b_begin));
}

// Bytes of optimizer states on the rank that has the most.
double most_states_of_a_rank(const BucketedLayout& made, const std::vector<double>& bytes,
                             std::int64_t ranks) {
  std::vector<double> states(static_cast<std::size_t>(ranks));
  for (const Bucket& bucket : made.buckets) {
    const std::int64_t length = (bucket.end - bucket.begin) / ranks;
    for (const std::int64_t p : bucket.parameters)
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const auto i = static_cast<std::size_t>(p);
        const std::int64_t begin = bucket.begin + rank * length;
        states[static_cast<std::size_t>(rank)] +=
            bytes[i] * static_cast<double>(overlap(made.layout.offsets[i], made.layout.ends[i],
                                                   begin, begin + length));
      }
  }
  return *std::max_element(states.begin(), states.end());
}

}  // namespace

double weight_bytes_per_parameter(const TrainOptions& options) {
  return 4 + (options.precision == Precision::fp32 ? 4 : 2);
}

double optimizer_bytes_per_parameter(const TrainOptions& options) {
  return most_state_bytes(options) + (options.ema.decay > 0 ? 4 : 0) +
         (options.precision == Precision::fp32 ? 0 : 4);
}

namespace {

// shard: whether the optimizer is sharded. It replaces the option.
MemoryEstimate with_rules_for(MemoryEstimate whole, const TrainOptions& options, const Facts& facts,
                              std::size_t ranks, bool shard) {
  if (facts.optimized.empty()) return whole;
  const std::vector<Granularity> kinds = granularities(options.optimizer.kind, facts.optimized);
  std::vector<std::int64_t> sizes;
  std::vector<bool> is_whole;
  std::vector<double> bytes;  // bytes of states per element
  double elements = 0, states = 0;
  for (std::size_t i = 0; i < facts.optimized.size(); ++i) {
    sizes.push_back(facts.optimized[i].elements());
    is_whole.push_back(kinds[i] == Granularity::matrix);
    bytes.push_back(state_bytes(options, kinds[i]));
    elements += static_cast<double>(sizes.back());
    states += bytes.back() * static_cast<double>(sizes.back());
  }
  const double counted = most_state_bytes(options) * elements;
  double of_optimizer = states - counted, of_weights = 0;
  if (shard && ranks > 1) {
    const auto count = static_cast<std::int64_t>(ranks);
    const std::int64_t bucket_bytes =
        options.reduce_bucket_mb > 0 ? options.reduce_bucket_mb * 1'000'000 : usual_bucket_bytes;
    const BucketedLayout made = lay_out_whole(sizes, is_whole, count, bucket_bytes);
    const double padding = static_cast<double>(made.layout.elements) - elements;
    const double beside_states = optimizer_bytes_per_parameter(options) - most_state_bytes(options);
    of_optimizer += padding * beside_states +
                    most_states_of_a_rank(made, bytes, count) * static_cast<double>(ranks) - states;
    of_weights = padding * weight_bytes_per_parameter(options);
  }
  whole.optimizer_bytes += of_optimizer;
  whole.fixed_bytes += of_optimizer + of_weights + update_workspace_bytes(options, facts.optimized);
  return whole;
}

}  // namespace

MemoryEstimate with_rules(MemoryEstimate whole, const TrainOptions& options, const Facts& facts,
                          std::size_t ranks) {
  return with_rules_for(whole, options, facts, ranks, options.shard_optimizer);
}

MemoryEstimate share_of_a_rank(MemoryEstimate whole, std::size_t ranks) {
  const double kept = whole.optimizer_bytes / static_cast<double>(ranks);
  whole.fixed_bytes -= whole.optimizer_bytes - kept;
  whole.optimizer_bytes = kept;
  return whole;
}

double sharding_saves(const MemoryEstimate& whole, const TrainOptions& options, const Facts& facts,
                      std::size_t ranks) {
  if (whole.fixed_bytes <= 0) return 0;
  const MemoryEstimate shard = with_rules_for(whole, options, facts, ranks, true);
  return with_rules_for(whole, options, facts, ranks, false).fixed_bytes -
         share_of_a_rank(shard, ranks).fixed_bytes;
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
  // The loss is computed at once, or piece by piece.
  double in_loss = left / (memory.per_sample_bytes + memory.loss_bytes);
  if (memory.loss_piece_bytes > 0)
    in_loss = std::max(in_loss, (left - memory.loss_piece_bytes) / memory.per_sample_bytes);
  const double fits = std::floor(micro_of(memory, std::min(in_backward, in_loss)));
  return static_cast<std::int64_t>(std::clamp(fits, 1.0, static_cast<double>(no_limit)));
}

// Recomputing a block brings its activations back, at a time when the later blocks have already
// freed theirs. If all blocks are recomputed, backward needs the activations of one. The last block
// then saves memory only while the loss is computed.
double needed_bytes(const MemoryEstimate& memory, std::int64_t micro, std::int64_t blocks) {
  const double block = std::max(0.0, memory.block_bytes - memory.recomputed_block_bytes);
  const double samples = mean_samples(memory, micro), loss = memory.loss_bytes * samples;
  const double pieces =
      memory.loss_piece_bytes > 0 ? std::max(1.0, std::ceil(loss / memory.loss_piece_bytes)) : 1;
  const bool all = memory.blocks > 0 && blocks >= memory.blocks;
  const double backward = (memory.backward_bytes + (all ? block : 0)) * samples;
  const double saved = static_cast<double>(std::min(blocks, memory.blocks)) * block * samples;
  const double training =
      memory.per_sample_bytes * samples - saved + std::max(loss / pieces, backward);
  return memory.fixed_bytes + std::max(training, memory.evaluation_bytes);
}

bool take_peak(MemoryEstimate& memory, std::int64_t micro, double peak_bytes) {
  if (micro < 1) return false;
  MemoryEstimate empty = memory;
  empty.per_sample_bytes = empty.evaluation_bytes = 0;
  const double activations = peak_bytes - needed_bytes(empty, micro);
  if (activations <= 0) return false;
  memory.per_sample_bytes = activations / mean_samples(memory, micro);
  return true;
}

}  // namespace lockstep
