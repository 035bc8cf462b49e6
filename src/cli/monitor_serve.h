// lockstep monitor --serve: serves the page and /metrics during its lifetime.
#pragma once

#include "monitor/http_server.h"
#include "monitor/monitor_site.h"
#include "monitor/sample_source.h"

#include <vector>

namespace lockstep::cli {

class ServedMonitor {
 public:
  // Listens at `address` and prints where; the source must outlive this. Throws Error if it cannot.
  ServedMonitor(const ListenAddress& address, const std::vector<GpuInfo>& gpus, double interval_s,
                const SampleSource& source);
  void take(const MonitorSample& sample) { site_.take(sample); }

 private:
  MonitorSite site_;
  HttpServer server_;
};

}  // namespace lockstep::cli
