// `lockstep monitor --serve`: serves the page and /metrics.
#pragma once

#include "tools/monitor/sample_source.h"
#include "tools/monitor/serve/http_server.h"
#include "tools/monitor/serve/monitor_site.h"

#include <vector>

namespace lockstep::cli {

class ServedMonitor {
 public:
  // Listens at `address`, and prints the address of the page. The server runs until the object is
  // destroyed. source must outlive the object. Throws Error if it cannot listen.
  ServedMonitor(const ListenAddress& address, const std::vector<GpuInfo>& gpus, double interval_s,
                const SampleSource& source);
  void take(const MonitorSample& sample) { site_.take(sample); }

 private:
  MonitorSite site_;
  HttpServer server_;
};

}  // namespace lockstep::cli
