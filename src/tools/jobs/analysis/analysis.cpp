#include "tools/jobs/analysis/analysis.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/mean.h"
#include "core/base/text/text.h"
#include "core/media/charts/chart.h"
#include "core/media/csv_table.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/analysis/timeline_rows.h"
#include "tools/jobs/files/batch_files.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/process/job_environment.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

bool within(const std::vector<Stretch>& stretches, double time) {
  const auto after =
      std::upper_bound(stretches.begin(), stretches.end(), time,
                       [](double value, const Stretch& stretch) { return value < stretch.first; });
  return after != stretches.begin() && time <= std::prev(after)->second;
}

struct DeviceTimes {
  DeviceUse use;
  std::vector<Stretch> stretches;
  MeanOf busy, sm, power, outside;
};

void read_spans(const BatchFolder& batch, BatchAnalysis& analysis, double& origin) {
  Ledger ledger = Ledger::open_to_read(batch.ledger());
  Statement count(ledger.database(),
                  "SELECT count(*) FROM attempt WHERE started > 0 AND ended >= started");
  if (count.step()) analysis.spans.reserve(static_cast<std::size_t>(count.integer(0)));
  DeviceLists lists;
  Statement rows(ledger.database(),
                 "SELECT job.name, outcome, slot, devices, started, ended FROM attempt JOIN job ON "
                 "job.id = job WHERE started > 0 AND ended >= started");
  while (rows.step())
    analysis.spans.push_back({.job = rows.text(0),
                              .outcome = rows.text(1),
                              .slot = static_cast<int>(rows.integer(2)),
                              .devices = lists.of(rows.text(3)),
                              .begin = rows.number(4),
                              .end = rows.number(5)});
  analysis.running = running_time(ledger);
  if (analysis.spans.empty()) return;
  // Sorted here, because SQLite would copy all rows to sort them.
  std::stable_sort(analysis.spans.begin(), analysis.spans.end(),
                   [](const AttemptSpan& a, const AttemptSpan& b) { return a.begin < b.begin; });
  origin = analysis.spans.front().begin;
  for (AttemptSpan& span : analysis.spans) {
    span.begin -= origin;
    span.end -= origin;
    analysis.wall_s = std::max(analysis.wall_s, span.end);
    analysis.busy_slots += span.end - span.begin;
  }
  if (const double seconds = analysis.running.seconds(); seconds > 0)
    analysis.busy_slots /= seconds;
}

// Reads the samples of the GPUs. A sample per second stands for half a second before and after it.
void read_samples(const BatchFolder& batch, double origin,
                  std::map<std::string, DeviceTimes>& devices) {
  if (!open_in_batch(batch, BatchFolder{}.gpu_log())) return;
  const CsvTable table = read_csv(batch.gpu_log());
  const auto find = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    if (found == table.columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - table.columns.begin());
  };
  const std::size_t time = table.column("time"), gpu = table.column("gpu"),
                    uuid = table.column("uuid");
  const auto busy = find("busy_percent"), sm = find("sm_active_percent"), power = find("power_w");
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& name = table.rows[row][uuid];
    DeviceTimes& device = devices[name];
    device.use.uuid = name;
    if (const auto index = table.number(row, gpu)) device.use.index = static_cast<int>(*index);
    const double at = table.number(row, time).value_or(0) - origin;
    const auto value = [&](const std::optional<std::size_t>& column) {
      return column ? table.number(row, *column) : std::nullopt;
    };
    if (!within(device.stretches, at)) {
      device.outside.add(value(busy));
      continue;
    }
    ++device.use.samples;
    device.busy.add(value(busy));
    device.sm.add(value(sm));
    device.power.add(value(power));
  }
}

// The duration in a job's event, such as {"phase": "train", "seconds": 1.5}. The key may also be
// "duration_seconds". Without these keys, the duration is "end" minus "begin", in seconds. NaN if
// the line has none of them.
double seconds_of_phase(const nlohmann::json& event) {
  const double span = number_or(event, "end", NAN) - number_or(event, "begin", NAN);
  return number_or(event, "seconds", number_or(event, "duration_seconds", span));
}

// The events that a job wrote. Nothing if it wrote none, or if their path is a link.
std::optional<UniqueFd> open_events(const BatchFolder& batch, const std::string& job) try {
  return open_in_batch(batch, BatchFolder{}.published(job) / events_file);
} catch (const Error&) {
  return std::nullopt;
}

void read_phases(const BatchFolder& batch, BatchAnalysis& analysis) {
  std::map<std::string_view, double> done;  // the last time counts if a job ran again
  for (const AttemptSpan& span : analysis.spans)
    if (span.outcome == to_string(AttemptOutcome::done)) done[span.job] = span.end - span.begin;
  for (const auto& [job, job_s] : done) {
    const std::optional<UniqueFd> events = open_events(batch, std::string(job));
    if (!events) continue;
    bool any = false;
    for_each_line(cat("/proc/self/fd/", events->get()), [&](const std::string& line) {
      const nlohmann::json event = parse_object(line);
      if (event.is_discarded()) return;
      const std::string phase = text_or(event, "phase", "");
      const double seconds = seconds_of_phase(event);
      if (phase.empty() || !(seconds >= 0)) return;
      analysis.phases_s[phase] += seconds;
      any = true;
    });
    if (!any) continue;
    ++analysis.with_phases;
    analysis.with_phases_s += job_s;
  }
}

void read_idle(const BatchFolder& batch, std::map<std::string, DeviceTimes>& devices) {
  Ledger ledger = Ledger::open_to_read(batch.ledger());
  Statement rows(ledger.database(), "SELECT device, why, sum(end - begin) FROM idle GROUP BY 1, 2");
  while (rows.step()) {
    DeviceUse& use = devices[rows.text(0)].use;
    use.uuid = rows.text(0);
    use.idle_s[rows.text(1)] += rows.number(2);
  }
}

std::string idle_text(const DeviceUse& use) {
  std::string text;
  for (const auto& [why, seconds] : use.idle_s)
    text += cat("  no job on it for ", fixed(seconds, 1), " s: ", printable(why), "\n");
  return text;
}

// How the time of all jobs is distributed over the devices.
std::string balance_text(const BatchAnalysis& analysis) {
  double all = 0, least = INFINITY, most = 0;
  for (const DeviceUse& use : analysis.devices) {
    all += use.job_s;
    least = std::min(least, use.job_s);
    most = std::max(most, use.job_s);
  }
  if (analysis.devices.size() < 2 || all <= 0) return {};
  std::vector<std::string> shares;
  for (const DeviceUse& use : analysis.devices)
    shares.push_back(cat(use.index ? cat("GPU ", *use.index) : printable(use.uuid), " ",
                         fixed(100 * use.job_s / all, 0), " %"));
  return cat("balance of the time of jobs: ", join(shares, ", "), "; the least has ",
             fixed(100 * least / most, 0), " % of the most\n");
}

std::string percent(const std::optional<double>& value) {
  return value ? cat(fixed(*value, 0), " %") : std::string("not measured");
}

// The seconds in which the batch ran before `time`, counted from its first start.
double running_before(const BatchAnalysis& analysis, double time) {
  double seconds = 0;
  for (const auto& [begin, end] : analysis.running.stretches)
    seconds += std::max(0.0, std::min(end - analysis.begin, time) - (begin - analysis.begin));
  return seconds;
}

// Analyses one ledger.
BatchAnalysis analyze_part(const BatchFolder& batch) {
  BatchAnalysis analysis;
  double& origin = analysis.begin;
  read_spans(batch, analysis, origin);
  std::map<std::string, DeviceTimes> devices;
  double last_start = 0;  // the last start of a job with a GPU
  for (const AttemptSpan& span : analysis.spans)
    for (const std::string& uuid : *span.devices) {
      DeviceTimes& device = devices[uuid];
      device.use.uuid = uuid;
      ++device.use.attempts;
      device.use.job_s += span.end - span.begin;
      device.stretches.emplace_back(span.begin, span.end);
      last_start = std::max(last_start, span.begin);
    }
  for (auto& [uuid, device] : devices) device.stretches = merged(std::move(device.stretches));
  read_samples(batch, origin, devices);
  read_idle(batch, devices);
  double energy_j = 0;
  bool has_energy = false;
  for (auto& [uuid, device] : devices) {
    DeviceUse& use = device.use;
    use.busy_s = length(device.stretches);
    std::vector<Stretch> before;  // periods of a device before the last start of a job with a GPU
    for (const auto& [begin, end] : device.stretches)
      if (begin < last_start) before.emplace_back(begin, std::min(end, last_start));
    use.idle_wanted_s = std::max(0.0, running_before(analysis, last_start) - length(before));
    use.idle_at_end_s = std::max(0.0, analysis.running.seconds() - use.busy_s - use.idle_wanted_s);
    use.busy_percent = device.busy.value();
    use.sm_percent = device.sm.value();
    use.power_w = device.power.value();
    use.outside_percent = device.outside.value();
    analysis.gpu_hours += use.busy_s / 3600;
    if (use.power_w) {
      energy_j += *use.power_w * use.busy_s;
      has_energy = true;
    }
    analysis.devices.push_back(use);
  }
  if (has_energy) analysis.energy_kwh = energy_j / 3.6e6;
  read_phases(batch, analysis);
  return analysis;
}

// a is the mean of `of_a` samples, and b is the mean of `of_b` samples.
std::optional<double> mean_of(std::optional<double> a, std::int64_t of_a, std::optional<double> b,
                              std::int64_t of_b) {
  if (!a || !b) return a ? a : b;
  if (of_a + of_b == 0) return std::nullopt;
  return (*a * static_cast<double>(of_a) + *b * static_cast<double>(of_b)) /
         static_cast<double>(of_a + of_b);
}

void add_use(std::vector<DeviceUse>& devices, const DeviceUse& use) {
  const auto known = std::find_if(devices.begin(), devices.end(),
                                  [&](const DeviceUse& one) { return one.uuid == use.uuid; });
  if (known == devices.end()) {
    devices.push_back(use);
    return;
  }
  known->busy_percent = mean_of(known->busy_percent, known->samples, use.busy_percent, use.samples);
  known->sm_percent = mean_of(known->sm_percent, known->samples, use.sm_percent, use.samples);
  known->power_w = mean_of(known->power_w, known->samples, use.power_w, use.samples);
  // The load of programs outside the batch. The number of its samples is not recorded, so both
  // means have the same weight.
  known->outside_percent = mean_of(known->outside_percent, 1, use.outside_percent, 1);
  if (!known->index) known->index = use.index;
  known->attempts += use.attempts;
  known->samples += use.samples;
  known->busy_s += use.busy_s;
  known->job_s += use.job_s;
  known->idle_wanted_s += use.idle_wanted_s;
  known->idle_at_end_s += use.idle_at_end_s;
}

void add_part(BatchAnalysis& all, BatchAnalysis part, const std::string& name,
              const std::string& host) {
  const double shift = part.begin - all.begin;
  for (AttemptSpan& span : part.spans) {
    span.share = name;
    span.begin += shift;
    span.end += shift;
    all.wall_s = std::max(all.wall_s, span.end);
    all.busy_slots += span.end - span.begin;
    all.spans.push_back(std::move(span));
  }
  for (DeviceUse& use : part.devices) {
    use.host = host;
    add_use(all.devices, use);
  }
  for (const auto& [phase, seconds] : part.phases_s) all.phases_s[phase] += seconds;
  all.with_phases += part.with_phases;
  all.with_phases_s += part.with_phases_s;
  all.gpu_hours += part.gpu_hours;
  if (part.energy_kwh) all.energy_kwh = all.energy_kwh.value_or(0) + *part.energy_kwh;
}

BatchAnalysis analyze_shares(const BatchFolder& batch) {
  std::vector<std::pair<std::int64_t, BatchAnalysis>> parts;
  for (const std::int64_t share : shares_of(batch))
    if (BatchAnalysis part = analyze_part(share_folder(batch, share)); !part.spans.empty())
      parts.emplace_back(share, std::move(part));
  BatchAnalysis all;
  std::size_t spans = 0;
  for (const auto& [share, part] : parts) {
    if (all.begin == 0 || part.begin < all.begin) all.begin = part.begin;
    spans += part.spans.size();
  }
  all.spans.reserve(spans);
  std::vector<RunningTime> times;
  for (auto& [share, part] : parts) {
    times.push_back(part.running);
    const BatchFolder folder = share_folder(batch, share);
    add_part(all, std::move(part), cat("share ", share),
             Ledger::open_to_read(folder.ledger()).fact("host"));
  }
  std::stable_sort(all.spans.begin(), all.spans.end(),
                   [](const AttemptSpan& a, const AttemptSpan& b) { return a.begin < b.begin; });
  all.running = running_time(times);
  if (const double seconds = all.running.seconds(); seconds > 0) all.busy_slots /= seconds;
  return all;
}

std::string name_of(const DeviceUse& use) {
  const std::string name = use.index ? cat("GPU ", *use.index) : printable(use.uuid);
  return use.host.empty() ? name : cat(name, " of ", printable(use.host));
}

}  // namespace

DeviceNames DeviceLists::of(const std::string& json) {
  DeviceNames& list = known_[json];
  if (list) return list;
  std::vector<std::string> uuids;
  const nlohmann::json devices = parse_json(json);
  if (devices.is_array())
    for (const nlohmann::json& device : devices)
      if (device.is_string()) uuids.push_back(device.get<std::string>());
  return list = std::make_shared<const std::vector<std::string>>(std::move(uuids));
}

BatchAnalysis analyze(const BatchFolder& batch) {
  return has_shares(batch) ? analyze_shares(batch) : analyze_part(batch);
}

std::vector<PhaseShare> phase_shares(const BatchAnalysis& analysis) {
  std::vector<PhaseShare> shares;
  double sum = 0;
  for (const auto& [phase, seconds] : analysis.phases_s) {
    shares.push_back({.name = cat("phase ", phase), .seconds = seconds});
    sum += seconds;
  }
  if (shares.empty()) return shares;
  if (analysis.with_phases_s > sum)
    shares.push_back({.name = "in no phase", .seconds = analysis.with_phases_s - sum});
  const double all = std::max(sum, analysis.with_phases_s);
  for (PhaseShare& share : shares) share.percent = all > 0 ? 100 * share.seconds / all : 0;
  return shares;
}

// One line for each period in which the batch did not run.
std::string gap_lines(const BatchAnalysis& analysis) {
  std::string text;
  for (const BatchGap& gap : analysis.running.gaps())
    text +=
        cat(gap.paused ? "paused for " : "stopped for ", fixed(gap.end - gap.begin, 1), " s, ",
            fixed(gap.begin - analysis.begin, 1), " s after the first start: ",
            gap.paused ? "by lockstep batch pause, until unpause" : "no job ran whose end is known",
            "; not counted\n");
  return text;
}

std::string analysis_text(const BatchAnalysis& analysis) {
  if (analysis.spans.empty()) return "no job has ended yet\n";
  const double seconds = analysis.running.seconds();
  std::string text =
      cat(analysis.spans.size(), analysis.spans.size() == 1 ? " attempt" : " attempts", " in ",
          fixed(seconds, 1), " s, ",
          seconds > 0 ? cat(fixed(static_cast<double>(analysis.spans.size()) / seconds * 60, 1),
                            " per minute, ", fixed(analysis.busy_slots, 2), " at once on average")
                      : "too short to tell how many per minute",
          "\n", gap_lines(analysis));
  for (const DeviceUse& use : analysis.devices) {
    const std::string name = name_of(use);
    if (use.attempts == 0) {
      text += cat(name, ": 0 % of the attempts: no job was put there\n", idle_text(use));
      continue;
    }
    text +=
        cat(name, ": ", use.attempts, use.attempts == 1 ? " attempt" : " attempts",
            "; jobs on it for ", fixed(use.busy_s, 1), " s",
            seconds > 0 && use.busy_s > 0 ? cat(" (", fixed(100 * use.busy_s / seconds, 0), " %), ",
                                                fixed(use.job_s / use.busy_s, 2), " at once")
                                          : "",
            "; ");
    text += use.samples > 0 ? cat("meanwhile busy ", percent(use.busy_percent), ", SMs ",
                                  percent(use.sm_percent), " (", use.samples, " samples)")
                            : std::string("too short to tell how busy it was");
    if (use.idle_wanted_s > 0.05)
      text +=
          cat("; idle for ", fixed(use.idle_wanted_s, 1), " s while jobs for GPUs were to come");
    if (use.idle_at_end_s > 0.05)
      text += cat("; idle for ", fixed(use.idle_at_end_s, 1), " s when no more came");
    text += "\n" + idle_text(use);
  }
  text += balance_text(analysis);
  if (!analysis.devices.empty()) {
    text += cat("cost: ", fixed(analysis.gpu_hours, 3), " GPU-hours");
    if (analysis.energy_kwh) text += cat(", ", fixed(*analysis.energy_kwh, 4), " kWh");
    text += "\n";
  }
  for (const PhaseShare& phase : phase_shares(analysis))
    text +=
        cat(printable(phase.name), ": ", fixed(phase.seconds, 2), " s (", fixed(phase.percent, 0),
            " %) in ", analysis.with_phases, analysis.with_phases == 1 ? " job\n" : " jobs\n");
  return text;
}

std::string analysis_svg(const BatchAnalysis& analysis, const std::string& title) {
  const ChartFrame frame{.title = title, .x = {.label = "seconds"}};
  return gantt_chart(frame, timeline_rows(analysis, frame.width, [](const AttemptSpan& span) {
                       return cat(span.job, ": ", fixed(span.end - span.begin, 2), " s");
                     }));
}

nlohmann::json analysis_json(const BatchAnalysis& analysis) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json result{{"attempts", analysis.spans.size()},
                        {"wall_s", analysis.wall_s},
                        {"running_s", analysis.running.seconds()},
                        {"gaps", nlohmann::json::array()},
                        {"at_once", analysis.busy_slots},
                        {"gpu_hours", analysis.gpu_hours},
                        {"energy_kwh", or_null(analysis.energy_kwh)},
                        {"phases_s", analysis.phases_s},
                        {"with_phases_s", analysis.with_phases_s},
                        {"devices", nlohmann::json::array()}};
  for (const BatchGap& gap : analysis.running.gaps())
    result["gaps"].push_back({{"begin", gap.begin},
                              {"seconds", gap.end - gap.begin},
                              {"why", gap.paused ? "paused" : "stopped"}});
  for (const DeviceUse& use : analysis.devices)
    result["devices"].push_back(
        {{"uuid", use.uuid},
         {"host", use.host.empty() ? nlohmann::json() : nlohmann::json(use.host)},
         {"index", use.index ? nlohmann::json(*use.index) : nlohmann::json()},
         {"attempts", use.attempts},
         {"busy_s", use.busy_s},
         {"job_s", use.job_s},
         {"idle_wanted_s", use.idle_wanted_s},
         {"idle_at_end_s", use.idle_at_end_s},
         {"idle_s", use.idle_s},
         {"samples", use.samples},
         {"busy_percent", or_null(use.busy_percent)},
         {"sm_percent", or_null(use.sm_percent)},
         {"power_w", or_null(use.power_w)},
         {"outside_percent", or_null(use.outside_percent)}});
  return result;
}

}  // namespace lockstep
