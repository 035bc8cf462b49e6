// `lockstep monitor --record`: writes every sample of another source to a file, and passes it on.
#pragma once

#include "tools/cli/output.h"
#include "tools/monitor/recording.h"
#include "tools/monitor/sample_source.h"

#include <string>
#include <vector>

namespace lockstep::cli {

class RecordedSource final : public SampleSource {
 public:
  // path, overwrite: as for Output. source must outlive it. Throws Error as Output does.
  RecordedSource(SampleSource& source, const std::vector<GpuInfo>& gpus, const std::string& path,
                 bool overwrite);
  std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) override;
  double hanging_s() const override { return source_.hanging_s(); }
  bool ended() const override { return source_.ended() || failed(); }
  // Whether writing failed, for example because the disk is full. The reason was printed.
  bool failed() const { return written_ != Written::yes; }

 private:
  SampleSource& source_;
  SampleRecorder recorder_;
  Output output_;
  FindProcess find_;
  Written written_ = Written::yes;
  bool begun_ = false;
};

}  // namespace lockstep::cli
