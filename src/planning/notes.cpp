// Writes the notes of a plan: how it differs from one device, what stays the same, and what looks
// wrong.
#include "planning/notes.h"

#include "core/base/text/text.h"
#include "planning/options/schedule_options.h"
#include "planning/precision.h"
#include "planning/words.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {

std::string padding_words(const BatchPlan& batch) {
  return cat("the ", count_of(batch.rows(), "row"), " of a step ",
             batch.rows() == 1 ? "leaves " : "leave ",
             count_of(batch.places() - batch.rows(), "place"), " to padding");
}

namespace {

using Notes = std::vector<std::string>;

// Whether one device would train on a different batch with the same options.
bool batch_is_its_own(const Plan& plan, const TrainOptions& options) {
  const bool grows =
      options.batch.global == 0 && options.batch.micro > 0 && options.batch.accumulation > 0;
  return grows || plan.batch.rounded_from > 0;
}

std::string batch_note(const Plan& plan, const TrainOptions& options) {
  const BatchPlan& batch = plan.batch;
  const std::string ranks = count_of(batch.world_size, rank_word(plan.devices));
  const bool both = options.batch.micro > 0 && options.batch.accumulation > 0;
  if (!both && !plan.exact && (batch.rows_per_sample > 1 || batch.places() != batch.rows()))
    return cat("the effective batch stays ", batch.global, " on any number of devices");
  if (batch.rounded_from > 0)
    return cat(
        "the effective batch is ", batch.global, ", not the default ", batch.rounded_from,
        ", which does not divide into ", ranks,
        options.batch.micro > 0 ? cat(" x micro-batch ", options.batch.micro) : "",
        options.batch.accumulation > 0 ? cat(" x accumulation ", options.batch.accumulation) : "",
        "; for the same batch on several numbers of devices set batch.global to one that "
        "divides into each");
  if (options.batch.micro <= 0 || options.batch.accumulation == 0) {
    const OptionTable& table = options.table;
    // exact=true also keeps the micro-batch of a preset.
    const bool has_micro =
        (options.exact || table.is_asked_for("batch.micro")) && options.batch.micro > 1;
    const bool has_accumulation =
        table.is_asked_for("batch.accumulation") && options.batch.accumulation > 1;
    return cat(
        "the effective batch stays ", batch.global, " on any number of devices that divides ",
        has_micro ? cat(batch.global / batch.micro, " (in micro-batches of ", batch.micro, ")")
        : has_accumulation ? cat(batch.global / batch.accumulation, " (with accumulation ",
                                 batch.accumulation, ")")
                           : "it",
        ": more or fewer of them change ",
        has_accumulation          ? "the micro-batch"
        : plan.exact || has_micro ? "the accumulation"
                                  : "the micro-batch or the accumulation",
        ", never the batch");
  }
  if (options.batch.global > 0)
    return cat("the effective batch is ", batch.global, " on ", ranks,
               "; a new run works on no other number of devices while batch.global, batch.micro "
               "and batch.accumulation are all set (one that goes on chooses the last two anew)");
  return cat(
      "the effective batch grows with the number of devices, because batch.micro and "
      "batch.accumulation are both set: it is ",
      batch.global, " on ", ranks,
      batch.world_size == 1 || batch.rows_per_sample > 1
          ? std::string()
          : cat(", and would be ", batch.micro * batch.accumulation, " on 1"),
      "; set batch.global instead of one of them to keep it");
}

// Returns "rank 3 (cuda:3) computes" or "ranks 2 and 3 compute" for ranks that get only padding.
// Empty if every rank gets a row.
std::string idle_ranks(const Plan& plan) {
  const BatchPlan& batch = plan.batch;
  const std::int64_t busy = (batch.rows() - 1) / (batch.micro * batch.accumulation) + 1;
  if (busy >= batch.world_size) return "";
  const std::int64_t last = batch.world_size - 1;
  if (busy == last)
    return cat("rank ", last, " (", device_label(plan.devices[static_cast<std::size_t>(last)]),
               ") computes");
  return cat("ranks ", busy, busy + 1 == last ? " and " : " to ", last, " compute");
}

// Notes places of a micro-batch that no row of the step fills.
void note_places(const Plan& plan, Notes& notes) {
  const BatchPlan& batch = plan.batch;
  if (batch.rows_per_sample > 1)
    notes.push_back(cat("a sample is ", batch.rows_per_sample,
                        " rows of a batch, which may lie on different devices; batch.global counts "
                        "samples, the micro-batch rows"));
  if (batch.places() == batch.rows()) return;
  const std::string idle = idle_ranks(plan);
  notes.push_back(cat(padding_words(batch), " of weight 0, which changes no result",
                      idle.empty() ? "" : cat(": ", idle, " nothing else")));
}

void note_fixed_micro(const Plan& plan, Notes& notes) {
  if (plan.batch.fixed_micro)
    notes.push_back(cat("the recipe's model stands on a micro-batch of ", plan.batch.micro,
                        ", which does not shrink when memory runs out"));
}

// Says how batch norm depends on the number of ranks. A micro-batch that the recipe fixes is the
// same on any number of devices.
std::string rank_norm_note(const Plan& plan, const TrainOptions& options) {
  const std::string kept = options.norm.keep == NormKeep::mean
                               ? "the mean of their running statistics is kept"
                               : "the running statistics of rank 0 are kept";
  if (plan.batch.fixed_micro)
    return cat("batch norm normalises by each micro-batch of ", plan.batch.micro,
               " alone, on any number of devices; only evaluation depends on their number: ", kept);
  return cat("batch norm normalises by the micro-batch of each ", rank_word(plan.devices),
             " alone, so results depend on their number; ", kept,
             " (norm.statistics=sync spans all)");
}

void note_norm(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const BatchPlan& batch = plan.batch;
  if (!plan.torch_batch_norm.empty() && options.norm.statistics != NormStatistics::rank)
    notes.push_back(cat("warning: norm.statistics does not reach ", plan.torch_batch_norm,
                        ", a batch norm of torch's own: in training mode it normalises by the "
                        "micro-batch of each ",
                        rank_word(plan.devices), " (lockstep::BatchNorm follows the option)"));
  if (batch.norm_rows > 0)
    notes.push_back(cat("statistics of batch norm span norm.rows = ", batch.norm_rows,
                        " rows, on any number of devices; the micro-batch does not shrink when "
                        "memory runs out"));
  else if (options.norm.statistics == NormStatistics::frozen)
    notes.push_back("batch norm normalises by the statistics that the model brought");
  else if (plan.batch_norm && batch.world_size > 1)
    notes.push_back(rank_norm_note(plan, options));
}

// Says which share each rank keeps with shard_optimizer, and how much memory that saves.
std::string sharding_words(const Plan& plan, const std::string& rank) {
  const double saves = plan.sharding_saves_bytes;
  const std::string share =
      cat("every ", rank, " holds the whole model and ",
          plan.rules.empty() ? cat("1/", plan.batch.world_size) : std::string("a part"),
          " of its optimizer state");
  if (saves > 0) return cat(share, ", which saves ", format_bytes(saves), " a ", rank);
  if (plan.memory.fixed_bytes <= 0) return share;
  const bool by_matrices = !plan.rules.empty();
  return cat("warning: ", share, ", which saves no memory",
             by_matrices ? cat(": the ", rank,
                               " that has most keeps as much, because a matrix is not cut and the "
                               "others are filled up to its length")
                         : "");
}

// Says how closely gradients agree with those of one device. CPU ranks share the threads that one
// device would have. A different number of threads rounds the model's operations differently.
std::string rounding_note(const Plan& plan) {
  const std::string size = plan.precision.type == Precision::fp32 && !plan.precision.tf32
                               ? "to about 1e-6 of their size in fp32"
                               : cat("within the rounding of ", products_word(plan.precision));
  const std::string agree = cat("gradients agree ", size, ", not bit for bit");
  constexpr const char* sums = "sums are rounded differently than on one device: ";
  if (plan.devices.front().kind != DeviceKind::cpu) return cat(sums, agree);
  return cat(sums, "with the same number of threads per rank (OMP_NUM_THREADS, now ",
             plan.devices.front().threads, ") ", agree,
             "; another number rounds inside the model too, which the choices of a model (boxes, "
             "largest values) can magnify");
}

void note_world(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const BatchPlan& batch = plan.batch;
  notes.push_back(batch_note(plan, options));
  note_places(plan, notes);
  note_fixed_micro(plan, notes);
  note_norm(plan, options, notes);
  if (batch.world_size == 1 && options.shard_optimizer)
    notes.push_back("shard_optimizer changes nothing on one device");
  if (batch.world_size == 1) return;
  notes.push_back(cat(
      "the samples of every step, their order, their random numbers (augmentation, dropout) and "
      "the learning rate are those of one device",
      batch_is_its_own(plan, options) ? cat(" with batch.global = ", batch.global) : ""));
  if (!options.exact) notes.push_back(rounding_note(plan));
  const std::string rank = rank_word(plan.devices);
  if (options.shard_optimizer)
    notes.push_back(cat(sharding_words(plan, rank),
                        " (shard_optimizer); gradients are added up once a step, and the new "
                        "weights come from the ",
                        rank, " that has them"));
  else
    notes.push_back(cat("every ", rank,
                        " holds the whole model and its optimizer state; gradients are added up "
                        "once a step, whatever the accumulation"));
}

// "1, 2, 4, 8": the divisors of `number` up to 8, the devices of one machine.
std::string usual_divisors(std::int64_t number) {
  std::vector<std::string> divisors;
  for (std::int64_t ranks = 1; ranks <= 8; ++ranks)
    if (number % ranks == 0) divisors.push_back(cat(ranks));
  return join(divisors, ", ");
}

// Whether training may change statistics of batch norm, as far as the plan knows.
bool may_keep_statistics(const Plan& plan, const TrainOptions& options) {
  return plan.batch_norm &&
         (options.norm.statistics != NormStatistics::frozen || !plan.torch_batch_norm.empty());
}

void note_exact(const Plan& plan, const TrainOptions& options, Notes& notes) {
  if (!plan.exact) return;
  if (may_keep_statistics(plan, options))
    notes.push_back(
        cat("warning: the model has statistics of batch norm, and exact = true ends "
            "the run after its first step if training changes them",
            plan.torch_batch_norm.empty()
                ? ": norm.statistics=frozen leaves those of lockstep::BatchNorm alone"
                : ""));
  const ExactSum& exact = *plan.exact;
  notes.push_back(
      cat("exact = true: a step is ", exact.leaves, exact.leaves == 1 ? " leaf" : " leaves", " of ",
          count_of(exact.leaf_samples, "sample"),
          ", whose gradients are added in one fixed order: the weights are bitwise the same on any "
          "number of ",
          rank_word(plan.devices), "s that divides ", exact.leaves,
          " (up to 8: ", usual_divisors(exact.leaves), "), also if it changes when the run goes on",
          options.batch.micro <= 0
              ? cat("; another start has the same leaf with batch.micro=", exact.leaf_samples)
              : ""));
  if (options.batch.global == 0 || plan.batch.rounded_from > 0)
    notes.push_back(cat("for the same weights from a start on other devices set batch.global=",
                        plan.batch.global, " too"));
}

void note_precision(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const PrecisionPlan& precision = plan.precision;
  const bool cpu = plan.devices.front().kind == DeviceKind::cpu;
  const bool have_tf32 = is_native(Precision::bf16, plan.devices) && !cpu;
  if (cpu && precision.type != Precision::fp32)
    notes.push_back(cat("warning: ", precision_word(precision.type),
                        " is slower than fp32 on most CPUs: set precision=fp32"));
  if (options.matmul.tf32 && !precision.tf32)
    notes.push_back(cat("matmul.tf32 changes nothing: ",
                        precision.type != Precision::fp32
                            ? cat("products are in ", precision_word(precision.type))
                            : "not all devices have TF32 (GPUs from sm_80 on)"));
  if (have_tf32 && precision.type == Precision::fp32 && !precision.tf32)
    notes.push_back(
        "fp32 without TF32: products keep all bits of their inputs and leave most of these GPUs' "
        "speed unused; matmul.tf32=true is several times as fast, precision=bf16 more so");
  const bool in_software = !cpu && plan.devices.size() > 1 &&
                           options.reduce_precision == ReducePrecision::bf16 &&
                           !is_native(Precision::bf16, plan.devices);
  if (in_software)
    notes.push_back(
        "not all of these GPUs have bf16: reduce_precision=bf16 works there too and halves the "
        "traffic, but they round and add it in software, which is not measured");
}

void note_mixed_devices(const Plan& plan, Notes& notes) {
  const Device& first = plan.devices.front();
  const bool same =
      std::all_of(plan.devices.begin(), plan.devices.end(), [&](const Device& device) {
        return device.name == first.name && device.memory_bytes == first.memory_bytes;
      });
  if (!same)
    notes.push_back(
        "the devices differ: all get the same share of the batch, so each step waits "
        "for the slowest, and the smallest memory sets the micro-batch");
}

void note_average(const TrainOptions& options, Notes& notes) {
  if (options.ema.decay <= 0) return;
  notes.push_back(cat("the weights are averaged over about the last ",
                      std::llround(1 / (1 - options.ema.decay)),
                      " updates (ema.decay); evaluation and predictions use the ",
                      options.ema.evaluate ? "average" : "weights themselves"));
}

void note_padding(const Plan& plan, const TrainOptions& options, Notes& notes) {
  if (plan.epoch_size <= 0) return;
  if (plan.epoch_size != plan.train_samples)
    notes.push_back(cat("an epoch is ", count_of(plan.epoch_size, "sample"),
                        " of the recipe's own choice, not each of the ", plan.train_samples,
                        " once"));
  const std::int64_t last = plan.epoch_size % plan.batch.global;
  if (last == 0) return;
  if (options.data.drop_last) {
    notes.push_back(cat("the last ", count_of(last, "sample"),
                        " of each epoch's order are left out (data.drop_last)"));
    return;
  }
  const std::int64_t missing = plan.batch.global - last;
  const std::int64_t padding = missing * plan.batch.rows_per_sample;
  if (plan.epoch_size < plan.batch.global && missing >= plan.batch.world_size) {
    notes.push_back(cat("warning: there ", plan.epoch_size == 1 ? "is" : "are", " only ",
                        count_of(plan.epoch_size, "training sample"), ", fewer than the ",
                        plan.batch.global, " of the batch: every step sees all of them, and ",
                        count_of(padding, "padding row"),
                        " of weight 0; more data is needed to "
                        "learn from, or a smaller batch.global"));
    return;
  }
  notes.push_back(cat(plan.steps_per_epoch == 1 ? "each epoch is one step of "
                                                : "the last step of each epoch holds ",
                      count_of(last, "sample"), " and ", count_of(padding, "padding row"),
                      " of weight 0, so no sample is dropped or repeated"));
}

// More ranks than cores take turns, and each rank still holds a model.
void note_cores(const Plan& plan, Notes& notes) {
  const Device& first = plan.devices.front();
  const auto ranks = static_cast<std::int64_t>(plan.devices.size());
  if (first.kind != DeviceKind::cpu || first.host_cores <= 0 || ranks <= first.host_cores) return;
  notes.push_back(cat("warning: ", count_of(ranks, "CPU rank"), " share ",
                      count_of(first.host_cores, "core"), " and only take turns: --devices cpu:",
                      first.host_cores, " needs less memory and is faster"));
}

void note_schedule(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const ScheduleKind& kind = *plan.schedule.kind;
  if (kind.uses_warmup || (options.schedule.warmup <= 0 && options.schedule.min_lr <= 0)) return;
  notes.push_back(cat("schedule.kind = ", kind.name,
                      " has a rise and an end of its own: schedule.warmup and schedule.min_lr "
                      "change nothing"));
}

// Whether the user typed the option. A record also gives the values of defaults and presets.
bool is_typed(const OptionTable& table, std::string_view key) {
  const std::vector<OptionInfo> all = table.options();
  const auto option =
      std::find_if(all.begin(), all.end(), [&](const OptionInfo& one) { return one.key == key; });
  return table.is_given(key) && option->source.kind != ValueSource::Kind::record;
}

// Warns if stop.steps or stop.epochs ends the run before the other length, and the user typed only
// the other.
std::string length_warning(const Plan& plan, const TrainOptions& options) {
  const auto& stop = options.stop;
  if (stop.steps <= 0 || stop.epochs <= 0) return "";
  const bool typed_steps = is_typed(options.table, "stop.steps");
  if (typed_steps == is_typed(options.table, "stop.epochs")) return "";
  const double of_epochs = steps_of_epochs(stop.epochs, plan.steps_per_epoch);
  const auto of_steps = static_cast<double>(stop.steps);
  if (typed_steps ? of_epochs >= of_steps : of_steps >= of_epochs) return "";
  const std::string steps = cat("stop.steps = ", stop.steps),
                    epochs = cat("stop.epochs = ", general(stop.epochs, 6));
  return cat("warning: ", typed_steps ? epochs : steps, " ends the run at step ", plan.total_steps,
             ", before ", typed_steps ? steps : epochs, "; set ",
             typed_steps ? "stop.epochs=0" : "stop.steps=0", " for the whole length");
}

void note_length(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const double warmup = plan.schedule.warmup_steps;
  const double total = static_cast<double>(plan.total_steps);
  const double tenth = 0.1 * total * options.schedule.warmup / std::max(warmup, 1e-9);
  if (warmup > total)
    notes.push_back(cat("warning: warm-up takes ", general(warmup, 9),
                        " steps, but the run ends after ", plan.total_steps,
                        ": the learning rate only rises, to ",
                        rate_text(learning_rate(plan.schedule, plan.total_steps - 1)),
                        "; for a tenth of them set schedule.warmup=",
                        options.schedule.unit == TimeUnit::steps ? general(std::ceil(tenth), 9)
                                                                 : general(tenth, 2)));
  if (const std::string warning = length_warning(plan, options); !warning.empty())
    notes.push_back(warning);
  else if (options.stop.steps > 0 && options.stop.epochs > 0)
    notes.push_back(cat(plan.total_steps == options.stop.steps ? "stop.steps ends the run"
                                                               : "stop.epochs ends the run",
                        ": the smaller of stop.steps = ", options.stop.steps,
                        " and stop.epochs = ", general(options.stop.epochs, 6), " counts"));
}

// Notes values without a unit: checkpoint.every=1000 is a time, while checkpoint.every_steps counts
// steps.
void note_bare_durations(const TrainOptions& options, Notes& notes) {
  for (const OptionInfo& option : options.table.options()) {
    const std::string steps = cat(option.key, "_steps");
    if (!option.source.lacks_unit || !is_typed(options.table, option.key) ||
        !options.table.has(steps))
      continue;
    const std::string time = options.table.get(option.key);
    const double seconds = parse_duration(time).seconds;
    if (seconds > 0)
      notes.push_back(
          cat(option.key, " = ", time, "; for steps: ", steps, "=", general(seconds, 9)));
  }
}

// Notes intervals that are longer than the run.
void note_checkpoints(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const auto& checkpoint = options.checkpoint;
  const auto total = static_cast<double>(plan.total_steps);
  struct Interval {
    const char* key;
    double value, steps;
    bool saves(double total) const { return value > 0 && steps < total; }
  };
  const Interval epochs{
      .key = "checkpoint.every_epochs",
      .value = checkpoint.every_epochs,
      .steps = checkpoint.every_epochs * static_cast<double>(plan.steps_per_epoch)};
  const auto every_steps = static_cast<double>(checkpoint.every_steps);
  const Interval steps{.key = "checkpoint.every_steps", .value = every_steps, .steps = every_steps};
  const auto note = [&](const Interval& one, const Interval& other) {
    if (one.value <= 0 || one.saves(total) || !is_typed(options.table, one.key)) return;
    std::string others;
    if (other.saves(total))
      others = cat(", but ", other.key, " = ", general(other.value, 9), " does");
    else if (checkpoint.every.seconds > 0)
      others = cat(", but checkpoint.every = ", format_duration(checkpoint.every), " may");
    notes.push_back(
        cat(one.key, " = ", general(one.value, 9),
            one.steps > total ? " is longer than" : " is as long as", " the run of ",
            count_of(plan.total_steps, "step"), ": it saves nothing before the end", others,
            &one == &epochs && steps.value <= 0 ? "; checkpoint.every_steps counts steps" : ""));
  };
  note(epochs, steps);
  note(steps, epochs);
}

}  // namespace

std::vector<std::string> plan_notes(const Plan& plan, const TrainOptions& options) {
  Notes notes;
  note_world(plan, options, notes);
  note_exact(plan, options, notes);
  note_precision(plan, options, notes);
  note_mixed_devices(plan, notes);
  note_cores(plan, notes);
  for (std::string& note : optimizer_notes(plan, options)) notes.push_back(std::move(note));
  note_average(options, notes);
  note_padding(plan, options, notes);
  note_schedule(plan, options, notes);
  note_length(plan, options, notes);
  note_bare_durations(options, notes);
  note_checkpoints(plan, options, notes);
  return notes;
}

}  // namespace lockstep
