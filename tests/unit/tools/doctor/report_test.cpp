// What the doctor says, at every width and whatever the names hold.
#include "tools/doctor/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_evidence.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::add_process;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_evidence;
using ::testing::Not;
using testing::put_on;

Finding full_finding() {
  return {.rule = "one-of-several",
          .verdict = "pid 40 (python3 train.py) may use 2 GPUs and uses one; GPU 1 idles",
          .confidence = Confidence::certain,
          .evidence = {"NVML: pid 40 is on GPU 0 with 1 MiB",
                       "/proc/40/environ: CUDA_VISIBLE_DEVICES is not set"},
          .next = {"torchrun --nproc-per-node=2 SCRIPT, with the device of each rank set before "
                   "the first call of CUDA"},
          .open = {"only you know whether the program is meant to use one GPU"},
          .gpus = {1},
          .pids = {40}};
}

Evidence looked_at() {
  Evidence evidence = made_evidence(2);
  add_process(evidence, {.pid = 40, .parent = 7});
  put_on(evidence, 40, 0);
  put_on(evidence, 777, 1);
  return evidence;
}

TEST(DoctorReport, FitsItsWidth) {
  const Evidence evidence = looked_at();
  const Scene scene = make_scene(evidence);
  for (const int width : {40, 80, 200}) {
    const std::string text = report_text(scene, {full_finding(), full_finding()}, width);
    for (const std::string& line : split(text, '\n')) {
      const bool one_word = trim(line).find(' ') == std::string::npos;
      EXPECT_TRUE(line.size() <= static_cast<std::size_t>(width) || one_word) << line;
      EXPECT_EQ(line.find_last_not_of(' '), line.empty() ? std::string::npos : line.size() - 1)
          << "\"" << line << "\"";
    }
  }
  EXPECT_EQ(report_text(scene, {full_finding()}, 0), report_text(scene, {full_finding()}, 40));
}

TEST(DoctorReport, BreaksAWordThatDoesNotFitNowhere) {
  const Evidence evidence = looked_at();
  Finding finding = full_finding();
  finding.next = {"first " + std::string(100, 'x') + " last"};
  const std::string text = report_text(make_scene(evidence), {finding}, 40);
  EXPECT_THAT(text,
              HasSubstr("do:   first\n         " + std::string(100, 'x') + "\n         last\n"));
}

TEST(DoctorReport, SaysAllOfAFinding) {
  const Evidence evidence = looked_at();
  const std::string text = report_text(make_scene(evidence), {full_finding()}, 200);
  EXPECT_THAT(text, HasSubstr("\n1. pid 40 (python3 train.py) may use 2 GPUs and uses one; GPU 1 "
                              "idles (certain; one-of-several)\n"
                              "   seen: NVML: pid 40 is on GPU 0 with 1 MiB\n"
                              "   seen: /proc/40/environ: CUDA_VISIBLE_DEVICES is not set\n"
                              "   do:   torchrun --nproc-per-node=2"));
  EXPECT_THAT(text, HasSubstr("\n   open: only you know whether the program"));
  EXPECT_THAT(text, Not(HasSubstr("nothing found")));
  EXPECT_THAT(text, HasSubstr("  pid 777 (of another PID namespace, or ended)\n"));
  EXPECT_THAT(report_text(make_scene(evidence), {}, 80), HasSubstr("\n\nnothing found\n"));
}

TEST(DoctorReport, HasNoControlCharacters) {
  Evidence evidence = made_evidence(2);
  const std::string evil = "a\x1b[2J\n1. GPU 0 is on fire\r\x7f";
  evidence.samples.back().gpus[1].fault = evil;
  add_process(evidence, {.pid = 40,
                         .command = evil,
                         .busiest = {{40, evil, 1}},
                         .environment = {{"CUDA_VISIBLE_DEVICES", "0\n" + evil}},
                         .libraries = {"libtorch\n.so"}});
  put_on(evidence, 40, 0);
  const Scene scene = make_scene(evidence);
  Finding finding = full_finding();
  finding.evidence.push_back(evil);
  Findings findings = diagnose(scene);
  EXPECT_FALSE(findings.empty());
  findings.push_back(finding);
  const std::string text = report_text(scene, findings, 80);
  for (const char letter : text)
    EXPECT_TRUE(letter == '\n' || (static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f));
  EXPECT_THAT(text, Not(HasSubstr("\n1. GPU 0 is on fire")));
  // As JSON they are what they were.
  EXPECT_EQ(report_json(scene, {finding})["findings"][0]["evidence"][2], evil);
}

TEST(DoctorReport, AsJsonHasEveryMember) {
  const Evidence evidence = looked_at();
  const json look = report_json(make_scene(evidence), {full_finding()});
  EXPECT_EQ(look["findings"], json::array({{{"rule", "one-of-several"},
                                            {"verdict", full_finding().verdict},
                                            {"confidence", "certain"},
                                            {"evidence", full_finding().evidence},
                                            {"next", full_finding().next},
                                            {"open", full_finding().open},
                                            {"gpus", {1}},
                                            {"pids", {40}}}}));
  EXPECT_EQ(look["seconds"], 2.0);
  ASSERT_EQ(look["gpus"].size(), 2u);
  EXPECT_EQ(look["gpus"][0]["gpu"], 0);
  EXPECT_EQ(look["gpus"][0]["pids"], json({40}));
  EXPECT_EQ(look["gpus"][0]["load"], "GPU 0: SM activity 0 % (0 to 0), busy 0 %, over 2.0 s");
  EXPECT_EQ(look["notes"], json::array());
}

TEST(DoctorReport, NotesWhatItCouldNotSee) {
  Evidence evidence = made_evidence(1);
  add_process(evidence, {.pid = 40, .unreadable = {"environ: no"}});
  for (MonitorSample& sample : evidence.samples) {
    sample.gpus[0][GpuMetric::sm_active] = unsupported();
    sample.gpus[0].processes_known = false;
  }
  const json notes = report_json(make_scene(evidence), {})["notes"];
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_THAT(notes[0].get<std::string>(), HasSubstr("who is on GPU 0 is not known"));
  EXPECT_THAT(notes[1].get<std::string>(), HasSubstr("from this driver"));
  EXPECT_THAT(notes[2].get<std::string>(), HasSubstr("1 process of other users"));
  EXPECT_THAT(report_text(make_scene(evidence), {}, 80), HasSubstr("\nnote: SM activity of GPU 0"));
}

TEST(DoctorReport, NotesWhyThereIsNoSmActivity) {
  Evidence evidence = made_evidence(3);
  for (MonitorSample& sample : evidence.samples)
    for (GpuSample& gpu : sample.gpus) gpu[GpuMetric::sm_active] = unsupported();
  evidence.gpus[0].compute_major = 8;
  evidence.gpus[1].compute_major = 7;
  evidence.gpus[2].compute_major = 9;
  evidence.places[2].mig = true;
  const json notes = report_json(make_scene(evidence), {})["notes"];
  ASSERT_GE(notes.size(), 2u);
  EXPECT_THAT(notes[0].get<std::string>(),
              HasSubstr("GPU 2 is not to be had as a whole while MIG"));
  EXPECT_THAT(notes[1].get<std::string>(), HasSubstr("GPUs 0, 1 is not to be had before Hopper"));
}

TEST(DoctorReport, NotesNothingOfAGpuThatIsLost) {
  Evidence evidence = made_evidence(2);
  for (MonitorSample& sample : evidence.samples) {
    sample.gpus[1].fault = "GPU is lost";
    sample.gpus[1].processes_known = false;
  }
  EXPECT_EQ(report_json(make_scene(evidence), {})["notes"], json::array());
}

TEST(DoctorReport, IsAboutAProcessAndThoseBelowIt) {
  Evidence evidence = made_evidence(1);
  for (const auto& [pid, parent] : {std::pair(40, 7), {41, 40}, {50, 1}})
    add_process(evidence, {.pid = pid, .parent = parent});
  const auto finding = [](const char* rule, std::vector<int> pids) {
    return Finding{.rule = rule, .pids = std::move(pids)};
  };
  const Findings all{finding("a", {41}), finding("b", {50}), finding("c", {50, 40}),
                     finding("of the GPU", {})};
  const auto rules_about = [&](std::optional<int> pid) {
    std::vector<std::string> rules;
    const Scene scene = make_scene(evidence);
    for (const Finding& one : about(scene, all, pid)) rules.push_back(one.rule);
    return rules;
  };
  EXPECT_THAT(rules_about(std::nullopt), ElementsAre("a", "b", "c", "of the GPU"));
  EXPECT_THAT(rules_about(40), ElementsAre("a", "c", "of the GPU"));
  EXPECT_THAT(rules_about(7), ElementsAre("a", "c", "of the GPU"));  // itself not looked at
  EXPECT_THAT(rules_about(50), ElementsAre("b", "c", "of the GPU"));
  EXPECT_THAT(rules_about(3), ElementsAre("of the GPU"));
  evidence.subject = 3;
  evidence.snapshots.back().parents = {{50, 4}, {4, 3}};  // by way of 4, a shell
  EXPECT_THAT(rules_about(3), ElementsAre("b", "c", "of the GPU"));
}

}  // namespace
}  // namespace lockstep
