#include "tools/cli/bench/measured_times.h"

#include "built_with.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/version.h"
#include "core/devices/cpu_model.h"
#include "planning/time_key.h"
#include "runtime/run/events/json_cache.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/plan/resolve.h"

#include <algorithm>
#include <array>
#include <numbers>

namespace lockstep::cli {
namespace {

std::filesystem::path times_file(const RunSetup& setup) {
  return cache_dir(*setup.train) / "times.json";
}

std::filesystem::path predictions_file(const RunSetup& setup) {
  return cache_dir(*setup.train) / "predictions.json";
}

std::string hashed(nlohmann::json key) {
  key["built"] = {version(), LOCKSTEP_TORCH_VERSION};
  Hasher hasher;
  hasher.update(key.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return hasher.hex();
}

std::string key_of_training(const RunSetup& setup) {
  return hashed(training_time_key(setup, cpu_model()));
}

std::string key_of_start(const RunSetup& setup) {
  return hashed(start_time_key(setup, cpu_model()));
}

std::string key_of_prediction(const RunSetup& setup, const std::vector<Device>& devices,
                              double item_bytes) {
  return hashed(prediction_time_key(setup, devices, item_bytes, cpu_model()));
}

// The cached value, or null if there is none.
nlohmann::json cached(const std::filesystem::path& file, const std::string& key) try {
  const nlohmann::json cache = read_json_cache(file);
  const auto found = cache.find(key);
  return found != cache.end() && found->is_object() ? *found : nlohmann::json();
} catch (const std::exception&) {
  return nullptr;
}

double known_seconds(const nlohmann::json& object, const char* key) {
  return std::max(number_or(object, key, 0), 0.0);
}

nlohmann::json known_prediction(const RunSetup& setup, const std::vector<Device>& devices,
                                const ItemLoad& load) {
  // Keys round the size to a power of two. A size near a boundary may have a neighbouring key, so
  // these are tried too.
  constexpr std::array<double, 3> neighbours{1, std::numbers::sqrt2, 1 / std::numbers::sqrt2};
  for (const double factor : neighbours)
    if (nlohmann::json found = cached(predictions_file(setup),
                                      key_of_prediction(setup, devices, factor * load.item_bytes));
        !found.is_null())
      return found;
  return nullptr;
}

double item_s_of(const nlohmann::json& found, const ItemLoad& load) {
  const double item_s = known_seconds(found, "item_s"), bytes = number_or(found, "item_bytes", 0);
  return bytes > 0 ? item_s / bytes * load.item_bytes : item_s;
}

}  // namespace

std::optional<MeasuredTimes> known_times(const RunSetup& setup) {
  const nlohmann::json found = cached(times_file(setup), key_of_training(setup));
  const double step_s = known_seconds(found, "step_s");
  if (step_s == 0) return std::nullopt;
  return MeasuredTimes{
      .parts = {.start_s = known_seconds(found, "start_s"),
                .step_s = step_s,
                .evaluation_s = setup.plan.evaluation_passes * known_seconds(found, "pass_s"),
                .save_s = known_seconds(found, "save_s")},
      .source = is_true(found, "trial") ? TimeSource::trial : TimeSource::run,
      .run = text_or(found, "run", ""),
      .age_s = std::max(system_clock().wall_s() - number_or(found, "time", 0), 0.0),
      .fast_step_s = known_seconds(found, "fast_step_s"),
      .slow_step_s = known_seconds(found, "slow_step_s")};
}

void remember_times(const RunSetup& setup, const MeasuredTimes& times) try {
  const PartTimes& parts = times.parts;
  if (parts.step_s <= 0) return;
  const bool is_trial = times.source == TimeSource::trial;
  const std::string key = key_of_training(setup);
  const nlohmann::json before = cached(times_file(setup), key);
  if (is_trial && !before.is_null() && !is_true(before, "trial")) return;
  // Stored per pass, because the number of passes changes with the validation data and with its
  // tiles and flips.
  const double pass_s = parts.evaluation_s / std::max(setup.plan.evaluation_passes, 1.0);
  nlohmann::json value{{"run", times.run},       {"time", system_clock().wall_s()},
                       {"trial", is_trial},      {"start_s", parts.start_s},
                       {"step_s", parts.step_s}, {"pass_s", pass_s},
                       {"save_s", parts.save_s}};
  if (is_trial)
    value.update({{"fast_step_s", times.fast_step_s}, {"slow_step_s", times.slow_step_s}});
  // If this start evaluated or saved nothing, the earlier value is kept.
  for (const char* part : {"pass_s", "save_s"})
    if (known_seconds(value, part) == 0) value[part] = known_seconds(before, part);
  remember_in_cache(times_file(setup), key, std::move(value));
  if (parts.start_s > 0)
    remember_in_cache(times_file(setup), key_of_start(setup), {{"start_s", parts.start_s}});
} catch (const std::exception&) {
}

double known_start_s(const RunSetup& setup) {
  return known_seconds(cached(times_file(setup), key_of_start(setup)), "start_s");
}

std::optional<double> known_prediction_s(const RunSetup& setup, const std::vector<Device>& devices,
                                         const ItemLoad& load) {
  const nlohmann::json found = known_prediction(setup, devices, load);
  const double item_s = item_s_of(found, load);
  if (item_s == 0) return std::nullopt;
  return known_seconds(found, "start_s") + prediction_s(load.items, item_s, 1, std::ssize(devices));
}

double known_item_s(const RunSetup& setup, const std::vector<Device>& devices,
                    const ItemLoad& load) {
  return item_s_of(known_prediction(setup, devices, load), load);
}

PredictionTimer::PredictionTimer(const RunSetup& setup, const std::vector<Device>& devices,
                                 const ItemLoad& load)
    : file_(predictions_file(setup)),
      key_(key_of_prediction(setup, devices, load.item_bytes)),
      item_bytes_(load.item_bytes) {}

void PredictionTimer::begin(std::int64_t ranks) {
  ranks_ = ranks;
  begin_s_ = system_clock().now_s();
}

void PredictionTimer::on_items() {
  if (started_s_ == 0) started_s_ = system_clock().now_s();
}

void PredictionTimer::all_done(std::int64_t items) const try {
  if (started_s_ == 0 || items <= 0) return;
  const double rounds = static_cast<double>((items + ranks_ - 1) / ranks_);
  remember_in_cache(file_, key_,
                    {{"start_s", started_s_ - begin_s_},
                     {"item_s", (system_clock().now_s() - started_s_) / rounds},
                     {"item_bytes", item_bytes_}});
} catch (const std::exception&) {
}

}  // namespace lockstep::cli
