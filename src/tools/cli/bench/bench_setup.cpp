// Turns a command line into the plan of the measurements.
#include "tools/cli/bench/bench_setup.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/cpu_ranks.h"
#include "core/devices/device_counts.h"
#include "planning/batch/micro_batch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"

namespace lockstep::cli {
namespace {

std::int64_t whole_flag(const Parsed& parsed, const char* flag, std::int64_t otherwise,
                        std::int64_t least) {
  if (!parsed.has(flag)) return otherwise;
  const std::string text = parsed.value(flag);
  const auto count = whole_number<std::int64_t>(text, least, 1'000'000);
  if (!count)
    throw Error(
        cat(flag, " must be a whole number from ", least, " to 1000000, but is \"", text, "\""),
        cat("for example ", flag, " ", otherwise));
  return *count;
}

Scaling scaling_of(const Parsed& parsed) {
  const std::string word = parsed.value("--scaling", "strong");
  if (word == "strong") return Scaling::strong;
  if (word == "weak") return Scaling::weak;
  throw Error(cat("--scaling must be strong or weak, but is \"", word, "\""),
              "strong keeps the global batch, weak a device's share of it");
}

// Chooses the numbers of devices, and the devices of the largest number. CPU ranks always get the
// cores that they have with the largest number. A device is therefore the same in every row.
void choose_devices(const Parsed& parsed, Bench& bench) {
  const std::string list = parsed.value("--devices");
  const std::vector<Device> all = devices_for(list.starts_with("cpu") ? "cpu" : "all");
  if (all[0].kind == DeviceKind::cuda) {
    bench.counts = device_counts(list, static_cast<int>(all.size()), "GPU");
    bench.devices.assign(all.begin(), all.begin() + bench.counts.back());
  } else {
    const std::string counts = list.starts_with("cpu:") ? list.substr(4)
                               : list == "cpu"          ? ""
                                                        : list;
    bench.counts = counts.empty() ? device_counts("", static_cast<int>(all.size()), "CPU rank")
                                  : device_counts(counts, most_cpu_ranks, "CPU rank", list);
    bench.devices = cpu_ranks(bench.counts.back(), host_info());
  }
  check_can_run(bench.devices);
}

std::vector<Device> first_of(const Bench& bench, int count) {
  return {bench.devices.begin(), bench.devices.begin() + count};
}

}  // namespace

void only_train(TrainOptions& train, std::int64_t steps) {
  train.stop = {.steps = steps};
  train.eval = {};
  train.run.record_samples = false;
  train.log.every_steps = 1;
  train.profile.first_step = 0;
}

void plan_for(Bench& bench, int count, const ScalingBatch& batch) {
  TrainOptions& train = *bench.setup.train;
  train.batch = {.global = batch.global, .micro = batch.micro, .accumulation = batch.accumulation};
  plan_run(bench.setup, first_of(bench, count));
  bench.setup.plan.valid_samples = 0;  // nothing is evaluated, so no time is reserved for it
}

std::vector<ScalingBatch> choose_batches(Bench& bench) {
  plan_run(bench.setup, first_of(bench, bench.counts.front()));
  const BatchPlan smallest = bench.setup.plan.batch;
  std::vector<ScalingBatch> batches;
  for (const int count : bench.counts)
    batches.push_back(
        scaling_batch(bench.scaling, bench.counts, count, smallest, *bench.setup.train));
  // the size is fixed from here on
  bench.setup.train->table.set("batch.global", cat(batches.front().global));
  for (std::size_t i = 0; i < batches.size(); ++i) {
    plan_for(bench, bench.counts[i], batches[i]);
    check_new_batch(bench.setup.plan, *bench.setup.train, names_data(bench.setup.options->table));
  }
  return batches;
}

Bench bench_setup(const Parsed& parsed) {
  Bench bench;
  bench.scaling = scaling_of(parsed);
  bench.steps = whole_flag(parsed, "--steps", 30, 1);
  bench.warm_up = whole_flag(parsed, "--warm-up", 10, 0);
  bench.repeats = whole_flag(parsed, "--repeats", 3, 1);
  bench.keep = parsed.has("--keep");
  choose_devices(parsed, bench);
  // The batch for each number of devices follows from the batch of the smallest number.
  bench.setup = resolve_options(
      parsed.positionals[0], parsed.value("--plugin"), parsed.all("--config"), parsed.assignments,
      first_of(bench, bench.counts.front()), {}, flags_here(bench_command(), parsed));
  only_train(*bench.setup.train, bench.warm_up + bench.steps);
  prepare(bench.setup, Purpose::plan, bench.devices, {});
  return bench;
}

}  // namespace lockstep::cli
