// Run folders as a training leaves them, made by hand: for what reads runs alone.
#pragma once

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/run/events/events.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep::testing {

struct WrittenRun {
  std::string name = "a";
  std::int64_t steps = 100, eval_every = 20;
  double step_s = 0.1, first_step_s = 2;
  double best_loss = 1.5;  // validation falls to it
  std::int64_t global = 32, train_samples = 3200, seed = 1;
  int devices = 1;
  std::string device = "NVIDIA H200", precision = "bf16", cpu = "Some CPU 9000", data = "d0";
  double lr = 1e-3, flops_per_sample = 1e9, peak_flops = 1e15, memory_bytes = 1e9;
  std::vector<std::string> tags{};
  nlohmann::json more = nlohmann::json::object();  // merged into run.json
  double started = 1'000'000;
  bool ends = true;
};

inline nlohmann::json record_of(const WrittenRun& made) {
  nlohmann::json devices = nlohmann::json::array();
  for (int i = 0; i < made.devices; ++i)
    devices.push_back({{"kind", "cuda"},
                       {"name", made.device},
                       {"uuid", "GPU-" + std::to_string(i)},
                       {"index", i}});
  const std::int64_t per_epoch = (made.train_samples + made.global - 1) / made.global;
  nlohmann::json record = {
      {"recipe", "toy"},
      {"plugin", ""},
      {"config",
       {{"seed", made.seed},
        {"precision", made.precision},
        {"optimizer.lr", made.lr},
        {"batch.global", made.global},
        {"stop.steps", made.steps},
        {"data.path", "/data/" + made.name},
        {"run.tags", made.tags},
        {"model.width", 64}}},
      {"facts",
       {{"train_samples", made.train_samples}, {"unit", "tokens"}, {"units_per_sample", 16}}},
      {"plan",
       {{"batch",
         {{"world_size", made.devices},
          {"micro", made.global / made.devices},
          {"accumulation", 1},
          {"global", made.global}}},
        {"precision", {{"type", made.precision}, {"tf32", false}}},
        {"steps_per_epoch", per_epoch},
        {"total_steps", made.steps},
        {"train_samples", made.train_samples},
        {"valid_samples", 100},
        {"unit", "tokens"},
        {"recomputed_blocks", 0},
        {"parameters", {{"trained", 1'000'000}, {"frozen", 0}}},
        {"compute",
         {{"flops_per_step", made.flops_per_sample * static_cast<double>(made.global)},
          {"peak_flops", made.peak_flops * made.devices}}}}},
      {"devices", devices},
      {"starts", {{{"time", made.started}, {"devices", devices}, {"resumed", false}}}},
      {"started", made.started},
      {"lockstep", "0.1.0"},
      {"torch", "2.11.0"},
      {"driver", "580.1"},
      {"host", "box"},
      {"cpu", made.cpu},
      {"cores", 16},
      {"data_hash", made.data},
      {"git", {{"commit", std::string(40, 'c')}, {"branch", "main"}, {"dirty", false}}}};
  record.update(made.more);
  return record;
}

inline double made_loss(const WrittenRun& made, std::int64_t step) {
  return made.best_loss + 2 * (1 - static_cast<double>(step) /
                                       static_cast<double>(std::max<std::int64_t>(made.steps, 1)));
}

inline void train_made(const WrittenRun& made, const RunDir& run) {
  EventWriter writer(run.events_path());
  double now = made.started + 5;
  writer.write({{"kind", "start"},
                {"step", 0},
                {"time", now},
                {"unit", "tokens"},
                {"micro", made.global / made.devices},
                {"total_steps", made.steps}});
  for (std::int64_t step = 1; step <= made.steps; ++step) {
    const double step_s = step == 1 ? made.first_step_s : made.step_s;
    now += step_s;
    nlohmann::json memory = nlohmann::json::array();
    for (int i = 0; i < made.devices; ++i)
      memory.push_back({{"allocated", 1}, {"reserved", 2}, {"peak", made.memory_bytes}});
    writer.write({{"kind", "step"},
                  {"step", step},
                  {"time", now},
                  {"step_s", step_s},
                  {"loss", made_loss(made, step) + 0.1},
                  {"data_share", 0.01},
                  {"wait_share", 0.02},
                  {"units_per_s", 5000},
                  {"memory", memory}});
    if (step == 1) writer.write({{"kind", "startup"}, {"step", 1}, {"time", now}, {"seconds", 7}});
    if (made.eval_every > 0 && step % made.eval_every == 0)
      writer.write({{"kind", "eval"},
                    {"step", step},
                    {"time", now},
                    {"best", true},
                    {"metrics", {{"loss", made_loss(made, step)}, {"accuracy", 0.5}}},
                    {"units", {{"loss", "nats/token"}, {"accuracy", ""}}}});
  }
  if (made.ends)
    writer.write(
        {{"kind", "end"}, {"step", made.steps}, {"time", now}, {"seconds", now - made.started}});
}

inline RunDir make_run(const std::filesystem::path& root, const WrittenRun& made) {
  RunDir run = RunDir::create(root, made.name, "toy", [&](RunDir& fresh) {
    fresh.write_record(record_of(made));
    if (made.ends) fresh.write_state(RunState::finished, "");
  });
  train_made(made, run);
  return run;
}

// Samples of two seconds apart over the run, one device each line.
struct MadeGpu {
  int index = 0;
  double busy = 90, sm = 80, power_w = 500, clock_mhz = 1900;
  std::string throttled = "none";
  int others = 0;
};

inline std::string gpu_csv(double begin, double end, const std::vector<MadeGpu>& gpus) {
  std::string text =
      "time,gpu,uuid,busy_percent,sm_active_percent,memory_used_bytes,power_w,power_limit_w,"
      "sm_clock_mhz,throttled_by,other_processes,other_memory_bytes\n";
  for (double time = begin; time <= end; time += 1)
    for (const MadeGpu& gpu : gpus)
      text += std::to_string(time) + "," + std::to_string(gpu.index) + ",GPU-" +
              std::to_string(gpu.index) + "," + std::to_string(gpu.busy) + "," +
              std::to_string(gpu.sm) + ",1000000000," + std::to_string(gpu.power_w) + ",700," +
              std::to_string(gpu.clock_mhz) + "," + gpu.throttled + "," +
              std::to_string(gpu.others) + ",0\n";
  return text;
}

}  // namespace lockstep::testing
