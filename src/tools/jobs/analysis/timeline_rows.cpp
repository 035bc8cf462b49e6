#include "tools/jobs/analysis/timeline_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

struct CountedRow {
  GanttRow row;
  std::int64_t in_last = 0;  // number of attempts that were merged into its last span
};

std::string row_name(const BatchAnalysis& analysis, const AttemptSpan& span,
                     const std::string& uuid) {
  const std::string slot = cat(span.share, span.share.empty() ? "" : ", ", "slot ", span.slot);
  if (uuid.empty()) return slot;
  const auto use = std::find_if(analysis.devices.begin(), analysis.devices.end(),
                                [&](const DeviceUse& one) { return one.uuid == uuid; });
  return cat(use == analysis.devices.end() ? uuid.substr(0, 12) : device_name(*use), ", ", slot);
}

}  // namespace

std::string device_name(const DeviceUse& use) {
  const std::string name = use.index ? cat("GPU ", *use.index) : use.uuid.substr(0, 12);
  return use.host.empty() ? name : cat(name, " of ", use.host);
}

std::vector<GanttRow> timeline_rows(const BatchAnalysis& analysis, int width,
                                    const std::function<std::string(const AttemptSpan&)>& tip) {
  constexpr std::size_t many = 3000;
  const bool merges = analysis.spans.size() > many;
  const double pixel_s = analysis.wall_s / width;
  std::map<std::string, CountedRow> rows;
  const auto draw = [&](const AttemptSpan& span, const std::string& uuid) {
    auto& [row, in_last] = rows[row_name(analysis, span, uuid)];
    GanttSpan* const last = row.spans.empty() ? nullptr : &row.spans.back();
    if (merges && last != nullptr && last->kind == span.outcome &&
        span.begin - last->end < pixel_s) {
      last->end = std::max(last->end, span.end);
      last->tip = cat(++in_last, " attempts: ", span.outcome);
      return;
    }
    row.spans.push_back(
        {.begin = span.begin, .end = span.end, .kind = span.outcome, .tip = tip(span)});
    in_last = 1;
  };
  for (const AttemptSpan& span : analysis.spans) {
    if (span.devices->empty()) draw(span, "");
    for (const std::string& uuid : *span.devices) draw(span, uuid);
  }
  std::vector<GanttRow> list;
  for (auto& [name, counted] : rows) {
    counted.row.name = name;
    list.push_back(std::move(counted.row));
  }
  return list;
}

}  // namespace lockstep
