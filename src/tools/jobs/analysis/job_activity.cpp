#include "tools/jobs/analysis/job_activity.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/json/json.h"
#include "core/media/csv_table.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/files/batch_files.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {
namespace {

struct Mean {
  double sum = 0;
  std::int64_t count = 0;

  void add(const std::optional<double>& value) {
    if (!value) return;
    sum += *value;
    ++count;
  }
  std::optional<double> value() const {
    if (count == 0) return std::nullopt;
    return sum / static_cast<double>(count);
  }
};

// Times in which something ran, as pairs of begin and end.
using RanTimes = std::vector<std::pair<double, double>>;

// Sorts the times and merges overlapping ones. There may be a million jobs and as many samples, and
// each sample is searched in these times.
void join_overlaps(RanTimes& times) {
  std::sort(times.begin(), times.end());
  std::size_t kept = 0;
  for (const auto& one : times)
    if (kept > 0 && one.first <= times[kept - 1].second)
      times[kept - 1].second = std::max(times[kept - 1].second, one.second);
    else
      times[kept++] = one;
  times.resize(kept);
}

bool ran_at(const RanTimes& joined, double time) {
  const auto next = std::upper_bound(joined.begin(), joined.end(), time,
                                     [](double at, const auto& one) { return at < one.first; });
  return next != joined.begin() && time <= std::prev(next)->second;
}

}  // namespace

std::int64_t cores_of_machine(Ledger& ledger) {
  const nlohmann::json machine = parse_json(ledger.fact("machine"));
  return machine.is_object() ? integer_or(machine, "cores", 0) : 0;
}

void CoreShares::add(double begin, double end, double cpus) {
  changes_.emplace_back(begin, cpus);
  changes_.emplace_back(end, -cpus);
}

void CoreShares::sum_up() {
  std::sort(changes_.begin(), changes_.end());
  double asked = 0;
  for (const auto& [time, cpus] : changes_) {
    sums_.push_back(times_.empty() ? 0 : sums_.back() + (time - times_.back()) * rates_.back());
    times_.push_back(time);
    asked += cpus;
    rates_.push_back(cores_ > 0 && asked > cores_ ? cores_ / asked : 1);
  }
}

double CoreShares::until(double time) const {
  const auto next = std::upper_bound(times_.begin(), times_.end(), time);
  if (next == times_.begin()) return 0;
  const auto last = static_cast<std::size_t>(next - times_.begin()) - 1;
  return sums_[last] + (time - times_[last]) * rates_[last];
}

double CoreShares::seconds(double begin, double end) {
  if (times_.empty()) sum_up();
  return until(end) - until(begin);
}

BatchActivity::BatchActivity(const BatchFolder& batch) {
  read_attempts(batch);
  for (const BatchFolder& part : parts_of(batch)) read_samples(part);
}

void BatchActivity::read_attempts(const BatchFolder& batch) {
  Ledger ledger = ledger_to_read(batch);
  Statement rows(ledger.database(),
                 "SELECT job.name, devices, started, ended, cpu_s, cpus FROM attempt JOIN job ON "
                 "job.id = job WHERE started > 0 AND ended > started");
  DeviceLists lists;
  CoreShares shares(parts_of(batch).size() == 1 ? static_cast<double>(cores_of_machine(ledger))
                                                : 0);
  while (rows.step()) {
    Attempt attempt{.devices = lists.of(rows.text(1)),
                    .begin = rows.number(2),
                    .end = rows.number(3),
                    .cpu_s = rows.number(4),
                    .cpus = std::max(1.0, rows.number(5))};
    shares.add(attempt.begin, attempt.end, attempt.cpus);
    attempts_.emplace(rows.text(0), std::move(attempt));
  }
  for (auto& [name, attempt] : attempts_)
    attempt.core_s = attempt.cpus * shares.seconds(attempt.begin, attempt.end);
}

void BatchActivity::read_samples(const BatchFolder& part) {
  if (!open_in_batch(part, BatchFolder{}.gpu_log())) return;
  const CsvTable table = read_csv(part.gpu_log());
  const auto has = [&](const char* name) {
    return std::find(table.columns.begin(), table.columns.end(), name) != table.columns.end();
  };
  const std::size_t time = table.column("time"), uuid = table.column("uuid");
  const auto value = [&](std::size_t row, const char* name) {
    return has(name) ? table.number(row, table.column(name)) : std::nullopt;
  };
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    samples_[table.rows[row][uuid]].push_back({table.number(row, time).value_or(0),
                                               value(row, "busy_percent"),
                                               value(row, "sm_active_percent")});
}

JobActivity BatchActivity::of(const std::set<std::string>& jobs) const {
  JobActivity activity;
  double cpu_s = 0, core_s = 0;
  std::map<std::string, RanTimes> by_device;
  for (const std::string& job : jobs) {
    const auto [begin, end] = attempts_.equal_range(job);
    for (auto one = begin; one != end; ++one) {
      cpu_s += one->second.cpu_s;
      core_s += one->second.core_s;
      for (const std::string& device : *one->second.devices)
        by_device[device].emplace_back(one->second.begin, one->second.end);
    }
  }
  if (cpu_s > 0 && core_s > 0) activity.cpu_percent = 100 * cpu_s / core_s;
  activity.on_devices = !by_device.empty();
  Mean busy, sm;
  for (auto& [device, times] : by_device) {
    join_overlaps(times);
    const auto samples = samples_.find(device);
    if (samples == samples_.end()) continue;
    for (const Sample& sample : samples->second) {
      if (!ran_at(times, sample.at)) continue;
      busy.add(sample.busy);
      sm.add(sample.sm);
    }
  }
  activity.gpu_percent = busy.value();
  activity.sm_percent = sm.value();
  return activity;
}

}  // namespace lockstep
