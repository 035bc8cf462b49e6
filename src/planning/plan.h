// The plan of a run: pure arithmetic over options, facts of the data and devices. Printable, and
// the same on every rank.
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

// Trained parameters that an entry of optimizer.groups matches.
struct GroupCount {
  std::string pattern, words;  // words: "lr 0.001, weight decay 0"
  std::int64_t parameters = 0;
};

// The facts that a recipe knows of its data and model before a worker starts.
struct Facts {
  std::int64_t train_samples = 0;
  std::int64_t valid_samples = 0;
  // The cost of evaluating all of valid_samples, in forward passes of a training sample. If
  // validation samples are cut into tiles, it is the number of tiles. 0: valid_samples.
  double evaluation_passes = 0;
  std::int64_t epoch_size = 0;       // places in an epoch's order; 0 = train_samples
  std::int64_t rows_per_sample = 1;  // rows of a batch that a sample has in training
  std::string unit = "samples";      // what throughput counts: "tokens", "voxels"
  double units_per_sample = 1;
  std::string smaller_sample{};        // the recipe's advice how a sample takes less memory; or ""
  std::int64_t parameters = 0;         // number of trained ones; 0 = unknown
  std::int64_t frozen_parameters = 0;  // number of frozen ones
  bool batch_norm = false;             // the model has running statistics, as far as is known
  // A module of torch's own batch norm, which norm.statistics does not reach; "": none is known.
  std::string torch_batch_norm{};
  std::int64_t preferred_micro = 0;  // what the recipe prefers; 0 = none
  std::int64_t fixed_micro = 0;      // the only micro-batch that the model allows; 0 = any
  std::int64_t default_global = 0;   // the recipe's default global batch
  double flops_per_sample = 0;       // model FLOPs of training on one sample; 0 = unknown
  std::vector<GroupCount> groups{};  // the entries of optimizer.groups, in order
  // Trained parameters, in order of registration, if the optimizer tells them apart and a model
  // was at hand; else empty.
  std::vector<OptimizedParameter> optimized{};
};

// Bytes that a rank needs: fixed + per_sample * micro_batch, and bytes that exist only for a moment
// (planning/memory/memory.h).
struct MemoryEstimate {
  double fixed_bytes = 0;       // weights, working copy, gradients, optimizer state, workspace
  double per_sample_bytes = 0;  // activations
  // The part of fixed_bytes that only the update needs, which shard_optimizer shares out.
  double optimizer_bytes = 0;
  // Blocks of the model that can be recomputed. Bytes that a sample keeps of a block: normally, and
  // if the block is recomputed. 0 blocks: the recipe has none, or does not tell.
  std::int64_t blocks = 0;
  double block_bytes = 0, recomputed_block_bytes = 0;
  // Bytes that a sample needs for a moment besides its activations: in the loss, which works in
  // equal pieces of at most loss_piece_bytes (0: in one); and in backward. The larger of the two
  // counts.
  double loss_bytes = 0, loss_piece_bytes = 0;
  double backward_bytes = 0;
  // Where samples differ in size, a micro-batch is taken to hold up to `large_samples` of the
  // largest beside its samples of mean size. Each takes the bytes of `large_size` mean ones.
  std::int64_t large_samples = 0;
  double large_size = 0;
  // Bytes that an evaluation needs in place of activations.
  double evaluation_bytes = 0;
  // In a plan: whether per_sample_bytes follows from an earlier run's peak. With batch.micro = auto
  // also the largest micro-batch that was seen to fit; 0: not tried out.
  bool measured = false;
  std::int64_t tried_micro = 0;
};

// Memory of these devices as measured by earlier runs; 0: nothing is known.
struct MeasuredMemory {
  // A rank's peak at a micro-batch; with batch.micro = auto, at the largest that fits.
  std::int64_t micro = 0;
  double peak_bytes = 0;
  std::int64_t shrunk_to = 0;  // the micro-batch that this run shrank to when memory ran out
  // The micro-batch that a continued run keeps, whatever the options and the estimate say; 0: it is
  // chosen.
  std::int64_t kept = 0;
};

// A step takes `global` samples, which have rows() rows. The rows are shared out over places()
// places; a micro-batch has `micro` of them. There are as many rows as places, unless a sample has
// several rows, or there are fewer samples than ranks. Then the last places are padding.
struct BatchPlan {
  std::int64_t world_size = 1, micro = 1, accumulation = 1, global = 1;
  std::int64_t rounded_from = 0;  // the default that it was rounded from; 0 = not rounded
  std::int64_t rows_per_sample = 1;
  bool fixed_micro = false;  // the model requires this micro-batch
  // Rows that statistics of batch norm span, world_size * micro; 0: no statistics span ranks. With
  // norm_rows, the micro-batches with the same number on all ranks are neighbours in the global
  // batch. So the same rows meet on any number of ranks.
  std::int64_t norm_rows = 0;
  std::int64_t rows() const { return global * rows_per_sample; }
  std::int64_t places() const { return world_size * micro * accumulation; }
  // The rows that a rank must have memory for: its share, rounded up.
  std::int64_t rows_per_rank() const { return (rows() - 1) / world_size + 1; }
};

// The precision that the model computes in.
struct PrecisionPlan {
  Precision type = Precision::fp32;  // never auto
  bool tf32 = false;                 // fp32 products are rounded to TF32
  std::string why;                   // what decided, if precision = auto
};

// The numbers that the utilisation of a run (MFU) is made of.
struct ComputePlan {
  double flops_per_step = 0;  // model FLOPs of the global batch; 0 = unknown
  double peak_flops = 0;      // FLOP/s of all devices together; 0 = unknown
  std::string mfu_unknown;    // why MFU is unknown; empty if it is known
};

struct Plan {
  BatchPlan batch;
  std::vector<Device> devices;  // one per rank
  PrecisionPlan precision;
  std::int64_t train_samples = 0, valid_samples = 0;
  double evaluation_passes = 0;      // Facts::evaluation_passes, or valid_samples
  std::int64_t epoch_size = 0;       // places in an epoch's order
  std::int64_t steps_per_epoch = 0;  // epoch_size / global, rounded as data.drop_last says
  std::int64_t total_steps = 0;      // from stop.steps and stop.epochs; the rate's curve ends there
  Schedule schedule;
  MemoryEstimate memory;
  double memory_needed_bytes = 0;  // memory of one rank at this micro-batch
  bool keeps_micro = false;        // a continued run has it from its last start
  // The bytes that shard_optimizer saves or would save on the fullest rank; at most 0: none.
  double sharding_saves_bytes = 0;
  std::int64_t recomputed_blocks = 0;  // this many of the first blocks are recomputed in backward
  std::string smaller_sample;          // as Facts has it; not part of the record
  std::string unit;
  double units_per_step = 0;
  ComputePlan compute;
  std::int64_t parameters = 0, frozen_parameters = 0;  // trained and not; 0 = unknown
  std::vector<GroupCount> groups;
  std::vector<RuleCount> rules;    // empty unless the optimizer has several
  double adamw_lr = 0;             // AdamW's highest rate beside muon, after scale_lr; 0: the run's
  std::string init_from;           // where the first weights come from; "": from the recipe
  std::optional<ExactSum> exact;   // with exact = true
  bool batch_norm = false;         // Facts::batch_norm
  std::string torch_batch_norm;    // Facts::torch_batch_norm
  std::vector<std::string> notes;  // what differs from one device and what does not, in words
};

// The largest divisor of `number` that is at most `limit`.
std::int64_t largest_divisor(std::int64_t number, std::int64_t limit);

// The largest micro-batch up to `limit` that a rank's rows can be cut into: a divisor of them. With
// several rows a sample, it is the one for which the batch has the fewest places.
std::int64_t fitting_micro(const BatchPlan& batch, std::int64_t limit);

// The nearest multiple, at least one; the larger of two that are equally near.
std::int64_t nearest_multiple(std::int64_t value, std::int64_t multiple);

// Solves world_size * micro * accumulation = global for the values that are 0. With only `global`
// given (or defaulted), picks the largest micro <= largest_micro that divides. A default global
// batch that does not divide is rounded to the nearest that does, the larger of two. If a given
// global batch does not divide, throws Error naming the nearest global batches that work. A given
// global batch below world_size is valid: then some ranks get padding. With several rows a sample,
// micro counts rows, any global batch works, and the places beyond its rows are padding. rank_word:
// what messages call a rank ("GPU", "CPU rank"). Pure.
BatchPlan solve_batch(std::int64_t world_size, std::int64_t global, std::int64_t micro,
                      std::int64_t accumulation, std::int64_t default_global,
                      std::int64_t largest_micro, const std::string& rank_word = "GPU",
                      std::int64_t rows_per_sample = 1);

// For a continued run, whose global batch is options.batch.global. Throws Error, naming numbers of
// ranks that work, if that batch does not divide into these devices.
void check_frozen_batch(const TrainOptions& options, const Facts& facts,
                        const std::vector<Device>& devices);

// For a run that resumes. before: what preparation found when the run began; now: what it finds
// now. Throws Error if the data has another number of samples. where: "data.path=/x", or empty.
void check_frozen_data(const Facts& before, const Facts& now, const std::string& where);

// The number of steps in an epoch of `epoch_size` places; 0 if there are no places.
std::int64_t count_epoch_steps(std::int64_t epoch_size, std::int64_t global, bool drop_last);

// whole: the recipe's formula at this precision, for a rank that shares nothing. Throws Error if no
// such plan is possible.
Plan make_plan(const TrainOptions& options, const Facts& facts, const MemoryEstimate& whole,
               const std::vector<Device>& devices, const MeasuredMemory& measured = {});

// The plan as `lockstep train` and `lockstep plan` print it: a table, the notes, and with `curve` a
// plot of the learning rate `width` columns wide. No trailing blank line.
std::string to_text(const Plan& plan, bool curve, int width = 72);
nlohmann::json to_json(const Plan& plan);
nlohmann::json to_json(const MemoryEstimate& memory);
nlohmann::json to_json(const GroupCount& group);
nlohmann::json to_json(const RuleCount& rule);  // {"rule", "parameters", "names"}
nlohmann::json to_json(const Device& device);   // {"device": "cuda:0", "uuid", "name", …}

}  // namespace lockstep
