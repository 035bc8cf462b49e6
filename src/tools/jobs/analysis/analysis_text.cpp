// Formats timelines and comparisons of batches as text.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "tools/jobs/analysis/analysis.h"

namespace lockstep {
namespace {

std::string row_of(const BatchAnalysis& analysis, const AttemptSpan& span, std::size_t device) {
  if (span.devices->empty()) return cat("slot ", span.slot);
  const std::string& uuid = (*span.devices)[device];
  for (const DeviceUse& use : analysis.devices)
    if (use.uuid == uuid && use.index) return cat("GPU ", *use.index);
  return printable(uuid);
}

// The mean number of jobs in each part of the time. '.' means none, and '+' means ten or more.
std::string bar(const std::vector<double>& job_s, double part_s) {
  std::string text;
  for (const double seconds : job_s) {
    const double jobs = part_s > 0 ? seconds / part_s : 0;
    const auto number = static_cast<int>(std::ceil(jobs - 0.05));
    text += jobs < 0.05 ? '.' : number > 9 ? '+' : static_cast<char>('0' + std::max(number, 1));
  }
  return text;
}

}  // namespace

std::string timeline_text(const BatchAnalysis& analysis, int width) {
  constexpr int frame = 4, least_parts = 10, most_parts = 100;
  int names = 0;
  std::map<std::string, std::vector<double>> rows;
  const auto widen = [&](const std::string& name) { names = std::max(names, cells_of(name)); };
  for (const AttemptSpan& span : analysis.spans)
    for (std::size_t i = 0; i < std::max<std::size_t>(span.devices->size(), 1); ++i)
      widen(row_of(analysis, span, i));
  for (const DeviceUse& use : analysis.devices)
    if (use.index) widen(cat("GPU ", *use.index));
  const int parts = std::clamp(width - names - frame, least_parts, most_parts);
  const double part_s = analysis.wall_s / parts;
  if (analysis.spans.empty() || part_s <= 0) return {};
  for (const DeviceUse& use : analysis.devices)
    if (use.index) rows[cat("GPU ", *use.index)].resize(static_cast<std::size_t>(parts));
  for (const AttemptSpan& span : analysis.spans)
    for (std::size_t i = 0; i < std::max<std::size_t>(span.devices->size(), 1); ++i) {
      std::vector<double>& row = rows[row_of(analysis, span, i)];
      row.resize(static_cast<std::size_t>(parts));
      const auto first = static_cast<int>(span.begin / part_s);
      for (int part = std::max(first, 0); part < parts && part * part_s < span.end; ++part)
        row[static_cast<std::size_t>(part)] += std::max(
            0.0, std::min(span.end, (part + 1) * part_s) - std::max(span.begin, part * part_s));
    }
  std::string text;
  for (const auto& [name, job_s] : rows)
    text += cat(pad_cells(name, names), " |", bar(job_s, part_s), "|\n");
  return text + cat(pad_cells("", names), "  jobs at once, over ", fixed(analysis.wall_s, 1),
                    " s from the first start to the last end\n");
}

std::string comparison_text(const std::vector<std::pair<std::string, BatchAnalysis>>& analyses) {
  std::vector<std::vector<std::string>> rows{{"batch", "attempts", "seconds", "per minute",
                                              "at once", "GPU-hours", "time of jobs by device"}};
  for (const auto& [name, analysis] : analyses) {
    const auto attempts = static_cast<double>(analysis.spans.size());
    double all = 0;
    for (const DeviceUse& use : analysis.devices) all += use.job_s;
    std::vector<std::string> shares;
    for (const DeviceUse& use : analysis.devices)
      shares.push_back(cat(use.index ? cat("GPU ", *use.index) : printable(use.uuid), " ",
                           fixed(all > 0 ? 100 * use.job_s / all : 0, 0), " %"));
    const double seconds = analysis.running.seconds();
    rows.push_back({printable(name), cat(analysis.spans.size()), fixed(seconds, 1),
                    seconds > 0 ? fixed(60 * attempts / seconds, 1) : "",
                    fixed(analysis.busy_slots, 2), fixed(analysis.gpu_hours, 3),
                    join(shares, ", ")});
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      int width = 0;
      for (const auto& other : rows) width = std::max(width, cells_of(other[i]));
      text += (i == 0 ? pad_cells(row[i], width) : pad_cells_left(row[i], width)) + "  ";
    }
    text += row.back() + "\n";
  }
  for (const auto& [name, analysis] : analyses)
    if (const std::string gaps = gaps_text(analysis.running.gaps()); !gaps.empty())
      text += cat(printable(name), " was ", gaps, ", which its seconds leave out\n");
  return text;
}

}  // namespace lockstep
