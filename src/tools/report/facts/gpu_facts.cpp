#include "tools/report/facts/gpu_facts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "core/base/error.h"
#include "core/base/mean.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/facts/gpu_energy.h"

namespace lockstep {
namespace {

struct DeviceReader {
  GpuUse use;
  MeanOf busy, sm, clock, any_clock;
  DeviceEnergy energy;
  std::map<std::string, std::int64_t> throttled;
  std::int64_t throttling_samples = 0;
};

// Reads the table in pieces, to save memory for a long log. Each piece includes the line of names.
void visit_pieces(const std::filesystem::path& file,
                  const std::function<void(const CsvTable&)>& visit) {
  constexpr std::size_t least_bytes = 1 << 20;
  std::string head, piece;
  bool visited = false;
  const auto flush = [&] {
    visit(parse_csv(head + piece, file.string()));
    piece.clear();
    visited = true;
  };
  for_each_line(file, [&](const std::string& line) {
    (head.empty() ? head : piece) += line + "\n";
    if (piece.size() >= std::max(least_bytes, head.size())) flush();
  });
  if (!piece.empty() || !visited) flush();
}

// spans: sorted by begin, without overlaps.
bool in_spans(const TimeSpans& spans, double time) {
  const auto next = std::upper_bound(spans.begin(), spans.end(), time,
                                     [](double at, const auto& span) { return at < span.first; });
  return next != spans.begin() && time <= std::prev(next)->second;
}

TimeSpans merged_spans(TimeSpans spans) {
  std::erase_if(spans, [](const auto& span) { return !(span.first <= span.second); });
  std::sort(spans.begin(), spans.end());
  TimeSpans all;
  for (const auto& span : spans)
    if (!all.empty() && span.first <= all.back().second)
      all.back().second = std::max(all.back().second, span.second);
    else
      all.push_back(span);
  return all;
}

void most(std::optional<double>& of, std::optional<double> value) {
  if (value) of = std::max(of.value_or(*value), *value);
}

class GpuTable {
 public:
  explicit GpuTable(const CsvTable& table) : table_(table) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) places_[table.columns[i]] = i;
    for (const char* needed : {"time", "gpu", "uuid"}) table.column(needed);
  }
  std::optional<double> number(std::size_t row, const char* name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? std::nullopt : to_number(table_.rows[row][place->second]);
  }
  std::string text(std::size_t row, const char* name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? "" : table_.rows[row][place->second];
  }

 private:
  const CsvTable& table_;
  std::map<std::string, std::size_t> places_;
};

void take_sample(const GpuTable& table, std::size_t row, double time, DeviceReader& device) {
  GpuUse& use = device.use;
  use.index = static_cast<int>(table.number(row, "gpu").value_or(use.index));
  ++use.samples;
  const auto busy = table.number(row, "busy_percent"), sm = table.number(row, "sm_active_percent"),
             clock = table.number(row, "sm_clock_mhz"), power = table.number(row, "power_w");
  device.busy.add(busy);
  device.sm.add(sm);
  device.any_clock.add(clock);
  if (sm.value_or(busy.value_or(100)) >= idle_percent) device.clock.add(clock);
  if (power) device.energy.add(time, *power);
  most(use.power_limit_w, table.number(row, "power_limit_w"));
  most(use.memory_most_bytes, table.number(row, "memory_used_bytes"));
  if (const auto others = table.number(row, "other_processes"))
    use.other_processes = std::max(use.other_processes.value_or(0), static_cast<int>(*others));
  const std::string throttled = table.text(row, "throttled_by");
  if (throttled.empty()) return;
  ++device.throttling_samples;
  if (throttled == "none") return;
  for (const std::string& reason : split(throttled, ';')) ++device.throttled[trim(reason)];
}

GpuUse finished(DeviceReader device) {
  GpuUse use = std::move(device.use);
  use.busy_percent = device.busy.value();
  use.sm_percent = device.sm.value();
  use.clock_mhz = device.clock.value() ? device.clock.value() : device.any_clock.value();
  use.energy_j = device.energy.joules();
  use.throttling_known = device.throttling_samples > 0;
  for (const auto& [reason, samples] : device.throttled)
    use.throttled_share[reason] =
        static_cast<double>(samples) / static_cast<double>(device.throttling_samples);
  return use;
}

std::optional<double> activity(const GpuUse& use) {
  return use.sm_percent ? use.sm_percent : use.busy_percent;
}

void add_use_quantities(const std::vector<GpuUse>& devices, Trial& trial) {
  MeanOf busy;
  double least = INFINITY, highest = 0, energy = 0;
  bool has_energy = !devices.empty();
  std::optional<double> memory;
  for (const GpuUse& use : devices) {
    const std::optional<double> active = activity(use);
    busy.add(active);
    least = std::min(least, active.value_or(NAN));
    highest = std::max(highest, active.value_or(NAN));
    most(memory, use.memory_most_bytes);
    has_energy = has_energy && use.energy_j;
    energy += use.energy_j.value_or(0);
  }
  trial.measure({.name = "energy_j",
                 .title = "energy of the GPUs",
                 .unit = "J",
                 .aspect = Aspect::energy,
                 .total = true},
                has_energy ? std::optional(energy) : std::nullopt);
  trial.measure({.name = "gpu_busy_percent",
                 .title = "GPUs busy",
                 .unit = "%",
                 .scale = Scale::difference,
                 .better = Better::unknown,
                 .aspect = Aspect::use},
                busy.value());
  if (devices.size() > 1 && busy.value() && highest > 0)
    trial.measure({.name = "balance",
                   .title = "balance of the GPUs (least busy / most)",
                   .scale = Scale::difference,
                   .better = Better::higher,
                   .aspect = Aspect::use},
                  least / highest);
  trial.measure({.name = "gpu_memory_bytes",
                 .title = "memory in use on a GPU, by all",
                 .unit = "bytes",
                 .aspect = Aspect::memory},
                memory);
}

}  // namespace

std::vector<GpuUse> read_gpu_use(const std::vector<std::filesystem::path>& gpu_csvs,
                                 const TimeSpans& spans) {
  std::error_code ignored;
  const TimeSpans looked_at = merged_spans(spans);
  std::map<std::string, DeviceReader> devices;
  const auto take_piece = [&](const CsvTable& csv) {
    const GpuTable table(csv);
    for (std::size_t row = 0; row < csv.rows.size(); ++row) {
      const std::optional<double> time = table.number(row, "time");
      if (!time || !in_spans(looked_at, *time)) continue;
      DeviceReader& device = devices[table.text(row, "uuid")];
      device.use.uuid = table.text(row, "uuid");
      take_sample(table, row, *time, device);
    }
  };
  for (const std::filesystem::path& file : gpu_csvs)
    if (std::filesystem::exists(file, ignored)) visit_pieces(file, take_piece);
  std::vector<GpuUse> uses;
  for (auto& [uuid, device] : devices) uses.push_back(finished(std::move(device)));
  std::sort(uses.begin(), uses.end(),
            [](const GpuUse& a, const GpuUse& b) { return a.index < b.index; });
  return uses;
}

void add_gpu_facts(const std::vector<GpuUse>& devices, Trial& trial) {
  if (devices.empty()) return;
  constexpr double worth_saying = 0.05;  // share of the samples that is worth a note
  MeanOf clock, limit;
  std::optional<int> others;
  std::set<std::string> throttled;
  nlohmann::json busy = nlohmann::json::object();
  bool throttling_known = false;
  for (const GpuUse& use : devices) {
    clock.add(use.clock_mhz);
    limit.add(use.power_limit_w);
    throttling_known = throttling_known || use.throttling_known;
    if (use.other_processes) others = std::max(others.value_or(0), *use.other_processes);
    for (const auto& [reason, share] : use.throttled_share)
      if (share >= worth_saying) throttled.insert(reason);
    if (const std::optional<double> active = activity(use))
      busy[cat("GPU ", use.index)] = std::round(*active * 10) / 10;
  }
  if (clock.value()) trial.set("clock_mhz", FactKind::place, std::round(*clock.value()));
  if (limit.value()) trial.set("power_limit_w", FactKind::place, std::round(*limit.value()));
  if (throttling_known) trial.set("throttled_by", FactKind::place, throttled);
  if (others) trial.set("other_processes", FactKind::place, *others);
  if (!busy.empty()) trial.set("busy_percent", FactKind::note, busy);
  add_use_quantities(devices, trial);
}

}  // namespace lockstep
