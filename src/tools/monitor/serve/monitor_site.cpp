#include "tools/monitor/serve/monitor_site.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/monitor/serve/page_files.h"

namespace lockstep {
namespace {

constexpr std::size_t kept_samples = 3600;
// the history covers at least an hour, even with short intervals
constexpr double least_between_kept_s = 1;
constexpr double late_sample_intervals = 2, late_sample_s = 0.5;
constexpr double oldest_metrics_s = 10, oldest_metrics_intervals = 3;

HttpReply plain(int status, const std::string& text) {
  return {.status = status, .body = std::make_shared<const std::string>(text + "\n")};
}

HttpReply json_reply(std::shared_ptr<const std::string> text) {
  return {.type = "application/json", .body = std::move(text)};
}

// Whether the host is "localhost", "127.…" or "[::1]", with any port, because the port may be
// forwarded. Nothing else may surround it. Browsers send the name that they were given.
bool is_local_name(const std::string& host) {
  if (host.empty()) return true;  // HTTP 1.0 has no host
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  const std::size_t name_end = host.starts_with('[') && end != host.npos ? end + 1 : end;
  const std::string name = host.substr(0, name_end);
  const std::string_view rest = std::string_view(host).substr(name.size());
  if (!rest.empty() && (rest[0] != ':' || !whole_number<std::uint16_t>(rest.substr(1))))
    return false;
  in_addr address{};
  return name == "localhost" || name == "[::1]" ||
         (name.starts_with("127.") && inet_pton(AF_INET, name.c_str(), &address) == 1);
}

// The number in "after=NUMBER", or 0 for an empty query. Nothing for other queries.
std::optional<long long> after_of(const std::string& query) {
  constexpr std::string_view key = "after=";
  if (query.empty()) return 0;
  if (!query.starts_with(key)) return std::nullopt;
  return whole_number<long long>(std::string_view(query).substr(key.size()));
}

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

MonitorSite::MonitorSite(Setup setup, Clock& clock)
    : setup_(std::move(setup)),
      clock_(clock),
      start_s_(clock.wall_s()),
      history_(setup_.gpus.size(), kept_samples) {}

void MonitorSite::take(const MonitorSample& sample) {
  auto kept = std::make_shared<const MonitorSample>(sample);
  const std::lock_guard lock(mutex_);
  newest_ = std::move(kept);
  // A tolerance of half an interval keeps all samples that are about a second apart.
  const double slack = std::min(setup_.interval_s, least_between_kept_s) / 2;
  if (history_.size() > 0 && sample.at_s - newest_kept_s_ < least_between_kept_s - slack) return;
  history_.add(sample);
  newest_kept_s_ = sample.at_s;
}

HttpReply MonitorSite::answer(const HttpRequest& request) const {
  if (setup_.local_only && !is_local_name(request.host))
    return plain(403,
                 "this is lockstep monitor --serve, which answers to localhost and 127.0.0.1 only; "
                 "it was asked for by another name");
  if (request.path == "/metrics") return metrics();
  if (request.path == "/sample.json") return sample();
  if (request.path == "/history.json") return history(request.query);
  const std::string& path = request.path == "/" ? "/index.html" : request.path;
  for (const PageFile& file : page_files())
    if (file.path == path)
      return {.type = file.type, .body = std::make_shared<const std::string>(file.content)};
  return plain(404, "there is no such page; there are / and /metrics");
}

HttpReply MonitorSite::history(const std::string& query) const {
  const std::optional<long long> after = after_of(query);
  if (!after) return plain(400, "it must be /history.json?after=NUMBER");
  const PageStatus status{.start_s = start_s_,
                          .interval_s = setup_.interval_s,
                          .age_s = age_s(),
                          .hanging_s = setup_.hanging_s()};
  const std::lock_guard lock(mutex_);
  return json_reply(
      std::make_shared<const std::string>(history_json(setup_.gpus, history_, *after, status)));
}

HttpReply MonitorSite::metrics() const {
  const double age = age_s();
  std::string text;
  MonitorStatus status{.age_s = age,
                       .interval_s = setup_.interval_s,
                       .hanging_s = setup_.hanging_s(),
                       .cpu_s = process_cpu_s(),
                       .resident_bytes = resident_bytes(),
                       .start_s = start_s_};
  const double oldest = std::max(oldest_metrics_s, oldest_metrics_intervals * setup_.interval_s);
  // Prometheus would store an old value with the present time.
  if (age >= 0 && age <= oldest) text = *newest_text(gpus_made_, &MonitorSite::gpus_text);
  {
    const std::lock_guard lock(mutex_);
    if (newest_) {
      status.samples = newest_->number;
      status.driver_s = newest_->reading_s;
    }
  }
  return {.type = "text/plain; version=0.0.4; charset=utf-8",
          .body = std::make_shared<const std::string>(text + prometheus_status(status))};
}

HttpReply MonitorSite::sample() const {
  // A late sample is rendered for each request, because the age of its values grows.
  std::shared_ptr<const MonitorSample> newest;
  {
    const std::lock_guard lock(mutex_);
    newest = newest_;
  }
  const double now = clock_.now_s();
  if (newest && now - newest->at_s > late_sample_intervals * setup_.interval_s + late_sample_s)
    return json_reply(std::make_shared<const std::string>(sample_line(*newest, now)));
  Text text = newest_text(sample_made_, &MonitorSite::newest_line);
  return text ? json_reply(std::move(text)) : plain(503, "there is no sample yet");
}

MonitorSite::Text MonitorSite::newest_text(Made& made,
                                           std::string (MonitorSite::*make)(const MonitorSample&)
                                               const) const {
  std::shared_ptr<const MonitorSample> newest;
  {
    const std::lock_guard lock(mutex_);
    newest = newest_;
    if (!newest || made.number == newest->number) return newest ? made.text : nullptr;
  }
  // Looking up processes takes a while, so the lock is not held: take() must not wait.
  auto text = std::make_shared<const std::string>((this->*make)(*newest));
  const std::lock_guard lock(mutex_);
  made = {newest->number, text};
  return text;
}

std::string MonitorSite::gpus_text(const MonitorSample& sample) const {
  return prometheus_gpus(setup_.gpus, sample, setup_.find);
}

std::string MonitorSite::newest_line(const MonitorSample& sample) const {
  return sample_line(sample, sample.at_s + sample.reading_s);
}

std::string MonitorSite::sample_line(const MonitorSample& sample, double now_s) const {
  return sample_json(setup_.gpus, sample, setup_.find, now_s)
             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

double MonitorSite::age_s() const {
  const std::lock_guard lock(mutex_);
  return newest_ ? std::max(0.0, clock_.now_s() - newest_->at_s) : -1;
}

}  // namespace lockstep
