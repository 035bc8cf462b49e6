#include "tools/jobs/schedule/packing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr double usable = 0.95;                        // share of a device's memory
constexpr double margin = 0.1;                         // share of a job's peak memory
constexpr std::int64_t least_margin = 256 * mebibyte;  // minimum of this margin
constexpr double full_percent = 95;  // activity that the first jobs together must not exceed
constexpr double gain = 0.97;        // more jobs must reach this share of the device's time per job
constexpr int first_of_known = 4;    // jobs on a device at first if their memory was given
// Share of a job. A device was full if the mean number of jobs was short by at most this.
constexpr double nearly = 0.25;

std::string gibibytes(std::int64_t bytes) {
  return cat(fixed(static_cast<double>(bytes) / 0x1p30, 2), " GiB");
}

std::string rate(double cost_s) {
  const double a_minute = 60 / cost_s;
  return cat(a_minute >= 100 ? fixed(a_minute, 0) : general(a_minute, 3), " a minute");
}

std::string at_once(int jobs) { return jobs == 1 ? "1 job" : cat(jobs, " jobs"); }

}  // namespace

Packing::Packing(std::int64_t device_bytes, std::int64_t known_bytes)
    : device_bytes_(device_bytes), peak_bytes_(known_bytes), most_(most_per_device) {
  if (known_bytes > 0) limit_ = std::min(fits(), first_of_known);
}

int Packing::fits() const {
  if (device_bytes_ <= 0 || peak_bytes_ <= 0) return 1;
  const auto peak = static_cast<double>(peak_bytes_);
  const double each = peak + std::max(peak * margin, static_cast<double>(least_margin));
  const double count = std::floor(usable * static_cast<double>(device_bytes_) / each);
  return static_cast<int>(std::clamp(count, 1.0, static_cast<double>(most_per_device)));
}

bool Packing::set(int limit, std::string why) {
  const bool changed = limit != limit_;
  limit_ = limit;
  cost_sum_s_ = 0;
  costs_ = 0;
  if (changed) why_ = cat(at_once(limit), " per device from here on: ", why);
  return changed;
}

bool Packing::saw(std::int64_t peak_bytes, std::optional<double> activity_percent) {
  const bool first = peak_bytes_ == 0;
  if (peak_bytes <= peak_bytes_) return false;
  peak_bytes_ = peak_bytes;
  const int fit = std::min(fits(), most_);
  best_ = std::min(best_, fit);
  if (!first)
    return limit_ > fit && set(fit, cat("one needed ", gibibytes(peak_bytes), " of memory"));
  int start = std::min(fit, 2);
  std::string active;
  if (activity_percent) {
    const double one = std::max(*activity_percent, 1.0);
    start = static_cast<int>(std::clamp(std::floor(full_percent / one), 1.0, fit + 0.0));
    active = cat(" and keeps the GPU active for ", fixed(*activity_percent, 0), " % of the time");
  }
  if (start == 1 && fit > 1 && best_cost_s_ > 0) start = 2;  // two jobs are tried in any case
  return set(start, cat("one job needs ", gibibytes(peak_bytes), " of memory", active, "; ", fit,
                        " would fit into the memory"));
}

bool Packing::ended(const PackedAttempt& attempt) {
  if (attempt.limit != limit_ || attempt.together < limit_ - nearly) return false;
  cost_sum_s_ += attempt.duration_s / std::max(attempt.together, 1.0);
  ++costs_;
  // The first decision needs one measurement with a single job. Later decisions take the mean of
  // twice as many as there are jobs on a device.
  if (settled_ || costs_ < (limit_ == 1 ? 1 : 2 * limit_)) return false;
  const double cost = cost_sum_s_ / costs_;
  if (best_cost_s_ == 0 || cost < gain * best_cost_s_) {
    const double before = best_cost_s_;
    best_ = limit_;
    best_cost_s_ = cost;
    const int fit = std::min(fits(), most_);
    if (!measured() || limit_ >= fit) {
      settled_ = measured();
      return false;
    }
    const int more = std::min(fit, std::max(limit_ + 1, limit_ * 3 / 2));
    return set(more, cat("with ", limit_, " it does ", rate(cost),
                         before > 0 ? cat(" (", rate(before), " before)") : std::string(),
                         ", and more are tried"));
  }
  settled_ = true;
  return set(best_, cat("with ", limit_, " it does ", rate(cost), ", with ", best_, " ",
                        rate(best_cost_s_)));
}

bool Packing::out_of_memory() {
  most_ = std::max(1, limit_ - 1);
  settled_ = true;
  if (best_ > most_) best_ = most_;
  return limit_ > most_ && set(most_, "memory ran out");
}

std::string Packing::text() const {
  return nlohmann::json{{"peak_bytes", peak_bytes_},   {"limit", limit_}, {"best", best_},
                        {"best_cost_s", best_cost_s_}, {"most", most_},   {"settled", settled_}}
      .dump();
}

void Packing::restore(const std::string& text) try {
  const nlohmann::json value = parse_object(text);
  if (value.is_discarded()) return;
  peak_bytes_ = std::max(peak_bytes_, value.value("peak_bytes", std::int64_t{0}));
  most_ = std::clamp(value.value("most", most_per_device), 1, most_per_device);
  // If devices have less memory than before, fewer jobs fit.
  const int fit = std::min(fits(), most_);
  limit_ = std::clamp(value.value("limit", 1), 1, fit);
  best_ = std::clamp(value.value("best", 1), 1, fit);
  best_cost_s_ = std::max(0.0, value.value("best_cost_s", 0.0));
  settled_ = value.value("settled", false);
} catch (const nlohmann::json::exception&) {
  *this = Packing(device_bytes_);
}

bool CpuOrGpu::wants_trial(Choice where) const {
  return choice_ == Choice::unknown && !of(where).runs && !of(where).over;
}

void CpuOrGpu::trial_begins(Choice where) { of(where).runs = true; }

bool CpuOrGpu::trial_ended(Choice where, bool succeeded, double duration_s, int at_once) {
  if (choice_ != Choice::unknown) return false;
  of(where) = {.over = true, .works = succeeded, .duration_s = duration_s, .at_once = at_once};
  if (!cpu_.over || !gpu_.over) return false;
  if (!cpu_.works && !gpu_.works) {
    cpu_ = gpu_ = {};
    return false;
  }
  decide();
  return true;
}

void CpuOrGpu::decide() {
  const auto words = [](const Trial& trial, const char* where) {
    return trial.works
               ? cat(general(trial.duration_s, 3), " s on ", where, ", ", trial.at_once, " at once")
               : cat("it fails on ", where);
  };
  const double cpu_cost = cpu_.duration_s / cpu_.at_once, gpu_cost = gpu_.duration_s / gpu_.at_once;
  if (cpu_.works && gpu_.works)
    choice_ = cpu_cost <= gpu_cost ? Choice::cpu : Choice::gpu;
  else
    choice_ = cpu_.works ? Choice::cpu : Choice::gpu;
  why_ = cat("gpus = auto takes the ", choice_ == Choice::cpu ? "CPU" : "GPUs",
             " from here on: a job took ", words(cpu_, "the CPU"), ", and ", words(gpu_, "a GPU"));
}

std::string CpuOrGpu::text() const {
  return choice_ == Choice::unknown ? "" : choice_ == Choice::cpu ? "cpu" : "gpu";
}

void CpuOrGpu::restore(const std::string& text) {
  if (text == "cpu") choice_ = Choice::cpu;
  if (text == "gpu") choice_ = Choice::gpu;
}

}  // namespace lockstep
