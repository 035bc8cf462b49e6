// Samples as text for Prometheus.
#include "tools/monitor/serve/prometheus.h"

#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "fakes/fake_probe.h"
#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

std::optional<ProcessInfo> somebody_with_a_secret(int pid) {
  if (pid != 4242) return std::nullopt;
  return ProcessInfo{.user = "ada", .command = "/usr/bin/python3 train.py --token secret"};
}

GpuInfo gpu(int index, const std::string& name = "H200") {
  return {.index = index, .uuid = cat("GPU-", index), .name = name};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
  return found;
}

TEST(Prometheus, HasASeriesForWhatWasMeasuredAndNoneForTheRest) {
  MonitorSample sample;
  sample.gpus.resize(3);
  for (Reading& reading : sample.gpus[0].readings) reading = unsupported();
  sample.gpus[0][GpuMetric::sm_active] = measured(57);
  sample.gpus[0][GpuMetric::gpu_busy] = measured(0);
  sample.gpus[0][GpuMetric::energy] = measured(1234.5);
  sample.gpus[0][GpuMetric::sm_clock] = measured(1980);
  sample.gpus[1][GpuMetric::power] = measured(612.25);
  sample.gpus[2].fault = "GPU is lost";
  const std::string text =
      prometheus_gpus({gpu(0), gpu(1), gpu(2)}, sample, [](int) { return std::nullopt; });
  const std::string support = text.substr(text.find("# HELP lockstep_gpu_metric_supported"));
  EXPECT_EQ(text.substr(0, text.size() - support.size()),
            R"(# HELP lockstep_gpu_up 1 if the GPU answers, else 0
# TYPE lockstep_gpu_up gauge
lockstep_gpu_up{gpu="0",uuid="GPU-0",name="H200"} 1
lockstep_gpu_up{gpu="1",uuid="GPU-1",name="H200"} 1
lockstep_gpu_up{gpu="2",uuid="GPU-2",name="H200"} 0
# HELP lockstep_gpu_sm_active_ratio share of the multiprocessors that had work, over time
# TYPE lockstep_gpu_sm_active_ratio gauge
lockstep_gpu_sm_active_ratio{gpu="0",uuid="GPU-0",name="H200"} 0.57
# HELP lockstep_gpu_busy_ratio share of time in which some kernel ran, however small: utilization.gpu of nvidia-smi
# TYPE lockstep_gpu_busy_ratio gauge
lockstep_gpu_busy_ratio{gpu="0",uuid="GPU-0",name="H200"} 0
# HELP lockstep_gpu_power_watts power drawn by the board
# TYPE lockstep_gpu_power_watts gauge
lockstep_gpu_power_watts{gpu="1",uuid="GPU-1",name="H200"} 612.25
# HELP lockstep_gpu_energy_joules_total energy drawn since the driver was loaded
# TYPE lockstep_gpu_energy_joules_total counter
lockstep_gpu_energy_joules_total{gpu="0",uuid="GPU-0",name="H200"} 1234.5
# HELP lockstep_gpu_sm_clock_hertz clock of the multiprocessors
# TYPE lockstep_gpu_sm_clock_hertz gauge
lockstep_gpu_sm_clock_hertz{gpu="0",uuid="GPU-0",name="H200"} 1.98e+09
)");
  // Of the first all is known, of the second one metric, of the lost one nothing.
  EXPECT_EQ(count(support, "{gpu=\"0\""), static_cast<int>(metric_count));
  EXPECT_EQ(count(support, "{gpu=\"1\""), 1);
  EXPECT_EQ(count(support, "{gpu=\"2\""), 0);
  EXPECT_NE(support.find("name=\"H200\",metric=\"power\"} 0\n"), std::string::npos) << support;
  EXPECT_NE(support.find("{gpu=\"1\",uuid=\"GPU-1\",name=\"H200\",metric=\"power\"} 1\n"),
            std::string::npos)
      << support;
}

TEST(Prometheus, NamesWhatHoldsTheClocksDown) {
  MonitorSample sample;
  sample.gpus.resize(1);
  sample.gpus[0][GpuMetric::clock_limits] = measured(0x24);
  const std::string text = prometheus_gpus({gpu(0)}, sample, somebody_with_a_secret);
  EXPECT_EQ(count(text, "lockstep_gpu_clock_limited{"), static_cast<int>(clock_limits().size()));
  for (const char* one :
       {"reason=\"power\"} 1\n", "reason=\"heat\"} 1\n", "reason=\"power brake\"} 0"})
    EXPECT_NE(text.find(one), std::string::npos) << text;
}

TEST(Prometheus, EscapesAndMendsLabels) {
  MonitorSample sample;
  sample.gpus.resize(1);
  const std::string text =
      prometheus_gpus({gpu(0, "a \"b\" \\ c\nd \xff")}, sample, somebody_with_a_secret);
  EXPECT_NE(text.find(R"(name="a \"b\" \\ c\nd )"
                      "\xEF\xBF\xBD\"} 1\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(invalid_bytes(text), 0u);
}

TEST(Prometheus, ShowsProcessesByTheNameOfTheirProgramOnly) {
  MonitorSample sample;
  sample.gpus.resize(2);
  sample.gpus[0].processes_known = true;
  sample.gpus[0].processes = {{.pid = 99},
                              {.pid = 4242, .memory_bytes = 1 << 30, .sm_percent = 37}};
  const std::string text = prometheus_gpus({gpu(0), gpu(1)}, sample, somebody_with_a_secret);
  EXPECT_NE(text.find("lockstep_gpu_processes{gpu=\"0\",uuid=\"GPU-0\",name=\"H200\"} 2\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(count(text, "lockstep_gpu_processes{"), 1) << text;
  const std::string who = R"({gpu="0",uuid="GPU-0",pid="4242",user="ada",command="python3"})";
  EXPECT_NE(text.find("lockstep_gpu_process_memory_bytes" + who + " 1073741824\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("lockstep_gpu_process_sm_ratio" + who + " 0.37\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_EQ(text.find("pid=\"99\""), std::string::npos);  // nothing was measured of it
}

TEST(Prometheus, BoundsTheNumberOfProcesses) {
  MonitorSample sample;
  sample.gpus.resize(1);
  sample.gpus[0].processes_known = true;
  for (int i = 1; i <= 1000; ++i)
    sample.gpus[0].processes.push_back({.pid = i, .memory_bytes = static_cast<std::uint64_t>(i)});
  const std::string text = prometheus_gpus({gpu(0)}, sample, somebody_with_a_secret);
  EXPECT_EQ(count(text, "process_memory_bytes{"), static_cast<int>(most_processes_per_gpu));
  EXPECT_NE(text.find("pid=\"1000\""), std::string::npos);
  EXPECT_NE(text.find("lockstep_gpu_processes{gpu=\"0\",uuid=\"GPU-0\",name=\"H200\"} 1000\n"),
            std::string::npos);
}

TEST(Prometheus, HasASeriesOnceWhereAGpuIsNamedTwice) {
  MonitorSample sample;
  sample.gpus.resize(2);
  EXPECT_EQ(
      count(prometheus_gpus({gpu(3), gpu(3)}, sample, somebody_with_a_secret), "lockstep_gpu_up{"),
      1);
}

TEST(Prometheus, TellsOfItself) {
  const std::string none = prometheus_status({.age_s = -1, .hanging_s = 12.5});
  EXPECT_NE(none.find("\nlockstep_driver_hanging_seconds 12.5\n"), std::string::npos) << none;
  EXPECT_NE(none.find("\nlockstep_monitor_samples_total 0\n"), std::string::npos) << none;
  EXPECT_EQ(none.find("sample_age"), std::string::npos) << none;
  const std::string some = prometheus_status({.samples = 7, .age_s = 0.25});
  EXPECT_NE(some.find("\nlockstep_monitor_sample_age_seconds 0.25\n"), std::string::npos) << some;
  EXPECT_NE(some.find("\nlockstep_build_info{version=\""), std::string::npos) << some;
}

TEST(Prometheus, HasAReferenceOfEverySeries) {
  MonitorSample sample;
  sample.gpus.resize(1);
  for (const MetricInfo& metric : all_metrics()) sample.gpus[0][metric.metric] = measured(1);
  sample.gpus[0].processes_known = true;
  sample.gpus[0].processes = {{.pid = 4242, .memory_bytes = 1, .sm_percent = 1}};
  const std::string reference = prometheus_reference();
  int families = 0;
  for (const std::string& line : split(prometheus_gpus({gpu(0)}, sample, somebody_with_a_secret) +
                                           prometheus_status({.samples = 1}),
                                       '\n')) {
    if (!line.starts_with("# TYPE ")) continue;
    ++families;
    const std::vector<std::string> words = split(line, ' ');
    EXPECT_NE(reference.find(cat("| `", words[2], "` | ", words[3], " |")), std::string::npos)
        << line;
  }
  EXPECT_EQ(count(reference, "| `"), families);
}

}  // namespace
}  // namespace lockstep
