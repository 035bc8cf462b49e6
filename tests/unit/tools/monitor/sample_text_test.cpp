// Samples as a table, CSV and JSON.
#include "tools/monitor/sample_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "fakes/fake_probe.h"
#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

std::optional<ProcessInfo> somebody(int pid) {
  if (pid != 4242) return std::nullopt;
  return ProcessInfo{.user = "ada", .command = "python train.py", .age_s = 120};
}

// A GPU that tells everything, one that tells little, one that is lost.
struct Three {
  std::vector<GpuInfo> gpus = fake_probe(3).present;
  MonitorSample sample{
      .number = 1, .wall_s = 1.7e9, .at_s = 10, .reading_s = 0.001, .self_cpu = 0.002};
  Three() {
    sample.gpus.resize(3);
    GpuSample& all = sample.gpus[0];
    for (const MetricInfo& metric : all_metrics()) all[metric.metric] = measured(40, 9.5, 1);
    all[GpuMetric::memory_used] = measured(2.0 * (1 << 30));
    all[GpuMetric::memory_total] = measured(4.0 * (1 << 30));
    all[GpuMetric::clock_limits] = measured(4 | 0x40);
    all[GpuMetric::gpu_busy] = measured(0);
    all.processes_known = true;
    all.processes = {{.pid = 4242, .memory_bytes = 1 << 30, .sm_percent = 37}, {.pid = 99}};
    for (Reading& reading : sample.gpus[1].readings) reading = unsupported();
    sample.gpus[1][GpuMetric::gpu_busy] = measured(100);
    sample.gpus[2].fault = "GPU is lost";
    gpus[0].name = "H200, \"big\"";
  }
};

TEST(SampleTable, NeverShowsZeroForWhatIsNotMeasured) {
  const Three three;
  const std::vector<std::string> lines =
      split(sample_table(three.gpus, three.sample, somebody), '\n');
  EXPECT_EQ(
      trim(lines[1]),
      "0    40        40      40       0     2.0/4.0    40/40   40    40/40    40 B/s  40 B/s      "
      "40 B/s  40 B/s  power, heat (hardware)  H200, \"big\"");
  EXPECT_EQ(lines[2].find('0', 4), lines[2].find("100") + 1) << lines[2];  // no 0 but that of 100
  EXPECT_NE(lines[2].find("n/a/n/a"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("GPU is lost"), std::string::npos) << lines[3];
  EXPECT_NE(lines[3].find("   -  "), std::string::npos) << lines[3];
  EXPECT_EQ(lines[3].find("n/a"), std::string::npos) << lines[3];
}

TEST(SampleTable, NamesProcessesAndThoseThatItCannotSee) {
  const Three three;
  const std::string table = sample_table(three.gpus, three.sample, somebody);
  EXPECT_NE(table.find("4242   ada  37 %   1 GiB   2m  python train.py\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find(
                "  99     ?     -       -    ?  (not a process of this PID namespace, or ended)\n"),
            std::string::npos)
      << table;
}

TEST(SampleTable, KeepsWhatAProcessOrGpuIsCalledInItsLine) {
  Three three;
  three.gpus[0].name = "H200\n9    100";
  const auto forger = [](int) {
    return ProcessInfo{.user = "eve", .command = "python -c import os\n0  1  root", .age_s = 1};
  };
  const std::size_t lines = split(sample_table(three.gpus, three.sample, somebody), '\n').size();
  EXPECT_EQ(split(sample_table(three.gpus, three.sample, forger), '\n').size(), lines);
}

TEST(SampleTable, SaysOfWhichGpuTheDriverDoesNotTellProcesses) {
  const Three three;
  const std::string table = sample_table(three.gpus, three.sample, somebody);
  EXPECT_TRUE(table.ends_with("\nGPU 1: the driver does not tell its processes\n")) << table;
  EXPECT_EQ(table.find("GPU 2: the driver"), std::string::npos) << "it is lost";
  EXPECT_EQ(table.find("GPU 0: the driver"), std::string::npos);
}

TEST(SampleCsv, HasAColumnAMetricAndAWordForUnsupported) {
  const Three three;
  const std::vector<std::string> head = split(trim(csv_head()), ',');
  EXPECT_EQ(head.size(), 4 + metric_count);
  EXPECT_EQ(head[4], "sm_active_percent");
  EXPECT_EQ(head.back(), "memory_busy_percent");
  const std::vector<std::string> lines = split(csv_lines(three.gpus, three.sample), '\n');
  ASSERT_EQ(lines.size(), 4u);  // the last is empty
  EXPECT_TRUE(
      lines[0].starts_with("1700000000.000,0,GPU-00000000-0000-1111-2222-333333333333,"
                           "\"H200, \"\"big\"\"\",40,40,40,0,2147483648,4294967296,"))
      << lines[0];
  EXPECT_NE(lines[1].find(",unsupported,unsupported,unsupported,100,unsupported"),
            std::string::npos)
      << lines[1];
  EXPECT_TRUE(lines[2].ends_with(std::string(metric_count, ','))) << lines[2];
}

TEST(SampleJson, HasStateSourcePeriodAndAgeOfEachValue) {
  const Three three;
  const nlohmann::json json = sample_json(three.gpus, three.sample, somebody);
  const nlohmann::json& first = json["gpus"][0]["metrics"]["sm_active"];
  EXPECT_EQ(first["state"], "measured");
  EXPECT_EQ(first["value"], 40.0);
  EXPECT_EQ(first["unit"], "%");
  EXPECT_EQ(first["source"], "test");
  EXPECT_EQ(first["period_s"], 1.0);
  EXPECT_NEAR(first["age_s"].get<double>(), 0.501, 1e-9);
  EXPECT_EQ(json["gpus"][0]["metrics"]["clock_limits"]["words"], "power, heat (hardware)");
  const nlohmann::json& second = json["gpus"][1]["metrics"]["power"];
  EXPECT_EQ(second["state"], "unsupported");
  EXPECT_FALSE(second.contains("value"));
  EXPECT_EQ(second["why"], "this GPU does not tell");
  EXPECT_EQ(json["gpus"][2]["fault"], "GPU is lost");
  EXPECT_EQ(json["gpus"][2]["metrics"]["power"]["state"], "no sample");
  EXPECT_TRUE(json["gpus"][2]["processes"].is_null());
  EXPECT_EQ(json["self_cpu"], 0.002);
  EXPECT_NEAR(json["self_call_us"].get<double>(), 1000, 1e-6);
}

TEST(SampleJson, HasNullForWhatIsNotKnownOfAProcess) {
  const Three three;
  const nlohmann::json json = sample_json(three.gpus, three.sample, somebody);
  const nlohmann::json& known = json["gpus"][0]["processes"][0];
  EXPECT_EQ(known["user"], "ada");
  EXPECT_EQ(known["sm_percent"], 37.0);
  const nlohmann::json& unknown = json["gpus"][0]["processes"][1];
  for (const char* key : {"user", "command", "age_s", "memory_bytes", "sm_percent"})
    EXPECT_TRUE(unknown.at(key).is_null()) << key;
}

TEST(SampleText, SaysWhereALockstepRunIs) {
  const Three three;
  const FindProcess find = [](int pid) {
    std::optional<ProcessInfo> who = somebody(pid);
    if (who)
      who->run = OwnRun{.name = "first-try",
                        .path = "/runs/first-try",
                        .job = "train",
                        .step = 1200,
                        .total_steps = 20000,
                        .units_per_s = 1.02e6,
                        .unit = "tokens"};
    return who;
  };
  const std::string table = sample_table(three.gpus, three.sample, find);
  EXPECT_NE(table.find("  run first-try 1200/20000 1.02M tok/s: python train.py\n"),
            std::string::npos)
      << table;
  const nlohmann::json json = sample_json(three.gpus, three.sample, find);
  const nlohmann::json& run = json["gpus"][0]["processes"][0]["run"];
  EXPECT_EQ(run["name"], "first-try");
  EXPECT_EQ(run["step"], 1200);
  EXPECT_EQ(run["total_steps"], 20000);
  EXPECT_EQ(run["units_per_s"], 1.02e6);
  EXPECT_EQ(run["unit"], "tokens");
  EXPECT_TRUE(run["eta_s"].is_null());
  EXPECT_TRUE(json["gpus"][0]["processes"][1]["run"].is_null());
}

TEST(ClockLimits, AreWordsAndIdleIsNone) {
  EXPECT_EQ(clock_limit_words(0), "");
  EXPECT_EQ(clock_limit_words(1), "");
  EXPECT_EQ(clock_limit_words(0x24), "power, heat");
}

}  // namespace
}  // namespace lockstep
