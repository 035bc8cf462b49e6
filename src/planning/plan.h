// The plan of a run: what follows from the options, the devices, and the sizes of data and model.
// It is pure arithmetic and can be printed. Every rank gets the same plan.
#pragma once

#include "core/devices/device.h"
#include "planning/batch/exact_sum.h"
#include "planning/options/optimizers.h"
#include "planning/options/train_options.h"
#include "planning/schedule/schedule.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// An entry of optimizer.groups, and the number of trained parameters to which it applies.
struct GroupCount {
  std::string pattern, words;  // words: "lr 0.001, weight decay 0"
  std::int64_t parameters = 0;
};

// The numbers that a recipe knows about its data and model before a worker starts.
struct Facts {
  std::int64_t train_samples = 0;
  std::int64_t valid_samples = 0;
  // The cost of evaluating all of valid_samples, in forward passes of a training sample. If
  // validation samples are cut into tiles, it is the number of tiles. 0 = valid_samples.
  double evaluation_passes = 0;
  std::int64_t epoch_size = 0;       // samples in an epoch; 0 = train_samples
  std::int64_t rows_per_sample = 1;  // rows of the batch that one training sample takes
  std::string unit = "samples";      // the unit of throughput, such as "tokens" or "voxels"
  double units_per_sample = 1;
  // the recipe's advice on how to use less memory per sample; may be empty
  std::string smaller_sample{};
  std::int64_t parameters = 0;         // trained parameters; 0 = unknown
  std::int64_t frozen_parameters = 0;  // frozen parameters
  bool batch_norm = false;             // whether the model is known to have running statistics
  // The name of a module that is torch's own batch norm, which ignores norm.statistics. Empty if
  // none is known.
  std::string torch_batch_norm{};
  std::int64_t preferred_micro = 0;  // the micro-batch that the recipe prefers; 0 = none
  std::int64_t fixed_micro = 0;      // the only micro-batch that the model allows; 0 = any
  std::int64_t default_global = 0;   // the recipe's default global batch
  double flops_per_sample = 0;       // model FLOPs of training on one sample; 0 = unknown
  std::vector<GroupCount> groups{};  // one per entry of optimizer.groups, in order
  // The trained parameters, in order of registration. They are filled in only if the optimizer
  // treats parameters differently and a model was available. Otherwise this is empty.
  std::vector<OptimizedParameter> optimized{};
};

// The bytes that a rank needs: fixed + per_sample * micro_batch, plus temporary bytes.
// planning/memory/memory.h computes with it.
struct MemoryEstimate {
  double fixed_bytes = 0;       // weights, working copy, gradients, optimizer state, workspace
  double per_sample_bytes = 0;  // activations
  // The part of fixed_bytes that only the update needs. shard_optimizer divides it among the ranks.
  double optimizer_bytes = 0;
  // The number of blocks of the model whose activations can be recomputed in backward. A sample
  // keeps block_bytes of a block, or recomputed_block_bytes if the block is recomputed. 0 blocks:
  // the model has no such blocks, or the recipe does not report them.
  std::int64_t blocks = 0;
  double block_bytes = 0, recomputed_block_bytes = 0;
  // Temporary bytes of a sample in addition to its activations: loss_bytes in the loss and
  // backward_bytes in backward. The estimate adds the larger of the two. The loss may be computed
  // in equal pieces of at most loss_piece_bytes; 0 = in one piece.
  double loss_bytes = 0, loss_piece_bytes = 0;
  double backward_bytes = 0;
  // These two are set if samples differ in size. The estimate assumes that a micro-batch holds
  // samples of mean size and up to `large_samples` of the largest ones. Each of the largest ones
  // counts as `large_size` samples of mean size in addition to itself.
  std::int64_t large_samples = 0;
  double large_size = 0;
  // The bytes that an evaluation needs instead of activations.
  double evaluation_bytes = 0;
  // These two are set only in a plan. measured: whether per_sample_bytes follows from the measured
  // peak of an earlier run. tried_micro: with batch.micro = auto, the largest micro-batch that was
  // found to fit; 0 = not tried out.
  bool measured = false;
  std::int64_t tried_micro = 0;
};

// Memory that earlier runs measured on these devices. 0 = unknown.
struct MeasuredMemory {
  // The peak of a rank at the micro-batch `micro`. With batch.micro = auto, `micro` is the largest
  // micro-batch that fits.
  std::int64_t micro = 0;
  double peak_bytes = 0;
  // for a resumed run: the micro-batch to which it shrank when memory ran out
  std::int64_t shrunk_to = 0;
  // The micro-batch that a resumed run keeps, regardless of options and estimate. 0 = the
  // micro-batch is chosen again.
  std::int64_t kept = 0;
};

// The batch of a step. A step takes `global` samples, which are rows() rows. A place is a position
// for one row in a micro-batch. A micro-batch has `micro` places, and a step has places() of them
// over all ranks. Usually each place holds a row. If a sample has several rows, or there are fewer
// samples than ranks, the last places may be padding.
struct BatchPlan {
  std::int64_t world_size = 1, micro = 1, accumulation = 1, global = 1;
  std::int64_t rounded_from = 0;  // the default batch before it was rounded; 0 = not rounded
  std::int64_t rows_per_sample = 1;
  bool fixed_micro = false;  // the model requires this micro-batch
  // The rows over which batch norm computes its statistics: world_size * micro. 0 = no statistics
  // span ranks. If it is set, micro-batches with the same index on all ranks are adjacent in the
  // global batch. So the same rows share statistics on any number of ranks.
  std::int64_t norm_rows = 0;
  std::int64_t rows() const { return global * rows_per_sample; }
  std::int64_t places() const { return world_size * micro * accumulation; }
  // A rank's share of the rows of a step, rounded up.
  std::int64_t rows_per_rank() const { return (rows() - 1) / world_size + 1; }
};

// The precision in which the model computes.
struct PrecisionPlan {
  Precision type = Precision::fp32;  // never auto
  bool tf32 = false;                 // fp32 products are rounded to TF32
  std::string why;                   // the reason for this choice, if precision = auto
};

// The numbers from which the utilisation of a run (MFU) is computed.
struct ComputePlan {
  double flops_per_step = 0;  // model FLOPs of the global batch; 0 = unknown
  double peak_flops = 0;      // FLOP/s of all devices together; 0 = unknown
  std::string mfu_unknown;    // the reason why MFU is unknown; empty if it is known
};

struct Plan {
  BatchPlan batch;
  std::vector<Device> devices;  // one per rank
  PrecisionPlan precision;
  std::int64_t train_samples = 0, valid_samples = 0;
  double evaluation_passes = 0;  // Facts::evaluation_passes, or valid_samples
  std::int64_t epoch_size = 0;   // samples in an epoch
  // epoch_size / global, rounded down with data.drop_last, else up
  std::int64_t steps_per_epoch = 0;
  std::int64_t total_steps = 0;  // from stop.steps and stop.epochs; decaying rates end at this step
  Schedule schedule;
  MemoryEstimate memory;
  double memory_needed_bytes = 0;  // memory of one rank at this micro-batch
  bool keeps_micro = false;        // a resumed run keeps the micro-batch that it had before
  // The bytes that shard_optimizer saves, or would save, on the rank with the most optimizer state.
  // 0 or less: it saves nothing.
  double sharding_saves_bytes = 0;
  // number of blocks that are recomputed in backward, counted from the first block
  std::int64_t recomputed_blocks = 0;
  std::string smaller_sample;  // Facts::smaller_sample; not recorded
  std::string unit;
  double units_per_step = 0;
  ComputePlan compute;
  std::int64_t parameters = 0, frozen_parameters = 0;  // 0 = unknown
  std::vector<GroupCount> groups;
  std::vector<RuleCount> rules;  // empty unless the optimizer kind has several update rules
  // peak rate of adamw when used with muon, after scale_lr; 0 = the run's rate
  double adamw_lr = 0;
  std::string init_from;          // the source of the first weights; empty if the recipe makes them
  std::optional<ExactSum> exact;  // set if exact = true
  bool batch_norm = false;        // Facts::batch_norm
  std::string torch_batch_norm;   // Facts::torch_batch_norm
  std::vector<std::string> notes;  // sentences on how results differ from those of one device
};

// The largest divisor of `number` that is at most `limit`.
std::int64_t largest_divisor(std::int64_t number, std::int64_t limit);

// The largest micro-batch up to `limit` into which the rows of a rank can be cut. It divides the
// number of these rows. If a sample has several rows, the result is the micro-batch that gives the
// fewest places.
std::int64_t fitting_micro(const BatchPlan& batch, std::int64_t limit);

// The multiple of `multiple` that is nearest to `value`, but at least `multiple` itself. If two are
// equally near, the larger one.
std::int64_t nearest_multiple(std::int64_t value, std::int64_t multiple);

// Solves world_size * micro * accumulation = global for the values that are 0. If only `global` is
// known, picks the largest micro <= largest_micro that divides the share of a rank.
// - A default global batch that is not such a product is rounded to the nearest product. If two
//   products are equally near, to the larger one.
// - If a given global batch is not such a product, throws Error with the nearest products.
// - A given global batch below world_size is valid if micro and accumulation are at most 1. Some
//   ranks then have only padding.
// - If a sample has several rows, micro counts rows, and any global batch works. Places beyond the
//   rows of the global batch are padding.
//
// rank_word: the word for a rank in messages, "GPU" or "CPU rank".
BatchPlan solve_batch(std::int64_t world_size, std::int64_t global, std::int64_t micro,
                      std::int64_t accumulation, std::int64_t default_global,
                      std::int64_t largest_micro, const std::string& rank_word = "GPU",
                      std::int64_t rows_per_sample = 1);

// Checks a resumed run, whose global batch options.batch.global must not change. If that batch
// cannot be divided over these devices, throws Error with numbers of ranks that divide it.
void check_frozen_batch(const TrainOptions& options, const Facts& facts,
                        const std::vector<Device>& devices);

// Checks a resumed run. `before` has the facts from when the run began, and `now` has those of the
// present data. Throws Error if a number of samples, the size of an epoch, or the rows of a sample
// differ. where: "data.path=/x" for the message, or empty.
void check_frozen_data(const Facts& before, const Facts& now, const std::string& where);

// The number of steps in an epoch of `epoch_size` samples. 0 if epoch_size is 0, or if it is below
// `global` and drop_last is true.
std::int64_t count_epoch_steps(std::int64_t epoch_size, std::int64_t global, bool drop_last);

// whole: the estimate of the recipe's formula without shard_optimizer. Throws Error if no plan is
// possible.
Plan make_plan(const TrainOptions& options, const Facts& facts, const MemoryEstimate& whole,
               const std::vector<Device>& devices, const MeasuredMemory& measured = {});

// The plan as `lockstep train` and `lockstep plan` print it: a table and the notes. With `curve`, a
// plot of the learning rate follows, `width` columns wide. There is no blank line at the end.
std::string to_text(const Plan& plan, bool curve, int width = 72);
nlohmann::json to_json(const Plan& plan);
nlohmann::json to_json(const MemoryEstimate& memory);
nlohmann::json to_json(const GroupCount& group);
// {"rule", "parameters", "names"}, and "matrices" if RuleCount::matrices is not empty
nlohmann::json to_json(const RuleCount& rule);
nlohmann::json to_json(const Device& device);  // {"device": "cuda:0", "uuid", "name", …}

}  // namespace lockstep
