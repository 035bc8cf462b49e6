// Every rule against recordings of two H200s: one in which it finds something, one in which it must
// not, and one that only looks like it. Where a machine in that state is not to be had, a recording
// is changed in one place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "checkout_paths.h"
#include "core/base/text/text.h"
#include "fakes/fake_probe.h"
#include "fakes/fake_reader.h"
#include "tools/doctor/finding.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Evidence recorded(const std::string& name) {
  return read_evidence(std::filesystem::path(LOCKSTEP_SOURCE_DIR) /
                       "tests/unit/tools/doctor/recordings" / (name + ".jsonl"));
}

Findings found(const Evidence& evidence) {
  const Scene scene = make_scene(evidence);
  return diagnose(scene);
}

std::vector<std::string> rules_of(const Findings& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings) names.push_back(finding.rule);
  return names;
}

std::vector<std::string> rules(const Evidence& evidence) { return rules_of(found(evidence)); }

using Change = std::function<void(ProcessEvidence&)>;

// Changes the processes on a GPU, in both looks.
void change_users(Evidence& evidence, const Change& change) {
  std::set<int> users;
  for (const GpuSample& gpu : evidence.samples.front().gpus)
    for (const GpuProcess& one : gpu.processes) users.insert(one.pid);
  for (ProcessSnapshot& snapshot : evidence.snapshots)
    for (auto& [pid, process] : snapshot.processes)
      if (users.contains(pid)) change(process);
}

void set_metric(Evidence& evidence, std::size_t gpu, GpuMetric metric, double value) {
  for (MonitorSample& sample : evidence.samples)
    sample.gpus.at(gpu)[metric] = measured(value, sample.at_s);
}

void forget_metric(Evidence& evidence, GpuMetric metric) {
  for (MonitorSample& sample : evidence.samples)
    for (GpuSample& gpu : sample.gpus) gpu[metric] = unsupported();
}

int user_of(const Evidence& evidence, std::size_t gpu) {
  return evidence.samples.front().gpus.at(gpu).processes.at(0).pid;
}

TEST(DoctorRules, FindNothingInAHealthyProgram) {
  EXPECT_THAT(rules(recorded("healthy")), IsEmpty());
  EXPECT_THAT(rules(recorded("loaders_keep_up")), IsEmpty());
}

TEST(DoctorRules, OneOfSeveral) {
  const Findings findings = found(recorded("one_gpu"));
  ASSERT_THAT(rules_of(findings), ElementsAre("one-of-several"));
  EXPECT_THAT(findings[0].gpus, ElementsAre(1));
  EXPECT_EQ(findings[0].confidence, Confidence::likely);
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("torchrun --nproc-per-node=2"));
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("in it torch.distributed.init_process_group(), "));
  EXPECT_THAT(findings[0].next, Each(Not(HasSubstr("second GPU pay"))));
  for (const char* flag : {"--batch_size 1", "--batch-size=1", "--per_device_train_batch_size 1"}) {
    Evidence alone = recorded("one_gpu");
    change_users(alone,
                 [&](ProcessEvidence& one) { one.command = cat("python3 train.py ", flag); });
    EXPECT_THAT(found(alone).at(0).next,
                Contains(AllOf(HasSubstr(cat("with ", flag, " a step has one sample per GPU")),
                               HasSubstr("`lockstep help does a second GPU pay`"))))
        << flag;
  }
  for (const char* flags :
       {"--batch_size 16", "--per_device_train_batch_size 16 --per_device_eval_batch_size 1",
        "--batch-size 8 --test-batch-size=1", "--val_batch_size 1", "--batch_size",
        "--batch_size 1 --gradient_accumulation_steps 16"}) {
    Evidence larger = recorded("one_gpu");
    change_users(larger,
                 [&](ProcessEvidence& one) { one.command = cat("python3 train.py ", flags); });
    EXPECT_THAT(found(larger).at(0).next, Each(Not(HasSubstr("second GPU pay")))) << flags;
  }
  // It holds memory on the other one too, but nothing runs there.
  Evidence holds = recorded("one_gpu");
  const int own = user_of(holds, 0);
  for (MonitorSample& sample : holds.samples)
    sample.gpus[1].processes.push_back({.pid = own, .memory_bytes = 1 << 30});
  EXPECT_THAT(rules(holds), ElementsAre("one-of-several"));
  // A pause, or a notebook that nobody uses: whether it computes on one was not seen.
  Evidence rests = recorded("one_gpu");
  for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
    set_metric(rests, 0, metric, 0);
  const Findings maybe = found(rests);
  ASSERT_THAT(rules_of(maybe), ElementsAre("one-of-several"));
  EXPECT_THAT(maybe[0].verdict, HasSubstr("is on one, not seen to compute; GPU 1 idles"));
  EXPECT_EQ(maybe[0].confidence, Confidence::possible);
  EXPECT_THAT(maybe[0].evidence, ::testing::Contains(HasSubstr("GPU 0: SM activity 0 %")));
  EXPECT_THAT(maybe[0].open.at(0), HasSubstr("look again while it works"));
  // On a GPU that others are on, its own load decides.
  Evidence shared = recorded("one_gpu");
  const auto with_load = [&](double percent) {
    for (MonitorSample& sample : shared.samples) {
      std::vector<GpuProcess>& list = sample.gpus[0].processes;
      list.resize(1);
      list[0].sm_percent = percent;
      list.push_back({.pid = 999999, .memory_bytes = 1 << 30});
    }
    const Findings all = found(shared);
    return std::find_if(all.begin(), all.end(),
                        [](const Finding& one) { return one.rule == "one-of-several"; })
        ->verdict;
  };
  EXPECT_THAT(with_load(60), HasSubstr("computes on one"));
  EXPECT_THAT(with_load(0), HasSubstr("not seen to compute"));
  // In a container, named by a number of the host.
  Evidence container = recorded("one_gpu");
  for (MonitorSample& sample : container.samples)
    for (GpuSample& gpu : sample.gpus)
      for (GpuProcess& one : gpu.processes) one.pid = 999999;
  container.numbers_of_host = true;
  for (ProcessSnapshot& snapshot : container.snapshots) {
    snapshot.files_seen = true;
    ProcessEvidence& process = snapshot.processes.at(own);
    process.uvm_file = true;
    process.gpu_files = {0, 1};
    process.libraries.insert("libcuda.so.1");
  }
  const Findings less_sure = found(container);
  ASSERT_THAT(rules_of(less_sure), ElementsAre("one-of-several"));
  EXPECT_EQ(less_sure[0].confidence, Confidence::possible);
  EXPECT_THAT(less_sure[0].pids, ElementsAre(own));
  EXPECT_THAT(less_sure[0].evidence.at(0),
              HasSubstr(cat("pid 999999 is on GPU 0 with 2.32 GiB, a number of the host; /proc/",
                            own, "/fd: it has CUDA open")));
  // NVML names nobody: what is in use is that one's, and is not held by the dead.
  for (MonitorSample& sample : container.samples) {
    for (GpuSample& gpu : sample.gpus) gpu.processes.clear();
    sample.gpus[0][GpuMetric::memory_used] = measured(5e9, sample.at_s);
  }
  EXPECT_THAT(rules(container), ElementsAre("one-of-several"));
  // A desktop draws on both: that is no use of theirs.
  Evidence desktop = recorded("one_gpu");
  for (MonitorSample& sample : desktop.samples)
    for (GpuSample& gpu : sample.gpus)
      gpu.processes.push_back({.pid = 55555, .graphics = true, .memory_bytes = 4 << 20});
  EXPECT_THAT(rules(desktop), ElementsAre("one-of-several"));
  // Near: somebody else uses the other GPU.
  Evidence near = recorded("one_gpu");
  for (MonitorSample& sample : near.samples)
    sample.gpus[1].processes.push_back({.pid = 999999, .memory_bytes = 1 << 30});
  EXPECT_THAT(rules(near), IsEmpty());
  // Near: in a container or an allotment its environment does not tell what it sees.
  near = recorded("one_gpu");
  change_users(near, [](ProcessEvidence& process) { process.elsewhere = true; });
  EXPECT_THAT(rules(near), IsEmpty());
  near = recorded("one_gpu");
  change_users(near, [](ProcessEvidence& process) { process.environment["SLURM_JOB_ID"] = "7"; });
  EXPECT_THAT(rules(near), IsEmpty());
  near.environment["SLURM_JOB_ID"] = "7";  // the doctor is in it
  EXPECT_THAT(rules(near), ElementsAre("one-of-several"));
  // Near: of the other GPU nothing is known.
  near = recorded("one_gpu");
  for (MonitorSample& sample : near.samples) sample.gpus[1].processes_known = false;
  EXPECT_THAT(rules(near), IsEmpty());
  near = recorded("one_gpu");
  for (MonitorSample& sample : near.samples)
    for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
      sample.gpus[1][metric] = unsupported();
  EXPECT_THAT(rules(near), IsEmpty());
  // Near: MIG.
  near = recorded("one_gpu");
  change_users(near, [](ProcessEvidence& process) {
    process.environment["CUDA_VISIBLE_DEVICES"] = "MIG-12345678-0000-1111-2222-333333333333";
  });
  EXPECT_THAT(rules(near), IsEmpty());
}

const Finding* find_rule(const Findings& findings, const std::string& rule) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& one) { return one.rule == rule; });
  return found == findings.end() ? nullptr : &*found;
}

// torchrun --nproc-per-node=1 train.py on two GPUs.
TEST(DoctorRules, OneOfSeveralUnderALauncher) {
  const Findings findings = found(recorded("one_rank"));
  ASSERT_THAT(rules_of(findings), ElementsAre("one-of-several"));
  const Finding& one = findings[0];
  EXPECT_EQ(one.confidence, Confidence::likely);
  EXPECT_THAT(one.verdict, HasSubstr("pid 1270 (python3 -m torch.distributed.run"));
  EXPECT_THAT(one.verdict, HasSubstr("may use 2 GPUs and computes on one; GPU 1 idles"));
  EXPECT_THAT(one.gpus, ElementsAre(1));
  EXPECT_THAT(one.evidence, Contains("/proc/1270/cmdline: python3 -m torch.distributed.run "
                                     "--nproc-per-node=1 train.py"));
  EXPECT_THAT(one.evidence, Contains("/proc/1279/environ: WORLD_SIZE=1, LOCAL_WORLD_SIZE=1"));
  EXPECT_THAT(one.evidence, Contains("/proc/1279/environ: CUDA_VISIBLE_DEVICES is not set"));
  EXPECT_THAT(one.evidence, Contains(HasSubstr("GPU 0: SM activity 97 %")));
  EXPECT_THAT(one.evidence, Contains(HasSubstr("GPU 1: SM activity 0 %")));
  EXPECT_THAT(one.next, ElementsAre("--nproc-per-node=2 instead of --nproc-per-node=1: python3 -m "
                                    "torch.distributed.run --nproc-per-node=2 train.py"));
  // Of a world on several machines too: the others say nothing of this one's second GPU.
  Evidence world = recorded("one_rank");
  change_users(world, [](ProcessEvidence& process) { process.environment["WORLD_SIZE"] = "4"; });
  const Findings of_four = found(world);
  ASSERT_THAT(rules_of(of_four), ElementsAre("one-of-several"));
  EXPECT_THAT(of_four[0].open, Contains(HasSubstr("ranks on other machines, 4 in all")));
  // Near: the second rank has no context yet.
  Evidence near = recorded("one_rank");
  change_users(near,
               [](ProcessEvidence& process) { process.environment["LOCAL_WORLD_SIZE"] = "2"; });
  EXPECT_THAT(rules(near), IsEmpty());
}

// A kernel is one process for ever: a launcher cannot start it.
TEST(DoctorRules, OneOfSeveralInANotebook) {
  const auto notebook = [](const std::string& command, const char* recording = "one_gpu") {
    Evidence evidence = recorded(recording);
    change_users(evidence, [&](ProcessEvidence& process) { process.command = command; });
    return evidence;
  };
  for (const char* command : {"/usr/bin/python3 -m ipykernel_launcher -f kernel-1.json",
                              "/usr/bin/python3 -m colab_kernel_launcher -f /tmp/kernel-1.json"}) {
    const Findings findings = found(notebook(command));
    ASSERT_THAT(rules_of(findings), ElementsAre("one-of-several")) << command;
    const std::vector<std::string>& next = findings[0].next;
    ASSERT_EQ(next.size(), 5u);
    EXPECT_THAT(next[0], HasSubstr("%%writefile train.py"));
    EXPECT_THAT(next[1], HasSubstr("!lockstep launch python3 train.py; in it "));
    EXPECT_THAT(next[2], HasSubstr("notebook_launcher(train, num_processes=2)"));
    EXPECT_THAT(next[3], HasSubstr("lockstep batch run --gpus 1"));
    EXPECT_THAT(next[4], HasSubstr("lockstep help notebook"));
    for (const std::string& line : next) EXPECT_THAT(line, ::testing::Not(HasSubstr("torchrun")));
  }
  const Findings parallel =
      found(notebook("python3 -m ipykernel_launcher -f kernel-1.json", "data_parallel"));
  EXPECT_THAT(find_rule(parallel, "one-process-many")->next, Contains(HasSubstr("%%writefile")));
  // A model of trees has no use for torch's advice.
  Evidence trees = notebook("python3 -m ipykernel -f kernel-1.json");
  change_users(trees, [](ProcessEvidence& process) { process.libraries = {"lib_lightgbm.so"}; });
  const Findings of_trees = found(trees);
  EXPECT_THAT(of_trees[0].next, Contains("!lockstep launch python3 train.py"));
  EXPECT_THAT(of_trees[0].next, ::testing::Each(::testing::Not(HasSubstr("torch"))));
}

TEST(DoctorRules, SomeOfSeveral) {
  const Findings ranks = found(recorded("two_of_four"));
  ASSERT_THAT(rules_of(ranks), ElementsAre("one-of-several"));
  EXPECT_EQ(ranks[0].confidence, Confidence::likely);
  EXPECT_THAT(ranks[0].verdict,
              HasSubstr("may use 4 GPUs and computes on 2 (GPUs 0, 1); GPUs 2, 3 idle"));
  EXPECT_THAT(ranks[0].gpus, ElementsAre(2, 3));
  EXPECT_THAT(ranks[0].pids, ElementsAre(1213, 1214));
  EXPECT_THAT(ranks[0].next.at(0), HasSubstr("--nproc-per-node=4 instead of --nproc-per-node=2: "));
  EXPECT_THAT(ranks[0].evidence, Contains(HasSubstr("WORLD_SIZE=2, LOCAL_WORLD_SIZE=2")));
  // A rank that pauses is where it is: GPU 1 is not free.
  Evidence pauses = recorded("two_of_four");
  for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
    set_metric(pauses, 1, metric, 0);
  EXPECT_THAT(find_rule(found(pauses), "one-of-several")->gpus, ElementsAre(2, 3));
  // More ranks than GPUs that they use: they only have to spread.
  Evidence crowded = recorded("two_of_four");
  for (ProcessSnapshot& snapshot : crowded.snapshots)
    for (const int pid : {1215, 1216}) {
      snapshot.processes[pid] = snapshot.processes.at(1213);
      snapshot.processes[pid].pid = pid;
      snapshot.processes[pid].environment["LOCAL_RANK"] = cat(pid - 1213);
    }
  for (MonitorSample& sample : crowded.samples)
    for (const int i : {0, 1})
      sample.gpus[i].processes.push_back({.pid = 1215 + i, .memory_bytes = 1 << 30});
  EXPECT_THAT(find_rule(found(crowded), "one-of-several")->next,
              ElementsAre(HasSubstr("4 processes share 2 GPUs: torch.cuda.set_device")));

  // One process on two: DataParallel says which.
  const Findings parallel = found(recorded("data_parallel_of_four"));
  EXPECT_THAT(rules_of(parallel), ElementsAre("one-process-many", "one-of-several"));
  const Finding& two = *find_rule(parallel, "one-of-several");
  EXPECT_THAT(
      two.verdict,
      HasSubstr("pid 1895 (python3 train.py) may use 4 GPUs and computes on 2 (GPUs 0, 1); "));
  EXPECT_THAT(two.next.at(0), HasSubstr("torchrun --nproc-per-node=4 train.py; in it "));
  // Its own option is what to change.
  Evidence option = recorded("data_parallel_of_four");
  change_users(option, [](ProcessEvidence& one) { one.command = "python3 train.py --gpus 2"; });
  EXPECT_THAT(find_rule(found(option), "one-of-several")->next.at(0),
              HasSubstr("--gpus 4 instead of --gpus 2: python3 train.py --gpus 4"));
}

// vllm serve -tp 2 on four: its processes have titles in place of their environment.
TEST(DoctorRules, SomeOfSeveralOfAServer) {
  const Evidence evidence = recorded("vllm_of_four");
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("one-of-several"));
  EXPECT_THAT(findings[0].verdict, HasSubstr("vllm serve Qwen/Qwen3-14B -tp 2) may use 4 GPUs and "
                                             "computes on 2 (GPUs 0, 1); GPUs 2, 3 idle"));
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("-tp 4 instead of -tp 2: python3 "));
  EXPECT_THAT(findings[0].next.at(1), HasSubstr("attention heads"));
  EXPECT_THAT(findings[0].evidence,
              Contains("/proc/1173/environ: CUDA_VISIBLE_DEVICES is not set; pid 1213 has "
                       "overwritten its own"));
  // Nobody asks it anything.
  Evidence rests = evidence;
  for (const std::size_t gpu : {0u, 1u})
    for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
      set_metric(rests, gpu, metric, 0);
  const Findings maybe = found(rests);
  ASSERT_THAT(rules_of(maybe), ElementsAre("one-of-several"));
  EXPECT_EQ(maybe[0].confidence, Confidence::possible);
  EXPECT_THAT(maybe[0].open.at(0), HasSubstr("waits for requests"));
  // A mask of the server's is that of its workers.
  Evidence masked = evidence;
  for (ProcessSnapshot& snapshot : masked.snapshots)
    snapshot.processes.at(1173).environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  const Findings narrow = found(masked);
  ASSERT_THAT(rules_of(narrow), ElementsAre("narrowed"));
  EXPECT_THAT(narrow[0].evidence,
              Contains(HasSubstr("/proc/1173/environ: CUDA_VISIBLE_DEVICES=0,1")));
  // Where nobody's environment is left, which GPUs it may use is not known, and never "not set".
  Evidence blind = evidence;
  for (ProcessSnapshot& snapshot : blind.snapshots) {
    ProcessEvidence& server = snapshot.processes.at(1173);
    server.environment.clear();
    server.unreadable = snapshot.processes.at(1213).unreadable;
  }
  EXPECT_THAT(rules(blind), IsEmpty());
}

TEST(DoctorRules, SomeOfSeveralAreNotThoseOfOthers) {
  const auto with_tenant = [](std::initializer_list<std::size_t> gpus) {
    Evidence evidence = recorded("two_of_four");
    for (MonitorSample& sample : evidence.samples)
      for (const std::size_t gpu : gpus)
        sample.gpus[gpu].processes.push_back({.pid = 999999, .memory_bytes = 1 << 30});
    return evidence;
  };
  EXPECT_THAT(rules(with_tenant({2, 3})), IsEmpty());
  // Of one that is left it is less sure, and the rest is left out.
  const Findings one = found(with_tenant({3}));
  ASSERT_THAT(rules_of(one), ElementsAre("one-of-several"));
  EXPECT_EQ(one[0].confidence, Confidence::possible);
  EXPECT_THAT(one[0].gpus, ElementsAre(2));
  EXPECT_THAT(one[0].next.at(0), HasSubstr("--nproc-per-node=3 instead of"));
  EXPECT_THAT(one[0].next.at(1), HasSubstr("CUDA_VISIBLE_DEVICES=0,1,2"));
  EXPECT_THAT(one[0].open, Contains(HasSubstr("left to others")));
  // Near: nobody is named, but memory is held, as from another container.
  Evidence held = recorded("two_of_four");
  for (const std::size_t gpu : {2u, 3u}) set_metric(held, gpu, GpuMetric::memory_used, 40e9);
  EXPECT_THAT(rules(held), ::testing::Not(Contains("one-of-several")));
  // Near: what nobody may open, or use.
  Evidence closed = recorded("two_of_four");
  closed.places[2].compute_mode = "prohibited";
  closed.places[3].denied = "its permissions forbid it";
  EXPECT_THAT(rules(closed), ::testing::Not(Contains("one-of-several")));
  // Another model may be left out on purpose.
  Evidence unlike = recorded("two_of_four");
  for (const std::size_t gpu : {2u, 3u}) unlike.gpus[gpu].name = "NVIDIA A2";
  change_users(unlike,
               [](ProcessEvidence& one) { one.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"; });
  const Findings other = found(unlike);
  ASSERT_THAT(rules_of(other), ElementsAre("one-of-several"));
  EXPECT_EQ(other[0].confidence, Confidence::possible);
  EXPECT_THAT(other[0].open, Contains(HasSubstr("GPUs 2, 3 of NVIDIA A2 beside NVIDIA H200")));
}

TEST(DoctorRules, SomeOfSeveralOfAJobSaySo) {
  const auto in_job = [](const char* variable, const char* gpus) {
    Evidence evidence = recorded("two_of_four");
    evidence.environment[variable] = "7";  // the doctor is in it
    change_users(evidence, [&](ProcessEvidence& one) {
      one.environment[variable] = "7";
      if (*gpus) one.environment["SLURM_GPUS_ON_NODE"] = gpus;
    });
    return evidence;
  };
  const Findings slurm = found(in_job("SLURM_JOB_ID", "4"));
  ASSERT_THAT(rules_of(slurm), ElementsAre("one-of-several"));
  EXPECT_THAT(slurm[0].evidence, Contains(HasSubstr("SLURM_JOB_ID=7, SLURM_GPUS_ON_NODE=4")));
  EXPECT_THAT(slurm[0].open, Contains(HasSubstr("what Slurm gave it (SLURM_JOB_ID=7)")));
  EXPECT_THAT(found(in_job("PBS_JOBID", ""))[0].open, Contains(HasSubstr("what PBS gave it")));
  // Near: it uses what it was given, though it sees more.
  EXPECT_THAT(rules(in_job("SLURM_JOB_ID", "2")), IsEmpty());
  // Near: the doctor is not in the job, and does not know what it sees.
  Evidence outside = in_job("SLURM_JOB_ID", "4");
  outside.environment.clear();
  outside.environment["NVIDIA_VISIBLE_DEVICES"] = "0,1,2,3";
  EXPECT_THAT(rules(outside), IsEmpty());
}

// A launcher that masks each of its ranks, as Lockstep's own and DeepSpeed's.
TEST(DoctorRules, NarrowedByALauncher) {
  Evidence evidence = recorded("two_of_four");
  for (ProcessSnapshot& snapshot : evidence.snapshots)
    for (auto& [pid, process] : snapshot.processes) {
      if (pid == 1173) process.command = "/opt/lockstep train textgen --devices 0,1";
      if (pid != 1173)
        process.environment["CUDA_VISIBLE_DEVICES"] =
            evidence.gpus[process.environment.at("LOCAL_RANK") == "0" ? 0 : 1].uuid;
    }
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("narrowed"));
  EXPECT_THAT(findings[0].verdict, HasSubstr("GPUs 0, 1 only; GPUs 2, 3 idle"));
  EXPECT_THAT(findings[0].next, ElementsAre("without --devices 0,1: lockstep train textgen"));
  // One from outside is another matter.
  for (ProcessSnapshot& snapshot : evidence.snapshots)
    snapshot.processes.at(1173).environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  EXPECT_THAT(found(evidence)[0].next, ElementsAre(HasSubstr("start it without")));
}

TEST(DoctorRules, Narrowed) {
  const Findings findings = found(recorded("mask_of_one"));
  ASSERT_THAT(rules_of(findings), ElementsAre("narrowed"));
  EXPECT_THAT(findings[0].verdict, HasSubstr("CUDA_VISIBLE_DEVICES leaves pid"));
  EXPECT_THAT(findings[0].gpus, ElementsAre(1));
  // Near: two programs, each with its own GPU.
  Evidence near = recorded("mask_of_one");
  set_metric(near, 1, GpuMetric::gpu_busy, 80);
  for (MonitorSample& sample : near.samples)
    sample.gpus[1].processes = {{.pid = 999999, .memory_bytes = 1 << 30}};
  EXPECT_THAT(rules(near), IsEmpty());
  // Near: a process that is kept away from GPUs and does nothing.
  near = recorded("cpu_only");
  for (ProcessSnapshot& snapshot : near.snapshots)
    for (auto& [pid, process] : snapshot.processes) {
      process.environment["CUDA_VISIBLE_DEVICES"] = "";
      process.cpu_s = 1;
    }
  EXPECT_THAT(rules(near), IsEmpty());
  // A mask that hides all.
  Evidence hidden = recorded("cpu_only");
  for (ProcessSnapshot& snapshot : hidden.snapshots)
    for (auto& [pid, process] : snapshot.processes)
      process.environment["CUDA_VISIBLE_DEVICES"] = "";
  const Findings all = found(hidden);
  ASSERT_THAT(rules_of(all), ElementsAre("narrowed"));
  EXPECT_THAT(all[0].verdict, HasSubstr("hides every GPU"));
}

// Lockstep masks the GPUs of ranks that it was told to put on CPUs.
TEST(DoctorRules, NarrowedIsNoRunThatWasToldToUseCpus) {
  Evidence evidence = recorded("cpu_only");
  for (ProcessSnapshot& snapshot : evidence.snapshots) {
    for (auto& [pid, process] : snapshot.processes) {
      process.environment["CUDA_VISIBLE_DEVICES"] = "";
      process.parent = 40;
    }
    snapshot.processes[40] = {.pid = 40, .command = "/opt/lockstep train textgen --devices cpu:2"};
  }
  EXPECT_THAT(rules(evidence), IsEmpty());
  // A job of a batch that was given no GPU: of Lockstep's own, and of another program.
  Evidence job = evidence;
  for (ProcessSnapshot& snapshot : job.snapshots) {
    snapshot.processes.at(40).command = "/opt/lockstep train gbdt data.path=prices";
    for (auto& [pid, process] : snapshot.processes) {
      process.environment["CUDA_VISIBLE_DEVICES"] = "";
      process.environment["LOCKSTEP_DEVICE"] = "cpu";
    }
  }
  EXPECT_THAT(rules(job), IsEmpty());
  for (ProcessSnapshot& snapshot : job.snapshots) snapshot.processes.erase(40);
  const Findings other = found(job);
  ASSERT_THAT(rules_of(other), ElementsAre("narrowed"));
  EXPECT_EQ(other[0].confidence, Confidence::possible);
  EXPECT_THAT(other[0].next, ElementsAre(HasSubstr("lockstep batch run --gpus 1")));
  // Near: the mask is somebody else's, and Lockstep has no choice.
  for (ProcessSnapshot& snapshot : evidence.snapshots)
    snapshot.processes.at(40).environment["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_THAT(rules(evidence), ElementsAre("narrowed"));
}

TEST(DoctorRules, SameGpu) {
  const Findings findings = found(recorded("late_variable"));
  ASSERT_THAT(rules_of(findings), ElementsAre("same-gpu"));
  EXPECT_EQ(findings[0].pids.size(), 2u);
  EXPECT_THAT(findings[0].gpus, ElementsAre(1));
  // Inherited wrongly: values differ, the GPU is the same.
  Evidence siblings = recorded("late_variable");
  int next = 0;
  for (ProcessSnapshot& snapshot : siblings.snapshots)
    for (auto& [pid, process] : snapshot.processes)
      process.environment["CUDA_VISIBLE_DEVICES"] = ++next % 2 ? "0,1" : "1,0";
  EXPECT_THAT(rules(siblings), ElementsAre("same-gpu"));
  // Values at exec are different GPUs, contexts on one: the program changed it.
  Evidence changed = recorded("late_variable");
  const std::vector<int> workers = found(changed).at(0).pids;
  for (ProcessSnapshot& snapshot : changed.snapshots)
    for (const int worker : {0, 1})
      snapshot.processes.at(workers.at(worker)).environment["CUDA_VISIBLE_DEVICES"] = cat(worker);
  const Findings late = found(changed);
  ASSERT_THAT(rules_of(late), ElementsAre("same-gpu"));
  EXPECT_THAT(late[0].evidence, ::testing::Contains(HasSubstr("has changed the variable since")));
  // Near: the workers share the only GPU that they may use.
  Evidence near = recorded("late_variable");
  change_users(near,
               [](ProcessEvidence& process) { process.environment["CUDA_VISIBLE_DEVICES"] = "0"; });
  EXPECT_THAT(rules(near), ElementsAre("narrowed"));
}

// Workers that train trees: their GPU is a parameter of the library's.
TEST(DoctorRules, SameGpuOfTrees) {
  const auto of = [](const std::set<std::string>& libraries) {
    Evidence evidence = recorded("late_variable");
    change_users(evidence, [&](ProcessEvidence& process) { process.libraries = libraries; });
    return found(evidence);
  };
  const Findings trees = of({"lib_lightgbm.so", "libcuda.so.1"});
  ASSERT_THAT(rules_of(trees), ElementsAre("same-gpu"));
  ASSERT_EQ(trees[0].next.size(), 2u);
  EXPECT_THAT(trees[0].next[0], HasSubstr("before it starts: in the parent, env="));
  EXPECT_THAT(trees[0].next[0], HasSubstr("gpu_device_id=0 in every worker"));
  EXPECT_THAT(trees[0].next[1], HasSubstr("lockstep batch run --gpus 1"));
  EXPECT_THAT(trees[0].next, ::testing::Each(::testing::Not(HasSubstr("set_device"))));
  EXPECT_THAT(trees[0].open.at(0), HasSubstr("LightGBM takes the GPU that gpu_device_id names"));
  EXPECT_THAT(of({"libxgboost.so"})[0].next[0], HasSubstr("device=\"cuda:0\""));
  // Of both libraries which one computes is not known.
  const Findings both = of({"lib_lightgbm.so", "libtorch_cuda.so"});
  EXPECT_THAT(both[0].next, Contains(HasSubstr("gpu_device_id=0")));
  EXPECT_THAT(both[0].next, Contains(HasSubstr("torch.cuda.set_device(i)")));
  // One that is alone is told of the parameter too.
  Evidence one = recorded("one_gpu");
  change_users(one, [](ProcessEvidence& process) { process.libraries = {"lib_lightgbm.so"}; });
  EXPECT_THAT(found(one)[0].next.at(0), HasSubstr("CUDA_VISIBLE_DEVICES and gpu_device_id=0"));
}

TEST(DoctorRules, RanksOnOne) {
  const Findings findings = found(recorded("same_device"));
  ASSERT_THAT(rules_of(findings), ElementsAre("ranks-on-one"));
  EXPECT_EQ(findings[0].confidence, Confidence::certain);
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("set_device"));
  // Near: each rank is given one GPU by the launcher, the same one on purpose.
  Evidence near = recorded("same_device");
  change_users(near,
               [](ProcessEvidence& process) { process.environment["CUDA_VISIBLE_DEVICES"] = "0"; });
  EXPECT_THAT(rules(near), ElementsAre("narrowed"));
}

TEST(DoctorRules, StrayContext) {
  const Evidence evidence = recorded("stray_context");
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("stray-context"));
  EXPECT_THAT(findings[0].pids, ElementsAre(user_of(evidence, 1)));
  EXPECT_THAT(findings[0].gpus, ElementsAre(0));
  // Near: it has as much there as at home, so that it computes on both.
  Evidence near = evidence;
  for (MonitorSample& sample : near.samples)
    for (GpuProcess& one : sample.gpus[0].processes)
      one.memory_bytes = sample.gpus[1].processes.at(0).memory_bytes;
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, OtherOrder) {
  Evidence evidence = recorded("one_gpu");
  evidence.gpus[0].name = "NVIDIA A30";  // CUDA counts the faster one first
  evidence.gpus[0].compute_major = 8;
  evidence.cuda_fastest = {{evidence.gpus[1].uuid.substr(4), evidence.gpus[0].uuid.substr(4)}};
  EXPECT_THAT(rules(evidence), ::testing::Contains("other-order"));
  // Near: the mask names the GPU that is idle, in CUDA's order the first.
  Evidence masked = evidence;
  change_users(masked,
               [](ProcessEvidence& process) { process.environment["CUDA_VISIBLE_DEVICES"] = "1"; });
  EXPECT_THAT(rules(masked), ::testing::Not(::testing::Contains("one-of-several")));
  // Near: the order is set.
  change_users(evidence, [](ProcessEvidence& process) {
    process.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  });
  EXPECT_THAT(rules(evidence), ElementsAre("one-of-several"));
  // Near: unlike GPUs whose orders agree.
  Evidence near = recorded("one_gpu");
  near.gpus[1].name = "NVIDIA A30";
  near.gpus[1].compute_major = 8;
  near.cuda_fastest = {{near.gpus[0].uuid.substr(4), near.gpus[1].uuid.substr(4)}};
  EXPECT_THAT(rules(near), ElementsAre("one-of-several"));
}

TEST(DoctorRules, NoGpuUse) {
  const Findings findings = found(recorded("cpu_only"));
  ASSERT_THAT(rules_of(findings), ElementsAre("no-gpu-use"));
  EXPECT_EQ(findings[0].confidence, Confidence::possible);  // it has only begun
  EXPECT_THAT(findings[0].open, ::testing::Not(IsEmpty()));
  Evidence old = recorded("cpu_only");
  for (ProcessSnapshot& snapshot : old.snapshots)
    for (auto& [pid, process] : snapshot.processes) process.age_s += 600;
  EXPECT_EQ(found(old).at(0).confidence, Confidence::likely);
  // A build without CUDA leaves nothing else.
  Evidence cpu_build = recorded("cpu_only");
  for (ProcessSnapshot& snapshot : cpu_build.snapshots)
    for (auto& [pid, process] : snapshot.processes)
      process.libraries = {"libtorch.so", "libtorch_cpu.so", "libtorch_python.so"};
  const Findings certain = found(cpu_build);
  ASSERT_THAT(rules_of(certain), ElementsAre("no-gpu-use"));
  EXPECT_EQ(certain[0].confidence, Confidence::certain);
  EXPECT_THAT(certain[0].verdict, HasSubstr("built without CUDA"));
  // Near: it has the library, but does nothing: a notebook.
  Evidence near = recorded("cpu_only");
  for (auto& [pid, process] : near.snapshots.back().processes)
    process.cpu_s = near.snapshots.front().processes.at(pid).cpu_s;
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, TooSmall) {
  const Findings findings = found(recorded("tiny"));
  ASSERT_THAT(rules_of(findings), ElementsAre("too-small", "too-small"));
  EXPECT_EQ(findings[0].confidence, Confidence::likely);
  // Without SM activity, as before Hopper, low power beside a busy GPU is less sure.
  Evidence older = recorded("tiny");
  forget_metric(older, GpuMetric::sm_active);
  const Findings less = found(older);
  ASSERT_THAT(rules_of(less), ElementsAre("too-small", "too-small"));
  EXPECT_EQ(less[0].confidence, Confidence::possible);
  set_metric(older, 0, GpuMetric::power, 400);  // near: that is no small work
  EXPECT_THAT(rules(older), ElementsAre("too-small"));
  // All ranks spin: it may be a collective that waits for another machine.
  Evidence spin = recorded("tiny");
  for (const std::size_t gpu : {0u, 1u}) set_metric(spin, gpu, GpuMetric::gpu_busy, 100);
  EXPECT_EQ(found(spin).at(0).confidence, Confidence::possible);
  EXPECT_EQ(found(spin).at(0).open.size(), 2u);
  // Near: processes were seen once only.
  Evidence once = recorded("tiny");
  once.snapshots.pop_back();
  EXPECT_THAT(rules(once), IsEmpty());
  // Near: a thread at its limit that keeps the GPU at work.
  Evidence near = recorded("tiny");
  for (const std::size_t gpu : {0u, 1u}) set_metric(near, gpu, GpuMetric::sm_active, 70);
  EXPECT_THAT(rules(near), IsEmpty());
}

// Bursts of work between times of none.
void make_bursts(Evidence& evidence) {
  int count = 0;
  for (MonitorSample& sample : evidence.samples) {
    for (GpuSample& gpu : sample.gpus)
      gpu[GpuMetric::sm_active] = measured(count % 3 == 0 ? 80 : 2, sample.at_s, 0.2);
    ++count;
  }
}

TEST(DoctorRules, Starving) {
  const Evidence evidence = recorded("starving");
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("starving", "starving"));
  EXPECT_EQ(findings[0].confidence, Confidence::likely);
  // Its own loaders, not those of the other rank.
  EXPECT_THAT(findings[0].evidence, ::testing::Contains(HasSubstr("2 at their limit, 2.0 cores")));
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("num_workers=…), now 2, of 32 cores"));
  // Near: loaders of another rank are at their limit, and this one's rest; in small steps.
  Evidence one = evidence;
  const int rested = user_of(one, 1);
  for (const MonitorSample& sample : one.samples)
    ASSERT_EQ(sample.gpus[1].processes.at(0).pid, rested);
  set_metric(one, 1, GpuMetric::sm_active, 40);
  for (auto& [pid, process] : one.snapshots.back().processes)
    if (process.parent == rested) process.cpu_s = one.snapshots.front().processes.at(pid).cpu_s;
  const Findings only = found(one);
  ASSERT_THAT(rules_of(only), ElementsAre("starving"));
  EXPECT_THAT(only[0].gpus, ElementsAre(0));
  // Nothing but bursts: what it waits for cannot be told.
  Evidence alone = recorded("healthy");
  make_bursts(alone);
  const Findings possible = found(alone);
  ASSERT_THAT(rules_of(possible), ElementsAre("starving", "starving"));
  EXPECT_EQ(possible[0].confidence, Confidence::possible);
  EXPECT_THAT(possible[0].open, ::testing::Not(IsEmpty()));
  // Near: activity goes up and down, but never to nothing.
  Evidence near = recorded("loaders_keep_up");
  int count = 0;
  for (MonitorSample& sample : near.samples)
    for (GpuSample& gpu : sample.gpus)
      gpu[GpuMetric::sm_active] = measured(++count % 3 == 0 ? 95 : 55, sample.at_s, 0.2);
  EXPECT_THAT(rules(near), IsEmpty());
}

// A program that decodes its data on its main thread: it works all the time, and the GPU hardly.
TEST(DoctorRules, StarvingByItsOwnThread) {
  const Findings findings = found(recorded("main_thread"));
  ASSERT_THAT(rules_of(findings), ElementsAre("starving"));
  const Finding& one = findings[0];
  EXPECT_EQ(one.confidence, Confidence::likely);
  EXPECT_THAT(one.verdict,
              HasSubstr("GPU 0 waits for one CPU thread of its own program: pid 1279"));
  EXPECT_THAT(one.evidence,
              Contains("/proc/1279/task: main thread \"python3\" ran 98 % of the time"));
  EXPECT_THAT(one.evidence, Contains("no loader processes beside it"));
  EXPECT_THAT(one.evidence, Contains(HasSubstr("/proc/1279/io: 8.58 MiB/s read")));
  EXPECT_THAT(one.next.at(0), HasSubstr("DataLoader(num_workers=4"));
  EXPECT_THAT(one.next.at(1), HasSubstr("num_workers=0 is the default"));
  EXPECT_THAT(one.open.at(0), HasSubstr("py-spy dump --pid 1279"));
  // More of it, in larger pieces.
  Evidence more = recorded("main_thread");
  set_metric(more, 0, GpuMetric::sm_active, 9);
  set_metric(more, 0, GpuMetric::gpu_busy, 12);
  EXPECT_THAT(rules(more), ElementsAre("starving"));
  // Kernels that hardly fill it, much of the time: they are too small.
  Evidence tiny = recorded("main_thread");
  set_metric(tiny, 0, GpuMetric::gpu_busy, 30);
  EXPECT_THAT(rules(tiny), ElementsAre("too-small"));
  // Without SM activity the two are told apart by how little runs, and less surely.
  Evidence older = recorded("main_thread");
  forget_metric(older, GpuMetric::sm_active);
  const Findings less = found(older);
  ASSERT_THAT(rules_of(less), ElementsAre("starving"));
  EXPECT_EQ(less[0].confidence, Confidence::possible);
  EXPECT_THAT(less[0].open.at(0), HasSubstr("or launches many tiny kernels"));
  set_metric(older, 0, GpuMetric::gpu_busy, 18);
  EXPECT_THAT(rules(older), ElementsAre("too-small"));
  // A server polls for requests.
  Evidence server = recorded("main_thread");
  change_users(server, [](ProcessEvidence& one) { one.command = "python3 /bin/vllm serve m"; });
  const Findings polls = found(server);
  ASSERT_THAT(rules_of(polls), ElementsAre("starving"));
  EXPECT_EQ(polls[0].confidence, Confidence::possible);
  EXPECT_THAT(polls[0].open.at(0), HasSubstr("waits for requests"));
  // Near: nothing ran at all; the thread rests half of the time; another program is there too.
  Evidence near = recorded("main_thread");
  for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
    set_metric(near, 0, metric, 0);
  EXPECT_THAT(rules(near), IsEmpty());
  near = recorded("main_thread");
  for (auto& [pid, process] : near.snapshots.back().processes) {
    const ProcessEvidence& before = near.snapshots.front().processes.at(pid);
    process.cpu_s = (process.cpu_s + before.cpu_s) / 2;
    for (ThreadEvidence& thread : process.busiest)
      for (const ThreadEvidence& same : before.busiest)
        if (same.tid == thread.tid) thread.cpu_s = (thread.cpu_s + same.cpu_s) / 2;
  }
  EXPECT_THAT(rules(near), IsEmpty());
  near = recorded("main_thread");
  for (MonitorSample& sample : near.samples)
    sample.gpus[0].processes.push_back({.pid = 999999, .memory_bytes = 1 << 30});
  EXPECT_THAT(rules(near), ::testing::Not(Contains("starving")));
}

TEST(DoctorRules, AtLeastSoSure) {
  const Findings all{{.confidence = Confidence::certain},
                     {.confidence = Confidence::likely},
                     {.confidence = Confidence::possible}};
  EXPECT_EQ(at_least(all, Confidence::possible).size(), 3u);
  EXPECT_EQ(at_least(all, Confidence::likely).size(), 2u);
  EXPECT_EQ(at_least(all, Confidence::certain).size(), 1u);
}

TEST(DoctorRules, WaitingForOthers) {
  const Evidence evidence = recorded("straggler");
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("waiting-for-others", "starving"));
  EXPECT_THAT(findings[0].verdict, HasSubstr(cat("for GPU 1: pid ", user_of(evidence, 1))));
  // Why the straggler is slow: it works on the CPU between steps.
  EXPECT_THAT(findings[1].verdict, HasSubstr(cat("GPU 1 waits for one CPU thread of its own "
                                                 "program: pid ",
                                                 user_of(evidence, 1))));
  // Ranks that lost their launcher are still one program.
  Evidence orphans = evidence;
  for (ProcessSnapshot& snapshot : orphans.snapshots) {
    std::erase_if(snapshot.processes,
                  [](const auto& one) { return !one.second.environment.contains("RANK"); });
    for (auto& [pid, process] : snapshot.processes) process.parent = 1;
  }
  EXPECT_THAT(rules(orphans), ElementsAre("waiting-for-others", "starving"));
  // What the straggler itself waits for stays.
  Evidence slow = evidence;
  set_metric(slow, 1, GpuMetric::gpu_busy, 20);
  const int pid = user_of(slow, 1);
  slow.snapshots.front().processes.at(pid).cpu_s =
      slow.snapshots.back().processes.at(pid).cpu_s - 0.1;
  for (ProcessSnapshot& snapshot : slow.snapshots) snapshot.processes.at(pid).busiest.clear();
  EXPECT_THAT(rules(slow), ElementsAre("waiting-for-others", "starving"));
  // Near: jobs side by side that are no ranks and talk to nobody.
  Evidence jobs = evidence;
  change_users(jobs, [](ProcessEvidence& process) {
    std::erase_if(process.environment, [](const auto& one) { return one.first != "LOCAL_RANK"; });
    std::erase_if(process.libraries, [](const auto& one) { return one.starts_with("libnccl"); });
  });
  EXPECT_THAT(rules(jobs), ::testing::Not(::testing::Contains("waiting-for-others")));
  // Near: the GPU that waits less does as much work as the others.
  Evidence near = recorded("healthy");
  set_metric(near, 1, GpuMetric::gpu_busy, 70);
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, OneProcessMany) {
  const Findings findings = found(recorded("data_parallel"));
  ASSERT_THAT(rules_of(findings), ElementsAre("one-process-many"));
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("DataParallel"));
  // Near: a bare context beside a GPU that works.
  Evidence bare = recorded("data_parallel");
  set_metric(bare, 0, GpuMetric::sm_active, 90);
  for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
    set_metric(bare, 1, metric, 0);
  EXPECT_THAT(rules(bare), ElementsAre("one-of-several"));
  // Near: one process that keeps both GPUs at work.
  Evidence near = recorded("data_parallel");
  for (const std::size_t gpu : {0u, 1u}) set_metric(near, gpu, GpuMetric::sm_active, 90);
  EXPECT_THAT(rules(near), IsEmpty());
}

// Two T4s as a DataParallel has them: the first gathers, the second waits; no SM activity.
TEST(DoctorRules, OneProcessManyBeforeHopperAndOnABusyMachine) {
  const auto t4s = [](double first, double second) {
    Evidence evidence = recorded("data_parallel");
    for (GpuInfo& gpu : evidence.gpus) gpu.name = "Tesla T4";
    forget_metric(evidence, GpuMetric::sm_active);
    set_metric(evidence, 0, GpuMetric::gpu_busy, first);
    set_metric(evidence, 1, GpuMetric::gpu_busy, second);
    return evidence;
  };
  const Findings findings = found(t4s(95, 60));
  ASSERT_THAT(rules_of(findings), ElementsAre("one-process-many"));
  EXPECT_EQ(findings[0].confidence, Confidence::possible);
  EXPECT_THAT(findings[0].verdict, HasSubstr("and they wait for it at least 22 % of the time"));
  EXPECT_THAT(findings[0].next.at(0), HasSubstr("DataParallel"));
  EXPECT_EQ(findings[0].open.size(), 1u);
  // Other programs keep the cores busy: it has half of one.
  Evidence busy = t4s(95, 60);
  change_users(busy, [&](ProcessEvidence& process) {
    process.cpu_s = process.age_s * 0.5;
    for (ThreadEvidence& thread : process.busiest) thread.cpu_s = 0;
  });
  const Findings less = found(busy);
  ASSERT_THAT(rules_of(less), ElementsAre("one-process-many"));
  EXPECT_THAT(less[0].open.at(1), HasSubstr("it had 0.5 cores, and where other programs keep"));
  Evidence hopper = recorded("data_parallel");
  change_users(hopper, [](ProcessEvidence& process) { process.cpu_s = process.age_s * 0.5; });
  EXPECT_EQ(find_rule(found(hopper), "one-process-many")->confidence, Confidence::possible);
  // Near: both are busy nearly all the time; the process sleeps.
  EXPECT_THAT(rules(t4s(95, 94)), IsEmpty());
  Evidence sleeps = t4s(95, 60);
  change_users(sleeps, [](ProcessEvidence& process) {
    process.cpu_s = process.age_s * 0.1;
    for (ThreadEvidence& thread : process.busiest) thread.cpu_s = 0;
  });
  EXPECT_THAT(rules(sleeps), IsEmpty());
}

TEST(DoctorRules, HeldBack) {
  Evidence evidence = recorded("healthy");  // at its power limit, as a busy GPU is
  set_metric(evidence, 1, GpuMetric::clock_limits, 0x40);
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("held-back"));
  EXPECT_THAT(findings[0].gpus, ElementsAre(1));
  // Near: for a moment only.
  Evidence near = recorded("healthy");
  near.samples[3].gpus[1][GpuMetric::clock_limits] = measured(0x40, near.samples[3].at_s);
  EXPECT_THAT(rules(near), IsEmpty());
  // A power limit that takes most of the clock; at its own limit it keeps more.
  Evidence capped = recorded("healthy");
  set_metric(capped, 1, GpuMetric::clock_limits, 4);
  EXPECT_THAT(rules(capped), IsEmpty());
  set_metric(capped, 1, GpuMetric::sm_clock, 600);
  const Findings low = found(capped);
  ASSERT_THAT(rules_of(low), ElementsAre("held-back"));
  EXPECT_THAT(low[0].verdict, HasSubstr("power limit"));
  EXPECT_THAT(low[0].evidence.at(1), HasSubstr("600 of 1980 MHz"));
  // One that somebody lowered is certain, and need not take as much; that of the board is no
  // finding.
  Evidence lowered = recorded("healthy");
  lowered.places[1].default_power_limit_w = 1000;
  set_metric(lowered, 1, GpuMetric::clock_limits, 4);
  set_metric(lowered, 1, GpuMetric::sm_clock, 1500);
  const Findings less = found(lowered);
  ASSERT_THAT(rules_of(less), ElementsAre("held-back"));
  EXPECT_EQ(less[0].confidence, Confidence::certain);
  EXPECT_THAT(less[0].verdict, HasSubstr("by a lowered power limit: 700 W of 1000"));
  EXPECT_THAT(less[0].next, ElementsAre(HasSubstr("nvidia-smi -i 1 -pl 1000")));
  set_metric(lowered, 1, GpuMetric::sm_clock, 1950);
  EXPECT_THAT(rules(lowered), IsEmpty());
  set_metric(lowered, 1, GpuMetric::sm_clock, 1500);
  for (const double usual_w : {710, 600}) {  // near: next to nothing; raised
    lowered.places[1].default_power_limit_w = usual_w;
    EXPECT_THAT(rules(lowered), IsEmpty());
  }
  Evidence usual = capped;
  usual.places[1].default_power_limit_w = 700;
  EXPECT_THAT(rules(usual), IsEmpty());
  set_metric(capped, 1, GpuMetric::power, 300);  // near: it draws far less than that
  EXPECT_THAT(rules(capped), IsEmpty());
  set_metric(capped, 1, GpuMetric::power, 690);
  set_metric(capped, 1, GpuMetric::clock_limits, 0);  // near: nothing holds it
  EXPECT_THAT(rules(capped), IsEmpty());
  // Lanes that are missing, and a link that sleeps while the GPU does.
  Evidence lanes = recorded("healthy");
  lanes.places[0].pcie_lanes = 16;
  set_metric(lanes, 0, GpuMetric::pcie_lanes, 8);
  EXPECT_THAT(rules(lanes), ElementsAre("held-back"));
  Evidence asleep = recorded("cpu_only");
  asleep.places[0].pcie_generation = 5;
  set_metric(asleep, 0, GpuMetric::pcie_generation, 1);
  EXPECT_THAT(rules(asleep), ElementsAre("no-gpu-use"));
}

TEST(DoctorRules, Lost) {
  Evidence evidence = recorded("healthy");
  evidence.samples.back().gpus[1].fault = "GPU is lost";
  const Findings findings = found(evidence);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "lost");
  EXPECT_THAT(findings[0].verdict, HasSubstr("GPU is lost"));
  // The others are still looked at.
  Evidence third = recorded("one_gpu");
  third.gpus.push_back({.index = 2, .fault = "GPU is lost"});
  third.places.emplace_back();
  for (MonitorSample& sample : third.samples) sample.gpus.push_back({.fault = "GPU is lost"});
  EXPECT_THAT(rules(third), ElementsAre("lost", "one-of-several"));
  // Near: it answers again.
  Evidence near = recorded("healthy");
  near.samples.front().gpus[1].fault = "Timeout";
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, Faulty) {
  Evidence evidence = recorded("healthy");
  evidence.places[0].ecc_uncorrected = 3;
  evidence.places[1].remap_pending = true;
  const double now_s = evidence.samples.back().at_s = 1e6;
  evidence.places[1].faults = {{.xid = 74, .times = 2, .at_s = now_s - 120}};
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("faulty", "faulty", "faulty"));
  EXPECT_THAT(findings[0].verdict, HasSubstr("3 memory errors that ECC could not correct"));
  EXPECT_THAT(findings[0].gpus, ElementsAre(0));
  EXPECT_THAT(findings[1].verdict, HasSubstr("waits for a reset"));
  EXPECT_THAT(findings[1].next.at(0), HasSubstr("nvidia-smi -r -i 1"));
  EXPECT_THAT(findings[2].verdict, HasSubstr("an NVLink failed"));
  EXPECT_THAT(findings[2].evidence.at(0), HasSubstr("Xid 74, 2 times, last 2m ago"));
  evidence.places[1].remap_failed = true;
  EXPECT_THAT(found(evidence)[1].verdict, HasSubstr("no spare"));
  // Near: ECC with nothing to tell, faults of programs, and one of the day before yesterday.
  Evidence near = recorded("healthy");
  near.places[0].ecc_uncorrected = 0;
  near.samples.back().at_s = now_s;
  near.places[0].faults = {{.xid = 13, .times = 9, .at_s = now_s},
                           {.xid = 31, .times = 9, .at_s = now_s}};
  near.places[1].faults = {{.xid = 79, .times = 1, .at_s = now_s - 48 * 3600}};
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, CannotOpen) {
  Evidence evidence = recorded("one_gpu");
  evidence.places[1].denied = "Operation not permitted";
  EXPECT_THAT(rules(evidence), ::testing::Contains("cannot-open"));
  Evidence mig = recorded("healthy");
  mig.places[1].mig = true;
  EXPECT_THAT(rules(mig), ElementsAre("cannot-open"));
  Evidence prohibited = recorded("healthy");
  prohibited.places[1].compute_mode = "prohibited";
  EXPECT_THAT(rules(prohibited), ElementsAre("cannot-open"));
  // Near: as many GPUs as the machine has; MIG with instances; exclusive, and used by one.
  Evidence near = recorded("healthy");
  near.gpus_of_host = 2;
  near.places[1].mig = true;
  near.places[1].mig_instances = 2;
  near.places[0].compute_mode = "exclusive process";
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, OtherTenant) {
  EXPECT_THAT(rules(recorded("two_tenants")), ::testing::Contains("other-tenant"));
  // Somebody in a PID namespace that the doctor does not see into computes, and NVML names nobody.
  const Evidence unseen = recorded("unseen_tenant");
  const Findings findings = found(unseen);
  ASSERT_THAT(rules_of(findings), ElementsAre("other-tenant"));
  EXPECT_THAT(findings[0].verdict,
              HasSubstr("GPU 0 computes for a process that cannot be seen from here"));
  EXPECT_EQ(findings[0].confidence, Confidence::likely);
  EXPECT_THAT(findings[0].gpus, ElementsAre(0));
  EXPECT_THAT(findings[0].evidence, ::testing::Contains(HasSubstr("2.33 GiB used, by no process")));
  // Near: who is on it is not known; it holds memory and rests.
  Evidence unknown = unseen;
  for (MonitorSample& sample : unknown.samples) sample.gpus[0].processes_known = false;
  EXPECT_THAT(rules(unknown), IsEmpty());
  Evidence rests = unseen;
  for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
    set_metric(rests, 0, metric, 0);
  EXPECT_THAT(rules(rests), ElementsAre("kept-memory"));
  // Near: it works without memory in use, as while the driver scrubs it; how much is, is not known.
  Evidence scrubs = unseen;
  set_metric(scrubs, 0, GpuMetric::memory_used, 600 << 20);
  EXPECT_THAT(rules(scrubs), IsEmpty());
  forget_metric(scrubs, GpuMetric::memory_used);
  EXPECT_THAT(rules(scrubs), IsEmpty());
  // Without SM activity too, but not for a little; near: a desktop draws.
  Evidence older = unseen;
  forget_metric(older, GpuMetric::sm_active);
  EXPECT_THAT(rules(older), ElementsAre("other-tenant"));
  set_metric(older, 0, GpuMetric::gpu_busy, 20);
  EXPECT_THAT(rules(older), ElementsAre("kept-memory"));
  Evidence desktop = unseen;
  for (MonitorSample& sample : desktop.samples)
    sample.gpus[0].processes = {{.pid = 55555, .graphics = true, .memory_bytes = 3ull << 30}};
  EXPECT_THAT(rules(desktop), IsEmpty());
  // Near: a process that is here has CUDA open, and NVML does not name it. In WSL there are no
  // files.
  Evidence here = unseen;
  for (ProcessSnapshot& snapshot : here.snapshots)
    snapshot.processes[41] = {.pid = 41, .uvm_file = true, .libraries = {"libcuda.so.1"}};
  EXPECT_THAT(rules(here), IsEmpty());
  for (ProcessSnapshot& snapshot : here.snapshots) snapshot.processes.at(41).uvm_file = false;
  EXPECT_THAT(rules(here), ElementsAre("other-tenant"));
  for (GpuPlace& place : here.places) place.device_file = "";
  EXPECT_THAT(rules(here), IsEmpty());
  // Near: one after the other.
  Evidence near = recorded("one_gpu");
  for (std::size_t i = 0; i < near.samples.size() / 2; ++i)
    near.samples[i].gpus[0].processes[0].pid = 999999;
  EXPECT_THAT(rules(near), ::testing::Not(::testing::Contains("other-tenant")));
  // Near: a desktop.
  near = recorded("healthy");
  for (MonitorSample& sample : near.samples)
    sample.gpus[0].processes.push_back({.pid = 55555, .graphics = true});
  EXPECT_THAT(rules(near), IsEmpty());
  // Near: two processes of one program.
  EXPECT_THAT(rules(recorded("late_variable")),
              ::testing::Not(::testing::Contains("other-tenant")));
}

// They would not use other GPUs either. As long as one of them goes on, what it does counts.
TEST(DoctorRules, OfPlacementLeaveStoppedProgramsOut) {
  const auto stop = [](ProcessEvidence& process) {
    process.state = 'T';
    process.cpu_s = 1;
  };
  for (const char* name : {"late_variable", "same_device", "one_gpu", "mask_of_one"}) {
    Evidence evidence = recorded(name);
    change_users(evidence, stop);
    EXPECT_THAT(rules(evidence), ::testing::Each("kept-memory")) << name;
  }
  Evidence one = recorded("late_variable");
  const int first = user_of(one, 0);
  change_users(one, [&](ProcessEvidence& process) {
    if (process.pid == first) stop(process);
  });
  EXPECT_THAT(rules(one), ::testing::Contains("same-gpu"));
}

TEST(DoctorRules, KeptMemory) {
  const Findings still = found(recorded("stopped"));
  ASSERT_THAT(rules_of(still), ElementsAre("kept-memory"));
  EXPECT_EQ(still[0].confidence, Confidence::certain);
  EXPECT_THAT(still[0].verdict, HasSubstr("is stopped and holds 10.6 GiB of GPU 0"));
  Evidence masked = recorded("stopped");
  change_users(masked,
               [](ProcessEvidence& process) { process.environment["CUDA_VISIBLE_DEVICES"] = "0"; });
  EXPECT_THAT(rules(masked), ElementsAre("kept-memory"));
  Evidence dead = recorded("healthy");
  set_metric(dead, 1, GpuMetric::memory_used, 100.0 * (1 << 30));
  const Findings findings = found(dead);
  ASSERT_THAT(rules_of(findings), ElementsAre("kept-memory"));
  EXPECT_THAT(findings[0].gpus, ElementsAre(1));
  // Near: who is on it cannot be told.
  Evidence unknown = dead;
  for (MonitorSample& sample : unknown.samples)
    for (GpuSample& gpu : sample.gpus) gpu.processes_known = false;
  EXPECT_THAT(rules(unknown), IsEmpty());
  // Near: what the driver and its contexts take themselves.
  Evidence near = recorded("healthy");
  for (MonitorSample& sample : near.samples) {
    Reading& used = sample.gpus[1][GpuMetric::memory_used];
    used.value += 600.0 * (1 << 20);
  }
  EXPECT_THAT(rules(near), IsEmpty());
  // The driver names one that is no more, or that has ended and was not waited for.
  Evidence ended = recorded("one_gpu");
  const int user = user_of(ended, 0);
  for (const GpuMetric metric : {GpuMetric::sm_active, GpuMetric::gpu_busy})
    set_metric(ended, 0, metric, 0);
  for (MonitorSample& sample : ended.samples) {
    sample.gpus[0].processes.clear();
    sample.gpus[1].processes = {{.pid = 4000000, .memory_bytes = 10ull << 30}};
    sample.gpus[1][GpuMetric::memory_used].value = 10.0 * (1 << 30);
    sample.gpus[0][GpuMetric::memory_used].value = 0;
  }
  for (ProcessSnapshot& snapshot : ended.snapshots) {
    snapshot.processes.erase(user);
    snapshot.gone = {4000000};
  }
  const Findings gone = found(ended);
  ASSERT_THAT(rules_of(gone), ElementsAre("kept-memory"));
  EXPECT_THAT(gone[0].verdict, HasSubstr("no living process has them"));
  EXPECT_THAT(gone[0].evidence.at(1), HasSubstr("pid 4000000 holds 10 GiB; /proc/4000000 is not"));
  Evidence zombie = ended;
  for (MonitorSample& sample : zombie.samples) sample.gpus[1].processes[0].pid = user;
  for (std::size_t i = 0; i < 2; ++i) {
    ProcessEvidence& process = zombie.snapshots[i].processes[user];
    process = recorded("one_gpu").snapshots[i].processes.at(user);
    process.state = 'Z';
  }
  EXPECT_THAT(rules(zombie), ::testing::Contains("kept-memory"));
  // Near: it may be a process of the host; it was there when the look began.
  near = ended;
  near.numbers_of_host = true;
  EXPECT_THAT(rules(near), IsEmpty());
  near = ended;
  near.snapshots[0].gone.clear();
  EXPECT_THAT(rules(near), IsEmpty());
  // Near: /proc hides those of others.
  near = ended;
  for (ProcessSnapshot& snapshot : near.snapshots) snapshot.gone.clear();
  EXPECT_THAT(rules(near), IsEmpty());
}

TEST(DoctorRules, Exclusive) {
  // Two programs: one on the GPU, the other computes without one.
  Evidence evidence = recorded("cpu_only");
  const int waits = found(evidence).at(0).pids.at(0);
  const int holds = 4000000;
  for (GpuPlace& place : evidence.places) place.compute_mode = "exclusive process";
  for (MonitorSample& sample : evidence.samples)
    for (GpuSample& gpu : sample.gpus) gpu.processes = {{.pid = holds, .memory_bytes = 1 << 30}};
  for (ProcessSnapshot& snapshot : evidence.snapshots) {
    snapshot.processes.at(waits).control_file = true;
    snapshot.processes.at(waits).libraries.insert("libcuda.so.580.65");
    snapshot.processes[holds] = {.pid = holds, .command = "python3 other.py", .control_file = true};
  }
  const Findings findings = found(evidence);
  ASSERT_THAT(rules_of(findings), ElementsAre("exclusive"));
  EXPECT_EQ(findings[0].confidence, Confidence::likely);
  EXPECT_THAT(findings[0].gpus, ElementsAre(0, 1));
  EXPECT_THAT(findings[0].evidence, ::testing::Contains(HasSubstr("is exclusive process")));
  EXPECT_THAT(findings[0].evidence, ::testing::Contains(HasSubstr("pid 4000000 is on GPU 0")));
  // Near: one of them is free.
  Evidence near = evidence;
  for (MonitorSample& sample : near.samples) sample.gpus[1].processes.clear();
  EXPECT_THAT(rules(near), ElementsAre("one-of-several", "no-gpu-use"));
  // Near: it has not tried; who is there is not known; others come in through MPS.
  near = evidence;
  for (ProcessSnapshot& snapshot : near.snapshots)
    snapshot.processes.at(waits).control_file = false;
  EXPECT_THAT(rules(near), ElementsAre("no-gpu-use"));
  near = evidence;
  for (MonitorSample& sample : near.samples) sample.gpus[1].processes_known = false;
  EXPECT_THAT(rules(near), ::testing::Not(::testing::Contains("exclusive")));
  near = evidence;
  for (ProcessSnapshot& snapshot : near.snapshots)
    snapshot.processes.at(holds).command = "nvidia-cuda-mps-server";
  EXPECT_THAT(rules(near), ::testing::Not(::testing::Contains("exclusive")));
  // Near: everybody may come in.
  near = evidence;
  near.places[1].compute_mode = "default";
  EXPECT_THAT(rules(near), ElementsAre("no-gpu-use"));
}

TEST(DoctorRules, OfAnotherPidNamespaceDoNotGuess) {
  Evidence evidence = recorded("one_gpu");
  for (MonitorSample& sample : evidence.samples)
    for (GpuSample& gpu : sample.gpus)
      for (GpuProcess& one : gpu.processes) one.pid += 1000000;
  for (ProcessSnapshot& snapshot : evidence.snapshots)
    for (auto& [pid, process] : snapshot.processes) process.uvm_file = true;
  EXPECT_FALSE(make_scene(evidence).contexts_known);
  EXPECT_THAT(rules(evidence), IsEmpty());
}

TEST(DoctorRules, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Rule& rule : all_rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

}  // namespace
}  // namespace lockstep
