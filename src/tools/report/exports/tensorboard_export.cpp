// Exports a run's log as one file of TensorBoard events.
#include <memory>

#include "core/base/files/files.h"
#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/formats/tensorboard_log.h"
#include "tools/report/exports/event_limits.h"
#include "tools/report/exports/export_file.h"
#include "tools/report/exports/run_exports.h"
#include "tools/report/exports/start_marks.h"

namespace lockstep {

WrittenExport export_tensorboard(const RunDir& run, const std::filesystem::path& folder) {
  WrittenExport written;
  std::string unit = "samples";
  std::unique_ptr<ExportFile> file;
  StartMarks starts;
  std::string pending;  // events of starts before the first scalars
  for_each_effective_line(run.events_path(), [&](const std::string& line) {
    const nlohmann::json event = parse_object(line);
    const std::string kind = text_or(event, "kind", "");
    starts.event(event);
    if (kind == "start") {
      unit = text_or(event, "unit", unit);
      const std::string mark =
          tensorboard_restart(number_or(event, "time", 0), integer_or(event, "step", 0) + 1);
      if (file)
        file->write(mark);
      else
        pending += mark;
    }
    const std::vector<TensorboardScalar> scalars = scalars_of_event(event, unit);
    if (scalars.empty()) return;
    const double time = number_or(event, "time", 0);
    if (!file) {
      written.what = tensorboard_file_name(time, host_name(), 0, 0);
      file = std::make_unique<ExportFile>(folder / written.what);
      file->write(tensorboard_version(time) + pending);
    }
    ++(kind == "step" ? written.steps : written.evaluations);
    file->write(tensorboard_scalars(time, integer_or(event, "step", 0), scalars));
  });
  if (!file) return written;
  if (!starts.all().empty())
    file->write(tensorboard_stop(starts.all().back().last_time, starts.all().back().last_step));
  file->finish();
  return written;
}

}  // namespace lockstep
