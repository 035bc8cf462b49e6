#include "tools/report/reports/gpu_series.h"

#include "tools/report/facts/gpu_facts.h"

#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr const char* log_head =
    "time,gpu,uuid,busy_percent,sm_active_percent,memory_busy_percent,dram_active_percent,"
    "memory_used_bytes,memory_total_bytes,power_w,power_limit_w,temperature_c,sm_clock_mhz,"
    "memory_clock_mhz,throttled_by,other_processes,other_memory_bytes\n";

class Gpus : public ::testing::Test {
 protected:
  GpuSeries read(const std::string& text) const {
    write_file_atomic(folder.path() / "gpu.csv", text);
    return read_gpu_series(folder.path() / "gpu.csv");
  }
  const TemporaryDirectory folder;
};

TEST_F(Gpus, HaveMeansEnergyAndTheTimeInWhichClocksWereHeldDown) {
  const GpuSeries series = read(
      std::string(log_head) + "100,0,A,50,40.0,,,10,80,300,700,60,1900,2600,none,0,0\n" +
      "100,1,B,,,,,20,80,,,,,,,,\n" + "102,0,A,70,,,,30,80,400,700,70,1800,2600,power;heat,2,9\n" +
      "103,0,A,90,,,,20,80,500,700,65,1700,2600,power,0,0\n");
  ASSERT_EQ(series.gpus.size(), 2U);
  const GpuCurves& a = series.gpus[0];
  EXPECT_EQ(a.samples, 3);
  EXPECT_EQ(a.busy.totals().mean(), 70);
  EXPECT_EQ(a.sm.totals().values, 1) << "an empty cell is not 0";
  EXPECT_EQ(a.memory_bytes.totals().high, 30);
  EXPECT_DOUBLE_EQ(*a.energy_j, 2 * 350 + 1 * 450) << "trapezoids";
  EXPECT_DOUBLE_EQ(a.throttled_s.at("power"), 3);
  EXPECT_DOUBLE_EQ(a.throttled_s.at("heat"), 2);
  EXPECT_DOUBLE_EQ(a.throttling_known_s, 3);
  EXPECT_EQ(a.most_other_processes, 2);
  EXPECT_FALSE(series.gpus[1].energy_j);
  EXPECT_EQ(series.gpus[1].busy.totals().values, 0);
}

TEST_F(Gpus, HaveTheEnergyThatAComparisonHas) {
  std::string text = log_head;
  for (const int second : {100, 101, 102, 103, 104, 140, 141})  // samples are missing
    text += cat(second, ",0,A,50,,,,,,", second < 110 ? 100 : 900, ",,,,,,,\n");
  const GpuSeries series = read(text);
  Trial trial;
  add_gpu_facts(read_gpu_use({folder.path() / "gpu.csv"}, {{100, 141}}), trial);
  ASSERT_TRUE(series.gpus[0].energy_j && trial.find("energy_j"));
  EXPECT_DOUBLE_EQ(*series.gpus[0].energy_j, 4 * 100 + 900);
  EXPECT_DOUBLE_EQ(trial.find("energy_j")->value, 4 * 100 + 900);
  EXPECT_DOUBLE_EQ(series.gpus[0].covered_s, 5);
  // Of several files, as the shares of a batch have.
  std::ofstream(folder.path() / "later.csv") << log_head << "142,0,A,50,,,,,,900,,,,,,,\n";
  const auto both =
      read_gpu_use({folder.path() / "gpu.csv", folder.path() / "later.csv"}, {{100, 142}});
  ASSERT_EQ(both.size(), 1U);
  EXPECT_DOUBLE_EQ(*both[0].energy_j, 4 * 100 + 2 * 900);
}

TEST_F(Gpus, OfAFileThatIsNoneAProblemIsTold) {
  EXPECT_NE(read("a,b\n1,2\n").problem, "");
  EXPECT_EQ(read("").problem, "");
  EXPECT_TRUE(read_gpu_series(folder.path() / "not there").gpus.empty());
  const GpuSeries damaged = read(std::string(log_head) + "half,a line\n\n1,0,A,5");
  EXPECT_EQ(damaged.bad_lines, 2);
  EXPECT_TRUE(damaged.gpus.empty()) << "a last line without its newline is being written";
}

TEST_F(Gpus, ANewStartBringsNoEnergyOfThePauseBefore) {
  std::string text = log_head;
  for (const int second : {100, 101, 5000, 5001}) text += cat(second, ",0,A,50,,,,,,100,,,,,,,\n");
  const GpuSeries series = read(text);
  EXPECT_DOUBLE_EQ(*series.gpus[0].energy_j, 200);
  EXPECT_DOUBLE_EQ(series.gpus[0].covered_s, 2);
  EXPECT_DOUBLE_EQ(series.gpus[0].busy.columns().back().at.time_s, 2);
}

}  // namespace
}  // namespace lockstep
