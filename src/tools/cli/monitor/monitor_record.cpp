#include "tools/cli/monitor/monitor_record.h"

#include "core/base/clock.h"
#include "tools/monitor/own_runs.h"

namespace lockstep::cli {

RecordedSource::RecordedSource(SampleSource& source, const std::vector<GpuInfo>& gpus,
                               const std::string& path, bool overwrite)
    : source_(source), recorder_(gpus), output_(path, overwrite, 0600), find_(find_processes()) {}

std::shared_ptr<const MonitorSample> RecordedSource::next(long long seen, double timeout_s) {
  auto sample = source_.next(seen, timeout_s);
  if (!sample || written_ != Written::yes) return sample;
  std::string text = begun_ ? "" : recorder_.head(system_clock().wall_s());
  begun_ = true;
  text += recorder_.lines(*sample, find_);
  written_ = output_.write(text);
  return sample;
}

}  // namespace lockstep::cli
