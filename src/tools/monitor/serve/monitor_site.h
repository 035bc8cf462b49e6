// Makes the replies of `lockstep monitor --serve`: /metrics, the page and its data. The page is
// embedded in the program, so no request can read a file from the disk.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "tools/monitor/live/history.h"
#include "tools/monitor/sample_text.h"
#include "tools/monitor/serve/http_server.h"
#include "tools/monitor/serve/page_data.h"
#include "tools/monitor/serve/prometheus.h"

namespace lockstep {

// take() and answer() may run on two threads at the same time.
class MonitorSite {
 public:
  struct Setup {
    std::vector<GpuInfo> gpus;
    double interval_s = 1;
    // Whether only requests to local host names are answered. If false, a page of another site
    // could read this page on loopback, through a name that resolves to this machine (DNS
    // rebinding).
    bool local_only = true;
    std::function<double()> hanging_s = [] { return 0.0; };        // Sampler::hanging_s
    FindProcess find = [](int pid) { return process_info(pid); };  // called by answer()
  };
  explicit MonitorSite(Setup setup, Clock& clock = system_clock());

  void take(const MonitorSample& sample);  // call it in chronological order
  HttpReply answer(const HttpRequest& request) const;

 private:
  struct Made {  // text for the newest sample, kept until the next sample
    long long number = 0;
    std::shared_ptr<const std::string> text;
  };
  using Text = std::shared_ptr<const std::string>;

  HttpReply history(const std::string& query) const;
  HttpReply metrics() const;
  HttpReply sample() const;
  Text newest_text(Made& made, std::string (MonitorSite::*make)(const MonitorSample&) const) const;
  std::string gpus_text(const MonitorSample& sample) const;
  std::string newest_line(const MonitorSample& sample) const;
  std::string sample_line(const MonitorSample& sample, double now_s) const;
  double age_s() const;  // age of the newest sample; below 0 if there is none

  Setup setup_;
  Clock& clock_;
  double start_s_;
  mutable std::mutex mutex_;  // guards all members below
  History history_;
  double newest_kept_s_ = 0;
  std::shared_ptr<const MonitorSample> newest_;
  mutable Made gpus_made_, sample_made_;
};

}  // namespace lockstep
