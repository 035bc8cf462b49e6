// Samples that are written and read again.
#include "tools/monitor/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/fake_probe.h"
#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

MonitorSample scene(int number) {
  MonitorSample sample{.number = number,
                       .wall_s = 1.7e9 + number,
                       .at_s = 50.0 + number,
                       .reading_s = 0.0005,
                       .self_cpu = 0.002};
  sample.gpus.resize(2);
  for (GpuSample& gpu : sample.gpus) {
    gpu[GpuMetric::sm_active] = measured(40.25 + number, sample.at_s, 1);
    gpu[GpuMetric::memory_used] = measured(67712843776, sample.at_s);
    gpu[GpuMetric::pcie_sent] = measured(1234560, 48);  // had before
    gpu[GpuMetric::tensor_active] = unsupported();
    gpu.processes_known = true;
    gpu.processes = {{.pid = 42, .memory_bytes = 1ull << 33, .sm_percent = 12.5},
                     {.pid = 43, .graphics = true}};
  }
  if (number == 2) {
    sample.gpus[1].fault = "GPU is lost";
    sample.gpus[1].processes_known = false;
    sample.gpus[1].processes.clear();
    sample.gpus[1][GpuMetric::sm_active] = {.why = "GPU is lost"};
  }
  return sample;
}

std::optional<ProcessInfo> who(int pid) {
  if (pid != 42) return std::nullopt;
  return ProcessInfo{.user = "ada", .command = "python train.py --token=abc", .age_s = 60};
}

std::string text_of(int samples) {
  SampleRecorder recorder(fake_probe(2).present);
  std::string text = recorder.head(1.7e9, {{"kept", 1}});
  for (int i = 1; i <= samples; ++i) text += recorder.lines(scene(i), who);
  return text;
}

struct RecordingTest : ::testing::Test {
  TemporaryDirectory folder;
  std::filesystem::path path = folder.path() / "r.jsonl";
  Recording open(const std::string& text) {
    std::ofstream(path) << text;
    return Recording(path);
  }
};

void expect_same(const Reading& a, const Reading& b, const char* name) {
  EXPECT_EQ(a.state, b.state) << name;
  EXPECT_EQ(a.source, b.source) << name;
  EXPECT_EQ(a.why, b.why) << name;
  EXPECT_EQ(a.period_s, b.period_s) << name;
  if (a.state != ReadingState::measured) return;
  EXPECT_EQ(a.value, b.value) << name;
  EXPECT_EQ(a.at_s, b.at_s) << name;
}

TEST_F(RecordingTest, ComesBackAsItWas) {
  Recording recording = open(text_of(4));
  EXPECT_EQ(recording.head()["kept"], 1);
  ASSERT_EQ(recording.gpus().size(), 2u);
  const GpuInfo gpu = fake_gpu(1);
  EXPECT_EQ(recording.gpus()[1].uuid, gpu.uuid);
  EXPECT_EQ(recording.gpus()[1].pci_bus_id, gpu.pci_bus_id);
  EXPECT_EQ(recording.gpus()[1].memory_total_bytes, gpu.memory_total_bytes);
  EXPECT_EQ(recording.gpus()[1].compute_major, 9);
  for (int i = 1; i <= 4; ++i) {
    const std::optional<MonitorSample> read = recording.next();
    ASSERT_TRUE(read) << i;
    const MonitorSample wanted = scene(i);
    EXPECT_EQ(read->number, wanted.number);
    EXPECT_EQ(read->wall_s, wanted.wall_s);
    EXPECT_EQ(read->at_s, wanted.at_s);
    EXPECT_EQ(read->self_cpu, wanted.self_cpu);
    for (std::size_t g = 0; g < 2; ++g) {
      EXPECT_EQ(read->gpus[g].fault, wanted.gpus[g].fault);
      EXPECT_EQ(read->gpus[g].processes_known, wanted.gpus[g].processes_known);
      ASSERT_EQ(read->gpus[g].processes.size(), wanted.gpus[g].processes.size());
      for (std::size_t p = 0; p < wanted.gpus[g].processes.size(); ++p) {
        EXPECT_EQ(read->gpus[g].processes[p].memory_bytes,
                  wanted.gpus[g].processes[p].memory_bytes);
        EXPECT_EQ(read->gpus[g].processes[p].sm_percent, wanted.gpus[g].processes[p].sm_percent);
        EXPECT_EQ(read->gpus[g].processes[p].graphics, wanted.gpus[g].processes[p].graphics);
      }
      for (const MetricInfo& metric : all_metrics())
        expect_same(read->gpus[g][metric.metric], wanted.gpus[g][metric.metric], metric.name);
    }
  }
  EXPECT_FALSE(recording.next());
  ASSERT_TRUE(recording.process(42));
  EXPECT_EQ(recording.process(42)->user, "ada");
  EXPECT_EQ(recording.process(42)->command, "python train.py --token=abc");
  EXPECT_EQ(recording.process(42)->age_s, 63);
  EXPECT_FALSE(recording.process(43));
}

TEST_F(RecordingTest, TakesATenthOfTheJsonOfASample) {
  SampleRecorder recorder(fake_probe(2).present);
  std::size_t as_json = 0, recorded = 0;
  for (int i = 1; i <= 100; ++i) {
    MonitorSample sample = scene(1);
    sample.number = i;
    for (GpuSample& gpu : sample.gpus)
      for (const MetricInfo& metric : all_metrics())
        gpu[metric.metric] = measured(30 + 0.37 * (i % 20), sample.at_s);
    as_json += sample_json(fake_probe(2).present, sample, who).dump().size();
    recorded += recorder.lines(sample, who).size();
  }
  EXPECT_LT(recorded * 10, as_json);
}

TEST_F(RecordingTest, ALineThatWasCutOffIsNoSample) {
  const std::string text = text_of(3);
  Recording recording = open(text.substr(0, text.size() - 5));
  EXPECT_TRUE(recording.next());
  EXPECT_TRUE(recording.next());
  EXPECT_FALSE(recording.next());
}

TEST_F(RecordingTest, DamageIsNamedWithItsLine) {
  std::string text = text_of(2);
  const std::size_t place = text.rfind("{\"at\"");
  ASSERT_NE(place, text.npos);
  Recording broken = open(text.substr(0, place) + "nonsense\n" + text.substr(place));
  broken.next();
  const std::string error = error_of([&] { broken.next(); });
  EXPECT_NE(error.find("line 4"), std::string::npos) << error;

  for (const char* damage :
       {R"("v":[true])", R"("v":[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,"x"])", R"("v":7)"}) {
    Recording recording =
        open(text_of(0) + R"({"kind":"sample","gpus":[{)" + damage + "},{" + damage + "}]}\n");
    EXPECT_NE(error_of([&] { recording.next(); }).find("line 2"), std::string::npos) << damage;
  }
}

// Which would otherwise be those of another GPU or process.
TEST_F(RecordingTest, NumbersOfGpusAndProcessesThatAreNoneAreRefused) {
  const std::string text = text_of(1);
  for (const char* none : {"4294967296", "-1", "0.5", "1e300"}) {
    nlohmann::json head = nlohmann::json::parse(text.substr(0, text.find('\n')));
    head["gpus"][0]["index"] = nlohmann::json::parse(none);
    EXPECT_THAT(error_of([&] { open(head.dump() + "\n"); }),
                HasSubstr("line 1: of a GPU, index must be a whole number from 0 to 2147483647"))
        << none;
    nlohmann::json sample = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2)));
    ASSERT_EQ(sample["kind"], "sample");
    sample["gpus"][0]["p"] = {{nlohmann::json::parse(none), 5, nullptr}};
    Recording recording = open(text_of(0) + sample.dump() + "\n");
    EXPECT_THAT(error_of([&] { recording.next(); }), HasSubstr("line 2: bad process")) << none;
  }
}

TEST_F(RecordingTest, WhatIsNoRecordingIsRefused) {
  for (const char* text : {"", "hello\n", "{}\n", "{\"kind\":\"sample\"}\n"})
    EXPECT_NE(error_of([&] { open(text); }).find("is not a recording"), std::string::npos) << text;
  EXPECT_NE(error_of([&] { open("{\"kind\":\"recording\",\"version\":2}\n"); }).find("version 2"),
            std::string::npos);
  EXPECT_NE(error_of([&] { Recording("/no/such/file"); }).find("No such file"), std::string::npos);
}

TEST_F(RecordingTest, OtherLinesAreHandedOut) {
  Recording recording = open(text_of(1) + "{\"kind\":\"other\",\"x\":1}\n");
  int others = 0;
  recording.on_other = [&](const nlohmann::json& line) { others += line["x"].get<int>(); };
  while (recording.next()) {
  }
  EXPECT_EQ(others, 1);
}

}  // namespace
}  // namespace lockstep
