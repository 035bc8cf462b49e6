// Evidence written as a recording and read again; recordings that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/fake_reader.h"
#include "fakes/tenths.h"
#include "runtime/run/events/json_lines.h"
#include "tools/doctor/evidence/look.h"
#include "tools/doctor/report.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class EvidenceJson : public ::testing::Test {
 protected:
  Evidence read(const std::string& text) {
    std::ofstream(folder_.path() / "x.jsonl", std::ios::binary) << text;
    return read_evidence(folder_.path() / "x.jsonl");
  }
  Evidence again(const Evidence& evidence) { return read(recording_of(evidence)); }
  TemporaryDirectory folder_;
};

ProcessEvidence full() {
  return {.pid = 40,
          .parent = 7,
          .group = 20,
          .session = 30,
          .user = "mé",
          .command = "python3 \x1b[2J\n\"train.py\"",
          .state = 'D',
          .age_s = 900.5,
          .cpu_s = 12.25,
          .io_s = 0.5,
          .read_bytes = 1e12,
          .threads = 33,
          .busiest = {{41, "a \"b\"", 9.5}, {40, "main", 1}},
          .environment = {{"CUDA_VISIBLE_DEVICES", ""}, {"RANK", "0"}},
          .gpu_files = {0, 12},
          .control_file = true,
          .uvm_file = true,
          .libraries = {"libcuda.so.1", "libtorch.so"},
          .unreadable = {"environ: Permission denied"}};
}

Evidence all() {
  Evidence evidence{.gpus = {{.index = 0, .uuid = "GPU-0a", .name = "NVIDIA H200"},
                             {.index = 3, .uuid = "GPU-1a", .name = "NVIDIA A30"}},
                    .places = {{.device_file = "/dev/nvidia0",
                                .denied = "Operation not permitted",
                                .compute_mode = "prohibited",
                                .mig = true,
                                .mig_instances = 2,
                                .pcie_generation = 5,
                                .pcie_lanes = 16,
                                .default_power_limit_w = 700,
                                .ecc_uncorrected = 3,
                                .remap_pending = true,
                                .remap_failed = true,
                                .faults = {{.xid = 79, .times = 2, .at_s = 60}}},
                               {.mig = std::nullopt}},
                    .driver = "580.65.06",
                    .no_gpus = "why",
                    .gpus_of_host = 8,
                    .numbers_of_host = true,
                    .cores = 32,
                    .environment = {{"SLURM_JOB_ID", "5"}},
                    .cuda_fastest = {{"1a", "0a"}},
                    .subject = 40};
  for (const double at_s : {1.0, 2.0}) {
    MonitorSample sample{.number = static_cast<long long>(at_s), .wall_s = 100, .at_s = at_s};
    sample.gpus.resize(2);
    sample.gpus[0][GpuMetric::gpu_busy] = measured(90, at_s);
    sample.gpus[0].processes = {{.pid = 40, .memory_bytes = 4096, .sm_percent = 30}};
    sample.gpus[0].processes_known = true;
    sample.gpus[1].fault = "GPU is lost";
    evidence.samples.push_back(sample);
    evidence.snapshots.push_back(
        {.at_s = at_s, .processes = {{40, full()}}, .parents = {{40, 7}, {7, 1}}});
  }
  return evidence;
}

TEST_F(EvidenceJson, HasEverythingAgain) {
  const Evidence before = all(), after = again(before);
  EXPECT_EQ(place_json(after), place_json(before));
  ASSERT_EQ(after.snapshots.size(), 2u);
  for (const std::size_t i : {0u, 1u})
    EXPECT_EQ(snapshot_json(after.snapshots[i]), snapshot_json(before.snapshots[i]));
  EXPECT_EQ(after.gpus.at(1).index, 3);
  EXPECT_EQ(after.cuda_fastest, before.cuda_fastest);
  EXPECT_EQ(after.subject, 40);
  EXPECT_TRUE(after.numbers_of_host);
  EXPECT_EQ(after.environment, before.environment);
  EXPECT_EQ(after.snapshots[0].parents, before.snapshots[0].parents);
  EXPECT_EQ(after.places.at(0).denied, "Operation not permitted");
  EXPECT_EQ(after.places.at(0).mig, true);
  EXPECT_EQ(after.places.at(1).mig, std::nullopt);
  EXPECT_EQ(after.places.at(0).ecc_uncorrected, 3u);
  EXPECT_EQ(after.places.at(1).ecc_uncorrected, std::nullopt);
  EXPECT_TRUE(after.places.at(0).remap_pending && after.places.at(0).remap_failed);
  EXPECT_EQ(after.places.at(0).faults.at(0).xid, 79);
  EXPECT_EQ(after.places.at(0).faults.at(0).times, 2);
  EXPECT_EQ(after.places.at(0).faults.at(0).at_s, 60);
  const ProcessEvidence& one = after.snapshots[0].processes.at(40);
  EXPECT_EQ(one.command, full().command);
  EXPECT_EQ(one.state, 'D');
  EXPECT_EQ(one.io_s, 0.5);
  EXPECT_EQ(one.busiest.at(0).name, "a \"b\"");
  EXPECT_EQ(one.environment, full().environment);
  EXPECT_EQ(one.gpu_files, full().gpu_files);
  EXPECT_FALSE(one.can_read("environ"));
  ASSERT_EQ(after.samples.size(), 2u);
  EXPECT_EQ(after.samples[1].gpus[1].fault, "GPU is lost");
  EXPECT_EQ(recording_of(after), recording_of(before));
}

TEST_F(EvidenceJson, KeepsWhatIsNotKnownUnknown) {
  Evidence bare = all();
  bare.subject.reset();
  bare.cuda_fastest.reset();
  for (ProcessSnapshot& snapshot : bare.snapshots) snapshot.processes = {{40, {.pid = 40}}};
  const Evidence after = again(bare);
  EXPECT_EQ(after.subject, std::nullopt);
  EXPECT_EQ(after.cuda_fastest, std::nullopt);
  const ProcessEvidence& one = after.snapshots.at(0).processes.at(40);
  EXPECT_EQ(one.io_s, std::nullopt);
  EXPECT_EQ(one.read_bytes, std::nullopt);
  EXPECT_EQ(one.state, '?');
  EXPECT_FALSE(one.uvm_file);
}

TEST_F(EvidenceJson, WithoutSamplesIsStillARecording) {
  Evidence none = all();
  none.samples.clear();
  none.snapshots.clear();
  const Evidence after = again(none);
  EXPECT_EQ(after.gpus.size(), 2u);
  EXPECT_TRUE(after.samples.empty());
  EXPECT_NO_THROW(report_text(make_scene(after), diagnose(make_scene(after)), 80));
}

// Every member of every line in turn is something else: it is refused with an Error, or read and
// reported without it.
TEST_F(EvidenceJson, SurvivesAnythingInAnyPlace) {
  const std::vector<std::string> lines = split(trim(recording_of(all())), '\n');
  const json others[] = {json(),
                         true,
                         -1,
                         1e300,
                         9223372036854775807,
                         "\x01\n\x1b[31m",
                         json::array(),
                         json::array({json()}),
                         json::object(),
                         json::array({json::array({-1, "x", 1e300}), "x", json::object()})};
  int read_whole = 0, refused = 0;
  std::set<std::string> kinds;  // one line of each
  std::size_t number = 0;
  // All metrics are read alike: those of the second GPU and all but one reason are left alone.
  const auto is_like_others = [](const std::string& place) {
    return place.starts_with("/gpus/1/v/") || place.starts_with("/gpus/1/about/") ||
           (place.starts_with("/gpus/0/about/") && !place.starts_with("/gpus/0/about/gpu_busy"));
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const json whole = json::parse(lines[i]), flat = whole.flatten();
    if (!kinds.insert(whole["kind"]).second) continue;
    std::set<std::string> places;
    for (const auto& [place, value] : flat.items())
      for (std::size_t end = place.size(); end != std::string::npos && end > 0;
           end = place.rfind('/', end - 1))
        if (!is_like_others(place)) places.insert(place.substr(0, end));
    for (const std::string& place : places) {
      if (!testing::has_turn_twice(number++)) continue;
      for (const json& other : others) {
        json damaged = whole;
        damaged[json::json_pointer(place)] = other;
        std::vector<std::string> changed = lines;
        changed[i] = to_line(damaged);
        const std::string text = join(changed, "\n") + "\n";
        SCOPED_TRACE(cat("line ", i + 1, place, " = ", other.dump()));
        try {
          const Evidence evidence = read(text);
          const Scene scene = make_scene(evidence);
          const Findings findings = diagnose(scene);
          report_text(scene, about(scene, findings, evidence.subject), 80);
          report_json(scene, findings);
          ++read_whole;
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("x.jsonl"));
          ++refused;
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }
  EXPECT_GT(read_whole, 20);
  EXPECT_GT(refused, 20);
}

// A process whose number no process has is none, rather than another one.
TEST_F(EvidenceJson, LeavesOutNumbersThatAreNone) {
  const std::string text = recording_of(all());
  for (const char* none : {"4294967336", "-40", "40.5", "1e300"}) {
    std::string other = text;
    const std::size_t at = other.find("\"pid\":40,");
    ASSERT_NE(at, other.npos);
    other.replace(at, std::string("\"pid\":40").size(), cat("\"pid\":", none));
    const Evidence evidence = read(other);
    EXPECT_EQ(evidence.snapshots.front().processes.count(40), 0u) << none;
    EXPECT_EQ(evidence.snapshots.front().processes.size() + 1,
              read(text).snapshots.front().processes.size())
        << none;
  }
}

TEST_F(EvidenceJson, ReadsAllLinesBeforeOneThatWasCutOff) {
  const std::string text = recording_of(all());
  for (const std::size_t size : {text.size() - 1, text.size() / 2, text.find('\n') + 1})
    EXPECT_NO_THROW(read(text.substr(0, size))) << size;
  EXPECT_NE(error_of([&] { read(text.substr(0, text.find('\n'))); }), "");
}

TEST_F(EvidenceJson, TakesParentsInACircle) {
  Evidence evidence = all();
  for (ProcessSnapshot& snapshot : evidence.snapshots) {
    for (const int pid : {50, 51, 52}) snapshot.processes[pid] = full();
    for (auto& [pid, process] : snapshot.processes) process.pid = pid;
    snapshot.processes[50].parent = 51;
    snapshot.processes[51].parent = 50;
    snapshot.processes[52].parent = 51;
    snapshot.processes[40].parent = 40;
  }
  const Scene scene = make_scene(evidence);
  EXPECT_EQ(&scene.program_of(50), &scene.program_of(52));
  EXPECT_NE(&scene.program_of(50), &scene.program_of(40));
  EXPECT_NO_THROW(about(scene, diagnose(scene), 7));
}

}  // namespace
}  // namespace lockstep
