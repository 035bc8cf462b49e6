#include "jobs/job_activity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "jobs/batch_shares.h"
#include "jobs/ledger.h"
#include "media/csv_table.h"

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

}  // namespace

BatchActivity::BatchActivity(const BatchFolder& batch) {
  read_attempts(batch);
  for (const BatchFolder& part : parts_of(batch)) read_samples(part);
}

void BatchActivity::read_attempts(const BatchFolder& batch) {
  Ledger ledger = ledger_to_read(batch);
  Statement rows(ledger.database(),
                 "SELECT job.name, devices, started, ended, cpu_s, cpus FROM attempt JOIN job ON "
                 "job.id = job WHERE started > 0 AND ended > started");
  while (rows.step()) {
    Attempt attempt{.begin = rows.number(2),
                    .end = rows.number(3),
                    .cpu_s = rows.number(4),
                    .cpus = std::max(1.0, rows.number(5))};
    const nlohmann::json devices = parse_json(rows.text(1));
    if (devices.is_array()) attempt.devices = devices.get<std::vector<std::string>>();
    attempts_.emplace(rows.text(0), std::move(attempt));
  }
}

void BatchActivity::read_samples(const BatchFolder& part) {
  std::error_code ignored;
  if (!std::filesystem::exists(part.gpu_log(), ignored)) return;
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
  std::map<std::string, std::vector<const Attempt*>> by_device;
  for (const std::string& job : jobs) {
    const auto [begin, end] = attempts_.equal_range(job);
    for (auto one = begin; one != end; ++one) {
      cpu_s += one->second.cpu_s;
      core_s += (one->second.end - one->second.begin) * one->second.cpus;
      for (const std::string& device : one->second.devices)
        by_device[device].push_back(&one->second);
    }
  }
  if (cpu_s > 0 && core_s > 0) activity.cpu_percent = 100 * cpu_s / core_s;
  activity.on_devices = !by_device.empty();
  Mean busy, sm;
  for (const auto& [device, attempts] : by_device) {
    const auto samples = samples_.find(device);
    if (samples == samples_.end()) continue;
    for (const Sample& sample : samples->second) {
      const bool ran = std::any_of(attempts.begin(), attempts.end(), [&](const Attempt* one) {
        return sample.at >= one->begin && sample.at <= one->end;
      });
      if (!ran) continue;
      busy.add(sample.busy);
      sm.add(sample.sm);
    }
  }
  activity.gpu_percent = busy.value();
  activity.sm_percent = sm.value();
  return activity;
}

}  // namespace lockstep
