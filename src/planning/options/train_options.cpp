// The engine's options with their keys, meanings, units and ranges. Each group has its own
// function.
#include "planning/options/train_options.h"

#include "planning/options/synonyms.h"
#include "planning/schedule/schedule.h"

#include <utility>
#include <vector>

namespace lockstep {
namespace {

void add_general(TrainOptions& o) {
  OptionTable& table = o.table;
  table.add("seed", o.seed,
            {.meaning = "fixes the initial weights, the sample order, augmentation and dropout",
             .min = 0});
  table.add("precision", o.precision,
            {.meaning = "type of weights and activations in forward and backward; the optimizer "
                        "always works on fp32 weights. auto: bf16 on GPUs from sm_80 on, fp16 on "
                        "older ones, fp32 on CPUs and for recipes that do not declare a lower "
                        "precision as safe"});
  table.add(
      "reduce_precision", o.reduce_precision,
      {.meaning = "type in which gradients are added up over devices; bf16 halves the traffic"});
  table.add("reduce_bucket_mb", o.reduce_bucket_mb,
            {.meaning = "size of a bucket: the gradients that devices add up in one operation "
                        "during the backward pass; 0: chosen by the speed of the links, measured "
                        "at a machine's first run (with deterministic=true and on CPUs: 26)",
             .unit = "MB of fp32",
             .min = 0});
  table.add("shard_optimizer", o.shard_optimizer,
            {.meaning = "each device keeps and updates only its share of the optimizer's state "
                        "(ZeRO-1): less memory, the same result"});
  table.add(
      "exact", o.exact,
      {.meaning = "bitwise the same weights on any number of devices, at some cost in speed"});
  table.add("deterministic", o.deterministic,
            {.meaning = "the same run on the same devices gives bitwise the same weights again; "
                        "slower, and an operator without a deterministic form is an error"});
  table.add("graph", o.graph,
            {.meaning = "auto: on GPUs the whole step becomes one CUDA graph after a few steps, or "
                        "the log says why not; off: never"});
  table.add("graph_shapes", o.graph_shapes,
            {.meaning = "for how many shapes of a step's data a graph is captured at most, each "
                        "when it occurs the second time; steps of other shapes run without a graph",
             .min = 1,
             .max = 1000});
  table.add("on_nan", o.on_nan,
            {.meaning = "when a loss or a gradient is not finite: stop, and keep the weights from "
                        "before that step; skip: leave the step out and go on"});
  table.add(
      "restart", o.restart,
      {.meaning = "after a rank failed or hung, start all ranks again from the newest checkpoint, "
                  "on the devices that still answer; this many times at most without progress in "
                  "between; 0: never",
       .unit = "times",
       .min = 0,
       .max = 1e6});
  table.add(
      "preset", o.preset,
      {.meaning =
           "a named set of values, which config files and key=value override; empty for none"});
}

void add_batch(TrainOptions& o) {
  OptionTable& table = o.table;
  table.add("batch.global", o.batch.global,
            {.meaning = "samples in one optimizer step over all devices; 0: devices x micro x "
                        "accumulation if both are given, else the recipe's own",
             .unit = "samples",
             .min = 0});
  table.add("batch.micro", o.batch.micro,
            {.meaning = "samples that one device takes through forward and backward at once (rows, "
                        "where a sample has several); 0: the most that fits by the estimate; auto "
                        "(-1): the most that fits, tried out before the run starts",
             .unit = "samples",
             .min = micro_auto,
             .word = "auto"});
  table.add("batch.accumulation", o.batch.accumulation,
            {.meaning = "micro-batches whose gradients a device adds up for one optimizer step; 0: "
                        "the number that follows from batch.global and batch.micro",
             .unit = "micro-batches",
             .min = 0});
  table.add("batch.micro_changes", o.batch.micro_changes,
            {.meaning = "changes of the micro-batch after some steps, as STEP:SAMPLES separated by "
                        "commas (5:7 acts from step 6 on); for repeating a run whose micro-batch "
                        "shrank when memory ran out"});
  table.add(
      "memory.recompute", o.memory.recompute,
      {.meaning = "compute activations again in backward instead of keeping them: off; blocks: of "
                  "all blocks of the model; auto: of as many blocks as the plan needs to fit"});
  table.add(
      "norm.statistics", o.norm.statistics,
      {.meaning = "the statistics by which lockstep::BatchNorm normalises: rank, those of each "
                  "device's own micro-batch, and rank 0 keeps its own; sync, those of the "
                  "micro-batches of all devices together; frozen, those that came with the model"});
  table.add("norm.rows", o.norm.rows,
            {.meaning = "number of rows that statistics cover with norm.statistics=sync, the same "
                        "on any number of devices; 0: devices x micro-batch of the first start",
             .unit = "samples",
             .min = 0});
  table.add("norm.keep", o.norm.keep,
            {.meaning = "if each device has its own running statistics, the ones that are saved "
                        "and used in evaluation: first, those of rank 0; mean, the mean of all "
                        "ranks"});
  table.add(
      "matmul.tf32", o.matmul.tf32,
      {.meaning = "with precision = fp32, matrix products and convolutions round their inputs "
                  "to TF32 (10 bits) on GPUs from sm_80 on: several times as fast"});
}

void add_optimizer(TrainOptions& o) {
  OptionTable& table = o.table;
  auto& optimizer = o.optimizer;
  // With 1, the average would never forget, and the bias correction would divide by zero.
  constexpr double below_one = 0.999999;
  table.add("optimizer.kind", optimizer.kind,
            {.meaning = "the rule that updates the weights: adamw subtracts weight decay from the "
                        "weights, adam and sgd add it to the gradient; muon updates the matrices "
                        "of hidden layers by orthogonalised momentum, and leaves embeddings, "
                        "heads, vectors and convolutions to adamw"});
  table.add("optimizer.lr", optimizer.lr,
            {.meaning = "learning rate after warm-up, before scale_lr", .min = 0});
  table.add(
      "optimizer.weight_decay", optimizer.weight_decay,
      {.meaning =
           "pull of the weights towards zero, as a multiple of the weight times the learning rate",
       .min = 0});
  table.add("optimizer.beta1", optimizer.beta1,
            {.meaning = "decay of the running mean of gradients in adamw and adam",
             .min = 0,
             .max = below_one});
  table.add("optimizer.beta2", optimizer.beta2,
            {.meaning = "decay of the running mean of squared gradients in adamw and adam",
             .min = 0,
             .max = below_one});
  table.add("optimizer.eps", optimizer.eps,
            {.meaning = "added to the denominator in adamw and adam", .min = 1e-30});
  table.add("optimizer.momentum", optimizer.momentum,
            {.meaning = "share of the last update that sgd adds to the next one; 0: none",
             .min = 0,
             .max = below_one});
  table.add("optimizer.nesterov", optimizer.nesterov,
            {.meaning = "sgd looks ahead along its momentum"});
  table.add("optimizer.muon_momentum", optimizer.muon_momentum,
            {.meaning = "share of the running mean of gradients that muon keeps in a step",
             .min = 0,
             .max = below_one});
  table.add("optimizer.muon_nesterov", optimizer.muon_nesterov,
            {.meaning = "muon looks ahead along its momentum"});
  table.add("optimizer.muon_adjust_lr", optimizer.muon_adjust_lr,
            {.meaning = "factor of muon on the learning rate of a matrix with A rows and B "
                        "columns: match_rms_adamw, 0.2 sqrt(max(A, B)), so that rates and decays "
                        "that suit adamw suit muon too; original, sqrt(max(1, A / B))"});
  table.add("optimizer.adamw_lr", optimizer.adamw_lr,
            {.meaning = "learning rate of the parameters that muon leaves to adamw, on the same "
                        "curve: scale_lr scales it too, and schedule.min_lr counts in proportion; "
                        "0: optimizer.lr",
             .min = 0});
  table.add("optimizer.decay_norms_and_biases", optimizer.decay_norms_and_biases,
            {.meaning = "weight decay also on biases and on the weights of norms"});
  table.add("optimizer.clip", optimizer.clip,
            {.meaning = "largest norm of the whole gradient; a longer one is scaled down; 0: off",
             .min = 0});
  table.add("optimizer.scale_lr", optimizer.scale_lr,
            {.meaning = "how the learning rate grows with batch.global over optimizer.base_batch"});
  table.add("optimizer.base_batch", optimizer.base_batch,
            {.meaning = "the global batch that optimizer.lr was chosen for; needed by scale_lr",
             .unit = "samples",
             .min = 0});
  table.add("optimizer.groups", optimizer.groups,
            {.meaning = "parameters with a rate or decay of their own, each entry \"PATTERN: lr=… "
                        "lr_factor=… weight_decay=… schedule=curve|constant\" (constant: without "
                        "warm-up, curve and scale_lr): the first entry whose pattern matches a "
                        "parameter's name counts, and overrides the recipe"});
}

void add_parameters(TrainOptions& o) {
  OptionTable& table = o.table;
  table.add(
      "train.freeze", o.train.freeze,
      {.meaning = "patterns for names of parameters that are not trained (\"trunk.*\"); a "
                  "pattern that begins with ! trains parameters that earlier patterns froze"});
  auto& init = o.init;
  table.add(
      "init.from", init.from,
      {.meaning = "begin with weights of a run, a checkpoint's or a Hugging Face folder, or a "
                  "file (.safetensors, .bin, .pt, .pth); empty: with the recipe's own",
       .is_path = true});
  table.add("init.checkpoint", init.checkpoint,
            {.meaning = "which checkpoint, where init.from is a run"});
  table.add(
      "init.average", init.average,
      {.meaning = "take the average of the weights where the checkpoint of init.from has one"});
  table.add("init.map", init.map,
            {.meaning = "names in the file and their names in the model, \"bert.*=encoder.*\"; the "
                        "first entry that matches counts"});
  table.add(
      "init.missing", init.missing,
      {.meaning = "patterns for names in the model that the file may lack, or hold in another "
                  "shape: these parameters keep their first weights"});
  table.add("init.unexpected", init.unexpected,
            {.meaning = "patterns for names in the file that are ignored"});
}

void add_ema(TrainOptions& o) {
  OptionTable& table = o.table;
  constexpr double below_one = 0.999999;
  table.add(
      "ema.decay", o.ema.decay,
      {.meaning = "keep an average of the weights too; each update keeps this share of it (less at "
                  "first: (1 + n) / (10 + n) after n updates); 0: none",
       .min = 0,
       .max = below_one});
  table.add("ema.evaluate", o.ema.evaluate,
            {.meaning = "evaluate and predict with the average of the weights where there is one, "
                        "not with the weights"});
}

void add_schedule(TrainOptions& o) {
  OptionTable& table = o.table;
  auto& schedule = o.schedule;
  const char* unit = "steps or epochs";
  std::vector<std::string> kinds;
  for (const ScheduleKind& kind : schedule_kinds()) kinds.emplace_back(kind.name);
  table.add("schedule.kind", schedule.kind,
            {.meaning = "the curve of the learning rate", .choices = std::move(kinds)});
  table.add("schedule.unit", schedule.unit,
            {.meaning = "unit of schedule.warmup, every and period"});
  table.add("schedule.warmup", schedule.warmup,
            {.meaning = "length of the linear rise at the start; one_cycle has its own",
             .unit = unit,
             .min = 0});
  table.add("schedule.min_lr", schedule.min_lr,
            {.meaning = "the rate that decaying kinds end at; one_cycle has its own", .min = 0});
  for (const ScheduleKind& kind : schedule_kinds())
    for (const ScheduleParameter& parameter : kind.parameters) {
      double& value = schedule.parameters[parameter.name];
      value = parameter.standard;
      table.add(std::string("schedule.") + parameter.name, value,
                {.meaning = parameter.meaning,
                 .unit = parameter.is_length ? unit : "",
                 .min = parameter.min,
                 .max = parameter.max});
    }
}

void add_stop_and_data(TrainOptions& o) {
  OptionTable& table = o.table;
  table.add("stop.steps", o.stop.steps,
            {.meaning = "length of the run; 0: stop.epochs decides", .unit = "steps", .min = 0});
  table.add("stop.epochs", o.stop.epochs,
            {.meaning = "length of the run in passes over the data; 0: stop.steps decides; with "
                        "both the smaller counts",
             .unit = "epochs",
             .min = 0});
  table.add("stop.patience", o.stop.patience,
            {.meaning = "end early after so many evaluations in a row without a better "
                        "checkpoint.best_metric; 0: never",
             .unit = "evaluations",
             .min = 0});
  table.add("stop.patience_epochs", o.stop.patience_epochs,
            {.meaning = "end early at an evaluation so many epochs or more after the best one; 0: "
                        "never",
             .unit = "epochs",
             .min = 0});
  table.add(
      "stop.after", o.stop.after,
      {.meaning = "save and stop this long after this start, resumable; 0s: never", .unit = "s"});
  table.add(
      "stop.budget", o.stop.budget,
      {.meaning = "save and stop once all starts of the run together took this long; 0s: never",
       .unit = "s"});
  table.add("stop.reserve", o.stop.reserve,
            {.meaning = "time of stop.after and stop.budget that is kept for work after training, "
                        "which stops that much earlier; if not set, --then predict keeps the time "
                        "that it took the last time, or else for items a tenth, at most 1h, or "
                        "more once an evaluation shows that it needs more",
             .unit = "s"});
  table.add(
      "stop.hang_after", o.stop.hang_after,
      {.meaning = "a rank that shows no sign of life for this long counts as hanging, and the run "
                  "fails with its name; 0s: no limit",
       .unit = "s"});
  table.add("stop.grace", o.stop.grace,
            {.meaning = "how long ranks may take to stop and save after a signal before they are "
                        "killed; 0s: a minute, or five times the sum of the run's longest step, "
                        "evaluation and save if that is more",
             .unit = "s"});
  table.add("check.weights_every", o.check.weights_every,
            {.meaning = "compare the weights of all devices every so many steps; a difference ends "
                        "the run with a message that names device and tensor; 0: never",
             .unit = "steps",
             .min = 0});
  table.add("check.contract", o.check.contract,
            {.meaning = "before the first step of a new run, try the loss, its weights, evaluation "
                        "and metrics of a recipe in a plugin on a few samples, as lockstep check "
                        "does"});
  table.add("data.threads", o.data.threads,
            {.meaning = "threads that load data for one device; -1: found by measurement, in "
                        "validation one per core",
             .unit = "threads",
             .min = -1,
             .max = 1024});
  table.add("data.prefetch", o.data.prefetch,
            {.meaning = "how far loading may run ahead of training",
             .unit = "steps",
             .min = 1,
             .max = 1024});
  table.add("data.shuffle", o.data.shuffle,
            {.meaning = "a new order of samples each epoch, fixed by seed and epoch"});
  table.add("data.drop_last", o.data.drop_last,
            {.meaning = "leave out the last step of each epoch where it would be padded"});
  table.add("data.group_by_length", o.data.group_by_length,
            {.meaning = "samples of similar length are in the same step, and steps are shuffled if "
                        "data.shuffle is on; for data that give their lengths"});
}

void add_checkpoint(TrainOptions& o) {
  OptionTable& table = o.table;
  auto& checkpoint = o.checkpoint;
  table.add("checkpoint.every_steps", checkpoint.every_steps,
            {.meaning = "save each so many steps; 0: only by time and at the end",
             .unit = "steps",
             .min = 0});
  table.add("checkpoint.every_epochs", checkpoint.every_epochs,
            {.meaning = "save each so many epochs, at the first step that completes them; 0: no",
             .unit = "epochs",
             .min = 0});
  table.add("checkpoint.every", checkpoint.every,
            {.meaning = "save each such time; 0s: only by steps and at the end", .unit = "s"});
  table.add(
      "checkpoint.keep", checkpoint.keep,
      {.meaning = "how many of the newest checkpoints stay", .unit = "checkpoints", .min = 1});
  table.add("checkpoint.keep_every", checkpoint.keep_every,
            {.meaning = "besides the newest, keep one for each such time; 0s: none", .unit = "s"});
  table.add("checkpoint.keep_best", checkpoint.keep_best,
            {.meaning = "keep the best by checkpoint.best_metric too"});
  table.add("checkpoint.best_metric", checkpoint.best_metric,
            {.meaning = "validation metric that names the best; empty: the recipe's first"});
}

void add_eval_run_and_log(TrainOptions& o) {
  OptionTable& table = o.table;
  table.add(
      "eval.every_steps", o.eval.every_steps,
      {.meaning = "validate each so many steps; 0: only at the end", .unit = "steps", .min = 0});
  table.add(
      "eval.every_epochs", o.eval.every_epochs,
      {.meaning = "validate each so many epochs, at the first step that completes them; 0: no",
       .unit = "epochs",
       .min = 0});
  table.add(
      "eval.batch", o.eval.batch,
      {.meaning = "samples that one device validates at once (rows, where a sample has several); "
                  "0: batch.micro",
       .unit = "samples",
       .min = 0});
  table.add("eval.at_start", o.eval.at_start, {.meaning = "validate before the first step too"});
  table.add("eval.keep", o.eval.keep,
            {.meaning = "how many of the newest evaluations keep their table of items and their "
                        "pictures, besides the best one; 0: none are written",
             .unit = "evaluations",
             .min = 0});
  table.add(
      "eval.table_rows", o.eval.table_rows,
      {.meaning = "how many rows a table of an evaluation keeps at most while training, from the "
                  "first on",
       .unit = "rows",
       .min = 1});
  table.add("eval.pictures", o.eval.pictures,
            {.meaning = "how many pictures an evaluation keeps at most, in the order of their "
                        "samples",
             .unit = "pictures",
             .min = 0});
  table.add("run.root", o.run.root, {.meaning = "folder that holds the run directories"});
  table.add("run.cache", o.run.cache,
            {.meaning = "folder for prepared data, such as one on another disk; empty: .cache in "
                        "run.root",
             .is_path = true});
  table.add(
      "run.tags", o.run.tags,
      {.meaning = "words to find the run by: `lockstep runs --tag`, `lockstep compare --tag`"});
  table.add("run.note", o.run.note, {.meaning = "what the run is for, in your own words"});
  table.add("run.record_samples", o.run.record_samples,
            {.meaning = "write the indices of each step's samples into the run directory"});
  table.add("log.every_steps", o.log.every_steps,
            {.meaning = "a line in events.jsonl each so many steps", .unit = "steps", .min = 1});
  table.add("log.limit_mb", o.log.limit_mb,
            {.meaning = "size of a rank's log beyond which only its beginning and its newest part "
                        "are kept; 0: no limit",
             .unit = "MiB",
             .min = 0,
             .max = 1 << 20});
  table.add("log.gpu_every", o.log.gpu_every,
            {.meaning = "how often the activity of each GPU of the run is written into gpu.csv; "
                        "0s: never",
             .unit = "s",
             .min = 0,
             .max = 86400});
  table.add(
      "log.tensorboard", o.log.tensorboard,
      {.meaning = "also write losses, metrics and speed into tensorboard/ of the run directory, "
                  "as TensorBoard reads them"});
  table.add("profile.first_step", o.profile.first_step,
            {.meaning = "write a trace of some steps from this one on into the run directory "
                        "(profile/rankN.json, for Perfetto); 0: none",
             .min = 0});
  table.add("profile.steps", o.profile.steps,
            {.meaning = "how many steps the trace holds", .unit = "steps", .min = 1, .max = 1000});
}

}  // namespace

TrainOptions::TrainOptions() {
  add_general(*this);
  add_batch(*this);
  add_optimizer(*this);
  add_parameters(*this);
  add_ema(*this);
  add_schedule(*this);
  add_stop_and_data(*this);
  add_checkpoint(*this);
  add_eval_run_and_log(*this);
  table.add_synonyms(engine_synonyms());
}

}  // namespace lockstep
