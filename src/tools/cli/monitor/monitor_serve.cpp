#include "tools/cli/monitor/monitor_serve.h"

#include "core/base/text/text.h"
#include "tools/cli/context.h"
#include "tools/monitor/own_runs.h"

namespace lockstep::cli {

ServedMonitor::ServedMonitor(const ListenAddress& address, const std::vector<GpuInfo>& gpus,
                             double interval_s, const SampleSource& source)
    : site_({.gpus = gpus,
             .interval_s = interval_s,
             .local_only = address.loopback(),
             .hanging_s = [&source] { return source.hanging_s(); },
             .find = find_processes()}),
      server_(address, [this](const HttpRequest& request) { return site_.answer(request); }) {
  const ListenAddress& where = server_.address();
  say(cat("the monitor is at http://", where.text(), "/ and for Prometheus at http://",
          where.text(), "/metrics"));
  if (!where.loopback())
    say(cat("warning: whoever reaches ", where.text(),
            " can read what runs on these GPUs, with users and command lines"));
}

}  // namespace lockstep::cli
