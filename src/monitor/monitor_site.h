// What `lockstep monitor --serve` answers: /metrics, the page and its data. No file is ever read.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "monitor/history.h"
#include "monitor/http_server.h"
#include "monitor/page_data.h"
#include "monitor/prometheus.h"
#include "monitor/sample_text.h"

namespace lockstep {

// take() and answer() may be called by two threads, a thread each.
class MonitorSite {
 public:
  struct Setup {
    std::vector<GpuInfo> gpus;
    double interval_s = 1;
    // On loopback, a page of another site must not reach this one by a name that it lets point
    // here (DNS rebinding): only local names are answered.
    bool local_only = true;
    std::function<double()> hanging_s = [] { return 0.0; };        // Sampler::hanging_s
    FindProcess find = [](int pid) { return process_info(pid); };  // called by answer()
  };
  explicit MonitorSite(Setup setup, Clock& clock = system_clock());

  void take(const MonitorSample& sample);  // in the order of time
  HttpReply answer(const HttpRequest& request) const;

 private:
  struct Made {  // of one sample, for as long as it is the newest
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
  double age_s() const;  // of the newest sample; below 0 without one

  Setup setup_;
  Clock& clock_;
  double start_s_;
  mutable std::mutex mutex_;  // guards what follows
  History history_;
  double newest_kept_s_ = 0;
  std::shared_ptr<const MonitorSample> newest_;
  mutable Made gpus_made_, sample_made_;
};

}  // namespace lockstep
