// What follows from evidence: loads, programs, visible GPUs, PID namespaces.
#include "tools/doctor/evidence/scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_evidence.h"

namespace lockstep {
namespace {

using testing::add_process;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::made_evidence;
using ::testing::Optional;
using testing::put_on;

TEST(Scene, OfNothingIsEmpty) {
  const Evidence none;
  const Scene scene = make_scene(none);
  EXPECT_THAT(scene.gpus, IsEmpty());
  EXPECT_THAT(scene.programs, IsEmpty());
  EXPECT_FALSE(scene.contexts_known);
  EXPECT_EQ(scene.time_s, 0);
}

TEST(Load, HasMeanAndEnds) {
  const Load load{.values = {0, 10, 20, 50}};
  EXPECT_EQ(load.mean(), 20);
  EXPECT_EQ(load.least(), 0);
  EXPECT_EQ(load.most(), 50);
  EXPECT_EQ(load.share(0, 20), 0.5);  // 20 itself is beyond
  EXPECT_EQ(Load().mean(), 0);
  EXPECT_EQ(Load().share(0, 1), 0);
  EXPECT_FALSE(Load().known());
}

TEST(Scene, CountsAReadingOnce) {
  Evidence evidence = made_evidence(1);
  for (MonitorSample& sample : evidence.samples) {
    sample.gpus[0][GpuMetric::power] = measured(70, 1);  // of the first sample, kept
    sample.gpus[0][GpuMetric::temperature] = unsupported();
  }
  evidence.samples[1].gpus[0][GpuMetric::gpu_busy] = measured(40, 3);
  const Scene scene = make_scene(evidence);
  EXPECT_THAT(scene.gpus[0][GpuMetric::power].values, ElementsAre(70));
  EXPECT_THAT(scene.gpus[0][GpuMetric::gpu_busy].values, ElementsAre(0, 40));
  EXPECT_TRUE(scene.gpus[0][GpuMetric::temperature].unsupported);
  EXPECT_FALSE(scene.gpus[0][GpuMetric::temperature].known());
  EXPECT_EQ(scene.time_s, 2);
}

TEST(Scene, TakesBusyForActivityBeforeHopper) {
  Evidence evidence = made_evidence(2);
  for (MonitorSample& sample : evidence.samples) {
    sample.gpus[0][GpuMetric::sm_active] = unsupported();
    sample.gpus[0][GpuMetric::gpu_busy].value = 60;
  }
  const Scene scene = make_scene(evidence);
  EXPECT_FALSE(scene.gpus[0].has_sm());
  EXPECT_EQ(scene.gpus[0].activity().mean(), 60);
  EXPECT_FALSE(scene.gpus[0].is_idle());
  EXPECT_TRUE(scene.gpus[1].is_idle());
}

TEST(Scene, DoesNotCallIdleWhatCannotBeRead) {
  Evidence evidence = made_evidence(1);
  for (MonitorSample& sample : evidence.samples)
    for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
      sample.gpus[0][metric] = unsupported();
  EXPECT_FALSE(make_scene(evidence).gpus[0].is_idle());
}

TEST(Scene, HasLoadsOfProcessesAndThreads) {
  Evidence evidence = made_evidence(1);
  add_process(evidence, {.pid = 40,
                         .age_s = 10,
                         .cpu_s = 5,
                         .io_s = 1,
                         .read_bytes = 100,
                         .busiest = {{41, "a", 3}, {42, "b", 2}}});
  ProcessEvidence& now = evidence.snapshots.back().processes[40];
  now = {.pid = 40,
         .command = "x",
         .age_s = 12,
         .cpu_s = 8,
         .io_s = 2,
         .read_bytes = 300,
         .busiest = {{42, "b", 4}, {41, "a", 4}, {43, "new", 1}}};
  const ProcessView view = make_scene(evidence).processes.at(40);
  EXPECT_DOUBLE_EQ(view.cores, 1.5);
  EXPECT_DOUBLE_EQ(view.io_share, 0.5);
  EXPECT_DOUBLE_EQ(view.read_bytes_per_s, 100);
  ASSERT_EQ(view.busiest.size(), 2u);
  EXPECT_EQ(view.busiest[0].name, "b");
  EXPECT_DOUBLE_EQ(view.busiest[0].cores, 1);
  EXPECT_DOUBLE_EQ(view.busiest[1].cores, 0.5);
  // The number is that of a younger process now.
  now.age_s = 1;
  EXPECT_EQ(make_scene(evidence).processes.at(40).cores, 0);
  // It ended before the second look.
  evidence.snapshots.back().processes.clear();
  EXPECT_THAT(make_scene(evidence).processes, IsEmpty());
}

TEST(Scene, HasWhereAProcessIs) {
  Evidence evidence = made_evidence(2);
  add_process(evidence, {.pid = 40});
  put_on(evidence, 40, 1, 100);
  evidence.samples[1].gpus[1].processes[0].memory_bytes = 50;
  evidence.samples[0].gpus[1].processes[0].sm_percent = 20;
  evidence.samples[1].gpus[1].processes[0].sm_percent = 40;
  const Scene scene = make_scene(evidence);
  EXPECT_THAT(scene.processes.at(40).memory, ElementsAre(::testing::Pair(1, 100)));
  EXPECT_EQ(scene.processes.at(40).sm.at(1), 30);
  EXPECT_TRUE(scene.contexts_known);
  EXPECT_THAT(scene.strangers, IsEmpty());
  EXPECT_FALSE(scene.is_shared(1, scene.program_of(40)));
}

std::optional<std::vector<std::size_t>> visible(
    const std::map<std::string, std::string>& variables) {
  Evidence evidence = made_evidence(4);
  add_process(evidence, {.pid = 40, .environment = variables});
  return make_scene(evidence).processes.at(40).visible;
}

TEST(Scene, HasTheGpusThatAnEnvironmentLeaves) {
  EXPECT_THAT(visible({}), Optional(ElementsAre(0, 1, 2, 3)));
  const std::string name = "CUDA_VISIBLE_DEVICES";
  EXPECT_THAT(visible({{name, "2,0"}}), Optional(ElementsAre(2, 0)));  // in CUDA's order
  EXPECT_THAT(visible({{name, ""}}), Optional(IsEmpty()));
  EXPECT_THAT(visible({{name, "-1"}}), Optional(IsEmpty()));
  EXPECT_THAT(visible({{name, "1,9,2"}}), Optional(ElementsAre(1)));  // up to the first bad one
  EXPECT_THAT(visible({{name, "GPU-3"}}), Optional(ElementsAre(3)));
  EXPECT_THAT(visible({{name, "1,1"}}), Optional(IsEmpty()));
}

TEST(Scene, SaysWhyItDoesNotKnowThem) {
  Evidence evidence = made_evidence(2);
  add_process(evidence, {.pid = 40, .unreadable = {"environ: Permission denied"}});
  EXPECT_EQ(make_scene(evidence).processes.at(40).visible, std::nullopt);
  EXPECT_EQ(make_scene(evidence).processes.at(40).why_not_visible,
            "its environment cannot be read");
  Evidence unlike = made_evidence(2);
  unlike.gpus[1].name = "NVIDIA A30";
  add_process(unlike, {.pid = 40});
  EXPECT_EQ(make_scene(unlike).processes.at(40).visible, std::nullopt);
  EXPECT_NE(make_scene(unlike).processes.at(40).why_not_visible, "");
  unlike.cuda_fastest = {{"1aaa", "0aaa"}};
  EXPECT_THAT(make_scene(unlike).processes.at(40).visible, Optional(ElementsAre(1, 0)));
}

TEST(Scene, MakesProgramsOfParentsAndBrothers) {
  Evidence evidence = made_evidence(1);
  const auto add = [&](int pid, int parent, int group, const std::string& command,
                       const std::map<std::string, std::string>& environment = {}) {
    add_process(evidence, {.pid = pid,
                           .parent = parent,
                           .group = group,
                           .command = command,
                           .environment = environment});
  };
  add(10, 1, 10, "python3 launch.py");
  add(11, 10, 10, "python3 train.py");
  add(12, 11, 10, "loader");
  // Started side by side by a shell that is not looked at.
  add(20, 5, 5, "python3 rank.py --rank 0");
  add(21, 5, 5, "python3 rank.py --rank 1");
  add(22, 5, 5, "python3 other.py");
  add(23, 5, 23, "python3 rank.py --rank 0");  // another job of the shell
  // Alike, but init's: nothing holds them together.
  add(30, 1, 1, "server one");
  add(31, 1, 1, "server one");
  // Ranks that lost their launcher.
  add(40, 1, 40, "a b", {{"MASTER_PORT", "29500"}, {"RANK", "0"}});
  add(41, 1, 41, "a b", {{"MASTER_PORT", "29500"}, {"RANK", "1"}});
  add(42, 1, 42, "a b", {{"MASTER_PORT", "29501"}, {"RANK", "0"}});
  put_on(evidence, 11, 0);
  const Scene scene = make_scene(evidence);
  std::vector<std::vector<int>> programs;
  for (const Program& program : scene.programs) programs.push_back(program.pids);
  EXPECT_THAT(programs,
              ::testing::UnorderedElementsAre(
                  ElementsAre(10, 11, 12), ElementsAre(20, 21), ElementsAre(22), ElementsAre(23),
                  ElementsAre(30), ElementsAre(31), ElementsAre(40, 41), ElementsAre(42)));
  EXPECT_EQ(scene.program_of(12).root, 10);
  EXPECT_THAT(scene.program_of(12).users, ElementsAre(11));
  EXPECT_TRUE(scene.is_shared(0, scene.program_of(20)));
}

TEST(Scene, HasEachNotebookOfAServerAsAProgram) {
  Evidence evidence = made_evidence(1);
  const std::string kernel = "python3 -m ipykernel_launcher -f kernel-";
  add_process(evidence, {.pid = 10, .group = 10, .command = "python3 /usr/bin/jupyter-lab"});
  for (const int pid : {11, 12})
    add_process(evidence, {.pid = pid, .parent = 10, .group = pid, .command = cat(kernel, pid)});
  add_process(evidence, {.pid = 13, .parent = 12, .group = 12, .command = "python3 train.py"});
  std::vector<std::vector<int>> programs;
  for (const Program& program : make_scene(evidence).programs) programs.push_back(program.pids);
  EXPECT_THAT(programs, ::testing::UnorderedElementsAre(ElementsAre(10), ElementsAre(11),
                                                        ElementsAre(12, 13)));
}

TEST(Scene, SeesThatNvmlCountsInAnotherNamespace) {
  Evidence evidence = made_evidence(1);
  add_process(evidence, {.pid = 40, .uvm_file = true, .libraries = {"libcuda.so.1"}});
  put_on(evidence, 777, 0);
  put_on(evidence, 778, 0);
  EXPECT_FALSE(make_scene(evidence).contexts_known);
  EXPECT_THAT(make_scene(evidence).strangers, ElementsAre(777, 778));
  // Some of the numbers are those of here.
  put_on(evidence, 40, 0);
  EXPECT_TRUE(make_scene(evidence).contexts_known);
  // NVML says nothing of processes.
  Evidence silent = made_evidence(1);
  for (MonitorSample& sample : silent.samples) sample.gpus[0].processes_known = false;
  EXPECT_FALSE(make_scene(silent).contexts_known);
}

// In a container with a PID namespace of its own, in which all is seen.
Evidence in_container(const std::vector<int>& with_cuda_open) {
  Evidence evidence = made_evidence(2);
  evidence.numbers_of_host = true;
  for (const std::size_t i : {0u, 1u}) evidence.places[i].device_file = cat("/dev/nvidia", i);
  for (ProcessSnapshot& snapshot : evidence.snapshots) snapshot.files_seen = true;
  for (const int pid : with_cuda_open)
    add_process(evidence,
                {.pid = pid, .gpu_files = {0, 1}, .uvm_file = true, .libraries = {"libcuda.so.1"}});
  return evidence;
}

void use_memory(Evidence& evidence, std::size_t gpu, double bytes) {
  for (MonitorSample& sample : evidence.samples)
    sample.gpus[gpu][GpuMetric::memory_used] = measured(bytes, sample.at_s);
}

TEST(Scene, InfersWhoIsMeantByTheOnlyNumberOfTheHost) {
  Evidence evidence = in_container({40});
  add_process(evidence, {.pid = 41, .libraries = {"libcuda.so.1"}});  // it has not started CUDA
  put_on(evidence, 777, 1, 100);
  const Scene scene = make_scene(evidence);
  EXPECT_TRUE(scene.contexts_known);
  EXPECT_THAT(scene.inferred, ElementsAre(::testing::Pair(40, 777)));
  EXPECT_THAT(scene.processes.at(40).memory, ElementsAre(::testing::Pair(1, 100)));
  EXPECT_THAT(scene.strangers, IsEmpty());
  EXPECT_THAT(scene.gpus[1].pids, ElementsAre(40));
  EXPECT_FALSE(scene.is_shared(1, scene.program_of(40)));
}

TEST(Scene, InfersSeveralOnlyWhereItDoesNotMatterWhoIsWho) {
  Evidence evidence = in_container({40, 41});
  put_on(evidence, 777, 0, 100);
  put_on(evidence, 778, 0, 200);
  const Scene scene = make_scene(evidence);
  EXPECT_THAT(scene.inferred, ElementsAre(::testing::Pair(40, 777), ::testing::Pair(41, 778)));
  for (const int pid : {40, 41})  // which of the two has how much is not known
    EXPECT_THAT(scene.processes.at(pid).memory, ElementsAre(::testing::Pair(0, 0)));
  put_on(evidence, 778, 1);
  EXPECT_THAT(make_scene(evidence).inferred, IsEmpty());
  put_on(evidence, 777, 1);
  EXPECT_THAT(make_scene(evidence).inferred, IsEmpty());  // each has a home, but which
}

TEST(Scene, InfersOfMemoryInUseWhereNvmlNamesNobody) {
  Evidence evidence = in_container({40});
  EXPECT_THAT(make_scene(evidence).inferred, IsEmpty());  // what is in use is not known
  EXPECT_FALSE(make_scene(evidence).contexts_known);
  use_memory(evidence, 0, 4 << 20);
  use_memory(evidence, 1, 600 << 20);
  const Scene scene = make_scene(evidence);
  EXPECT_TRUE(scene.contexts_known);
  EXPECT_THAT(scene.processes.at(40).memory, ElementsAre(::testing::Pair(1, 600 << 20)));
  EXPECT_THAT(scene.gpus[1].pids, ElementsAre(40));
  use_memory(evidence, 1, 1e300);  // of a damaged recording
  EXPECT_EQ(make_scene(evidence).processes.at(40).memory.size(), 1u);
}

TEST(Scene, InfersNothingWhereAnotherCouldBeMeant) {
  const auto infers = [](const Evidence& evidence) {
    return !make_scene(evidence).inferred.empty();
  };
  const auto with_one = [] {
    Evidence evidence = in_container({40});
    put_on(evidence, 777, 1);
    use_memory(evidence, 0, 4 << 20);
    return evidence;
  };
  const auto change = [](Evidence& evidence, const auto& changed) {
    for (ProcessSnapshot& snapshot : evidence.snapshots) changed(snapshot.processes.at(40));
  };
  ASSERT_TRUE(infers(with_one()));
  Evidence evidence = with_one();
  evidence.numbers_of_host = false;  // 777 has ended
  EXPECT_FALSE(infers(evidence));
  evidence = with_one();
  evidence.snapshots.back().files_seen = false;  // another user's may have CUDA open
  EXPECT_FALSE(infers(evidence));
  evidence = with_one();
  put_on(evidence, 778, 1);  // another container's, or both
  EXPECT_FALSE(infers(evidence));
  evidence = in_container({40, 41});  // 41 has no context
  put_on(evidence, 777, 1);
  EXPECT_FALSE(infers(evidence));
  EXPECT_FALSE(make_scene(evidence).contexts_known);
  evidence = in_container({40, 41});  // NVML names it by its number here
  put_on(evidence, 777, 1);
  put_on(evidence, 40, 1);
  EXPECT_FALSE(infers(evidence));
  EXPECT_THAT(make_scene(evidence).strangers, ElementsAre(777));
  evidence = with_one();
  change(evidence, [](ProcessEvidence& process) { process.gpu_files = {0}; });
  EXPECT_FALSE(infers(evidence));  // it cannot be on GPU 1
  evidence = with_one();
  change(evidence,
         [](ProcessEvidence& process) { process.environment["CUDA_VISIBLE_DEVICES"] = "0"; });
  EXPECT_FALSE(infers(evidence));
  evidence = with_one();
  for (MonitorSample& sample : evidence.samples) sample.gpus[0].processes_known = false;
  EXPECT_FALSE(infers(evidence));
  evidence = in_container({40, 41});  // a fork has its parent's files
  for (const int pid : {777, 778}) put_on(evidence, pid, 1);
  EXPECT_TRUE(infers(evidence));
  for (ProcessSnapshot& snapshot : evidence.snapshots) snapshot.processes.at(41).parent = 40;
  EXPECT_FALSE(infers(evidence));
}

// A number of the host that some process has here too: who uses a GPU has files of it open.
TEST(Scene, TakesNoProcessForOneOfTheHost) {
  Evidence evidence = made_evidence(1);
  add_process(evidence, {.pid = 40, .libraries = {"libtorch_cpu.so"}});
  add_process(evidence, {.pid = 41, .gpu_files = {0}, .libraries = {"libcuda.so.1"}});
  add_process(evidence, {.pid = 42, .unreadable = {"fd: Permission denied"}});
  for (const int pid : {40, 41, 42}) put_on(evidence, pid, 0);
  EXPECT_THAT(make_scene(evidence).strangers, IsEmpty());
  evidence.numbers_of_host = true;
  const Scene scene = make_scene(evidence);
  EXPECT_THAT(scene.strangers, ElementsAre(40));
  EXPECT_THAT(scene.processes.at(40).memory, IsEmpty());
  EXPECT_EQ(scene.processes.at(41).memory.size(), 1u);
  EXPECT_EQ(scene.processes.at(42).memory.size(), 1u);
  EXPECT_TRUE(scene.is_shared(0, scene.program_of(40)));
}

}  // namespace
}  // namespace lockstep
