// The history as the page gets it.
#include "tools/monitor/serve/page_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

using nlohmann::json;

MonitorSample page_sample_of(long long number, double power) {
  MonitorSample sample{.number = number, .wall_s = 1.7e9 + static_cast<double>(number)};
  sample.gpus.resize(2);
  sample.gpus[0][GpuMetric::power] = measured(power);
  sample.gpus[0][GpuMetric::sm_active] = measured(33.333);
  sample.gpus[0][GpuMetric::memory_used] = measured(3.0 * (1 << 20));
  sample.gpus[0][GpuMetric::pcie_sent] = measured(1234567890);
  if (number == 2) sample.gpus[0][GpuMetric::sm_active] = {};
  sample.gpus[1][GpuMetric::power] = unsupported();
  return sample;
}

std::vector<GpuInfo> two_gpus() {
  return {{.index = 0, .uuid = "GPU-a", .name = "H200"},
          {.index = 4, .uuid = "GPU-b", .name = "<script>\xff"}};
}

TEST(HistoryJson, HasColumnsOfWhatWasMeasuredAndNullForTheRest) {
  History history(2, 10);
  for (int i = 1; i <= 3; ++i) history.add(page_sample_of(i, 100.4 * i));
  const json data = json::parse(history_json(
      two_gpus(), history, 0, {.start_s = 5, .interval_s = 2, .age_s = 0.5, .hanging_s = 0}));
  EXPECT_EQ(data["newest"], 3);
  EXPECT_EQ(data["start"], 5.0);
  EXPECT_EQ(data["interval_s"], 2.0);
  EXPECT_EQ(data["time"], json({1.7e9 + 1, 1.7e9 + 2, 1.7e9 + 3}));
  EXPECT_EQ(data["gpus"][1]["gpu"], 4);
  EXPECT_EQ(data["values"]["power"], json::parse("[[100,201,301],null]"));
  EXPECT_EQ(data["values"]["sm_active"], json::parse("[[33.3,null,33.3],null]"));
  EXPECT_EQ(data["values"]["memory_used"], json::parse("[[3,3,3],null]"));
  EXPECT_EQ(data["metrics"]["memory_used"]["scale"], 1 << 20);
  EXPECT_EQ(data["values"]["pcie_sent"], json::parse("[[1.23e9,1.23e9,1.23e9],null]"));
}

TEST(HistoryJson, HasOnlyWhatIsNew) {
  History history(2, 10);
  EXPECT_EQ(json::parse(history_json(two_gpus(), history, 0, {.age_s = -1}))["time"].size(), 0u);
  EXPECT_TRUE(json::parse(history_json(two_gpus(), history, 0, {.age_s = -1}))["age_s"].is_null());
  for (int i = 1; i <= 5; ++i) history.add(page_sample_of(i, i));
  EXPECT_EQ(json::parse(history_json(two_gpus(), history, 3, {}))["values"]["power"][0],
            json({4, 5}));
  EXPECT_EQ(json::parse(history_json(two_gpus(), history, 5, {}))["time"].size(), 0u);
  EXPECT_EQ(json::parse(history_json(two_gpus(), history, 99, {}))["time"].size(), 0u);
}

TEST(HistoryJson, OfEightGpusAndAnHourStaysSmall) {
  std::vector<GpuInfo> gpus(8, {.name = "H200"});
  History history(8, 3600);
  for (int i = 1; i <= 4000; ++i) {
    MonitorSample sample{.number = i, .wall_s = 1.7e9 + i};
    sample.gpus.resize(8);
    for (GpuSample& gpu : sample.gpus)
      for (Reading& reading : gpu.readings) reading = measured(98.7654321 * i);
    history.add(sample);
  }
  const std::string text = history_json(gpus, history, 0, {});
  EXPECT_LT(text.size(), 4u << 20);
  EXPECT_EQ(json::parse(text)["time"].size(), 3600u);
}

}  // namespace
}  // namespace lockstep
