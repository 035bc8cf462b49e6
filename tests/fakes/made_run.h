// Run directories made by hand, as training leaves them.
#pragma once

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace lockstep::testing {

// A run of `steps` logged steps of 0.1 s each, whose loss of step s is 4 / s; an evaluation every
// 10 steps with the loss 5 / s and the rate "accuracy" s / steps.
struct MadeRun {
  std::filesystem::path path;
  double time = 1'000'000;

  explicit MadeRun(std::filesystem::path folder) : path(std::move(folder)) {
    std::filesystem::create_directories(path);
  }

  void record(const nlohmann::json& more = nlohmann::json::object()) const {
    nlohmann::json record{
        {"recipe", "textgen"},
        {"config", {{"optimizer.lr", 0.5}, {"batch.global", 12}, {"seed", 7}}},
        {"plan",
         {{"batch", {{"global", 12}, {"world_size", 2}, {"micro", 3}, {"accumulation", 2}}},
          {"precision", {{"type", "fp32"}, {"tf32", false}}},
          {"total_steps", 40},
          {"parameters", {{"trained", 1234}, {"frozen", 5}}}}},
        {"devices", {{{"kind", "cpu"}, {"name", "Some CPU"}}}},
        {"lockstep", "0.1.0"},
        {"host", "here"},
        {"started", 1'000'000}};
    record.update(more);
    write_file_atomic(path / "run.json", record.dump());
  }
  void state(const std::string& word, const std::string& why = "") const {
    write_file_atomic(path / "state.json",
                      nlohmann::json{{"state", word}, {"why", why}, {"time", time}}.dump());
  }
  void event(nlohmann::json event) {
    if (!event.contains("time")) event["time"] = time;
    std::ofstream(path / "events.jsonl", std::ios::app) << to_line(event) << '\n';
  }
  void start(int step) {
    event({{"kind", "start"},
           {"step", step},
           {"total_steps", 40},
           {"unit", "tokens"},
           {"units_per_step", 120},
           {"ranks", 2},
           {"micro", 3}});
  }
  void step(int number, double loss) {
    time += 0.1;
    event({{"kind", "step"},
           {"step", number},
           {"epoch", number / 20.0},
           {"loss", loss},
           {"lr", 0.5},
           {"grad_norm", 1.5},
           {"step_s", 0.1},
           {"units_per_s", 1200},
           {"mfu", nullptr},
           {"data_share", 0.25},
           {"wait_share", 0.0},
           {"save_share", 0.0},
           {"compute_share", 0.75},
           {"logged", {{"accuracy", 0.5}}},
           {"memory", {{{"peak", 100}}, {{"peak", 300}}}}});
  }
  void evaluation(int number, double loss, double accuracy, bool best) {
    time += 0.5;
    event({{"kind", "eval"},
           {"step", number},
           {"metrics", {{"loss", loss}, {"accuracy", accuracy}}},
           {"units", {{"loss", "nats/token"}, {"accuracy", ""}}},
           {"best", best},
           {"seconds", 0.5}});
  }
  // From the step after `first` to `last`.
  void steps(int first, int last) {
    for (int s = first + 1; s <= last; ++s) {
      step(s, 4.0 / s);
      if (s % 10 == 0) evaluation(s, 5.0 / s, s / 40.0, true);
    }
  }
  void end(int step) {
    event({{"kind", "end"},
           {"step", step},
           {"seconds", 10},
           {"unit", "tokens"},
           {"units_per_s", 1100}});
  }
  // Whole and finished.
  static MadeRun finished(const std::filesystem::path& folder) {
    MadeRun run(folder);
    run.record();
    run.start(0);
    run.steps(0, 40);
    run.end(40);
    run.state("finished");
    return run;
  }
};

}  // namespace lockstep::testing
