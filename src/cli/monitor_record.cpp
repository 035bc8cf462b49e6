#include "cli/monitor_record.h"

#include "base/clock.h"
#include "monitor/own_runs.h"

namespace lockstep::cli {
namespace {

// A word may hold spaces: what is secret of it shows only where words are apart.
FindProcess without_their_secrets(FindProcess find) {
  return [find = std::move(find)](int pid) {
    std::optional<ProcessInfo> who = find(pid);
    const std::vector<std::string> words = command_words(pid);
    if (who && !words.empty()) who->command = without_secrets(words);
    return who;
  };
}

}  // namespace

RecordedSource::RecordedSource(SampleSource& source, const std::vector<GpuInfo>& gpus,
                               const std::string& path, bool overwrite)
    : source_(source),
      recorder_(gpus),
      output_(path, overwrite, 0600),
      find_(without_their_secrets(find_processes())) {}

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
