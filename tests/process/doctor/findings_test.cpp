// What `lockstep doctor` finds in programs that run.
#include "doctor_process.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep::testing {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorFinds : public Doctor {};

TEST_F(DoctorFinds, NothingInAProgramOnAllGpus) {
  if (std::filesystem::exists("/proc/driver/nvidia/gpus"))
    GTEST_SKIP() << "the GPUs of this machine are more than those of the fake NVML";
  Patient healthy(user({"libtorch_cuda.so", "libcuda.so.1"}));
  set({gpu(0, {healthy.pid()}), gpu(1, {healthy.pid()})});
  const ToolResult result = doctor({std::to_string(healthy.pid())});
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("nothing found"));
  EXPECT_THAT(result.out, HasSubstr(cat("pid ", healthy.pid(), " (fake-gpu-user train.py")));
  EXPECT_EQ(result.err, "");
}

TEST_F(DoctorFinds, AProcessOnOneOfTwoGpus) {
  Patient one(user({"libtorch_cuda.so", "libcuda.so.1"}));
  set({gpu(0, {one.pid()}), gpu(1)});
  const json list = findings(one.pid());
  ASSERT_THAT(rules(list), ElementsAre("one-of-several"));
  EXPECT_EQ(list[0]["confidence"], "likely");
  EXPECT_EQ(list[0]["gpus"], json({1}));
  EXPECT_EQ(list[0]["pids"], json({one.pid()}));
  EXPECT_THAT(text_of(list[0], "evidence"), HasSubstr("is on GPU 0 with 1 MiB"));
  EXPECT_THAT(text_of(list[0], "next"), HasSubstr("torchrun --nproc-per-node=2"));
}

TEST_F(DoctorFinds, AMaskThatHidesAGpu) {
  Patient masked(user({"libtorch_cuda.so"}), {{"CUDA_VISIBLE_DEVICES", "0"}});
  set({gpu(0, {masked.pid()}), gpu(1)});
  const json list = findings(masked.pid());
  ASSERT_THAT(rules(list), ElementsAre("narrowed"));
  EXPECT_EQ(list[0]["gpus"], json({1}));
  EXPECT_THAT(text_of(list[0], "evidence"),
              HasSubstr(cat("/proc/", masked.pid(), "/environ: CUDA_VISIBLE_DEVICES=0")));
}

TEST_F(DoctorFinds, WorkersOnTheSameGpu) {
  Patient first(user({"libtorch_cuda.so"}));
  Patient second(user({"libtorch_cuda.so"}), {}, first.pid());
  set({gpu(0, {first.pid(), second.pid()}), gpu(1)});
  const json list = findings(second.pid());
  ASSERT_THAT(rules(list), ElementsAre("same-gpu"));
  EXPECT_THAT(list[0]["pids"], ::testing::UnorderedElementsAre(first.pid(), second.pid()));
  EXPECT_EQ(list[0]["gpus"], json({1}));
}

TEST_F(DoctorFinds, RanksOnOneGpu) {
  const auto rank = [](const char* number) {
    return std::map<std::string, std::string>{{"LOCAL_RANK", number}, {"RANK", number}};
  };
  Patient first(user({"libtorch_cuda.so"}), rank("0"));
  Patient second(user({"libtorch_cuda.so"}), rank("1"), first.pid());
  set({gpu(0, {first.pid(), second.pid()}), gpu(1)});
  const json list = findings(first.pid());
  ASSERT_THAT(rules(list), ElementsAre("ranks-on-one"));
  EXPECT_THAT(text_of(list[0], "evidence"), HasSubstr("LOCAL_RANK=1"));
  EXPECT_THAT(text_of(list[0], "next"), HasSubstr("set_device"));
}

TEST_F(DoctorFinds, WorkOnCpusOnly) {
  const BusyCores cores;
  Patient cpu(user({"libtorch_cpu.so", "libtorch_cuda.so"}, {"--burn", "2"}));
  const json list = findings_at_work(cpu.pid());
  ASSERT_THAT(rules(list), ElementsAre("no-gpu-use"));
  EXPECT_EQ(list[0]["confidence"], "possible");  // it has only begun
  EXPECT_THAT(text_of(list[0], "evidence"), HasSubstr("libtorch_cpu.so, libtorch_cuda.so"));
  EXPECT_FALSE(list[0]["open"].empty());
  cpu.end();
  Patient build(user({"libtorch_cpu.so"}, {"--burn", "2"}));
  const json certain = findings_at_work(build.pid());
  ASSERT_THAT(rules(certain), ElementsAre("no-gpu-use"));
  EXPECT_EQ(certain[0]["confidence"], "certain");
  EXPECT_THAT(text_of(certain[0], "verdict"), HasSubstr("built without CUDA"));
  build.end();
  Patient idle(user({"libtorch_cpu.so"}));  // a notebook that waits
  EXPECT_THAT(findings(idle.pid()), json::array());
}

TEST_F(DoctorFinds, AStoppedProcessThatKeepsMemory) {
  Patient stopped(user({"libtorch_cuda.so"}));
  set({gpu(0, {stopped.pid()}), gpu(1, {stopped.pid()})});
  kill(stopped.pid(), SIGSTOP);
  const json list = findings(stopped.pid());
  EXPECT_THAT(rules(list), Contains("kept-memory"));
  EXPECT_THAT(list.dump(), HasSubstr(cat("kill -CONT ", stopped.pid())));
}

TEST_F(DoctorFinds, AGpuThatIsLost) {
  Patient one(user({"libtorch_cuda.so", "libcuda.so.1"}));
  json lost = gpu(1);
  lost["error"] = 15;
  set({gpu(0, {one.pid()}), lost, gpu(2)});
  const ToolResult result = doctor({"--json"});
  EXPECT_EQ(result.code, 1) << result.err;
  const json list = json::parse(result.out)["findings"];
  EXPECT_THAT(result.out, HasSubstr("GPU 1 does not answer: GPU is lost"));
  // The others are looked at as ever.
  EXPECT_THAT(rules(list), ::testing::AllOf(Contains("lost"), Contains("one-of-several")));
}

TEST_F(DoctorFinds, LessWithoutSmActivity) {
  Patient one(user({"libtorch_cuda.so"}));
  json old_used = gpu(0, {one.pid()}), old_idle = gpu(1);
  old_used.erase("gpm");
  old_idle.erase("gpm");
  set({old_used, old_idle});
  const ToolResult result = doctor({std::to_string(one.pid())});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("SM activity n/a, busy 90 %"));
  EXPECT_THAT(result.out, HasSubstr("note: SM activity of GPUs 0, 1 is not to be had"));
}

TEST_F(DoctorFinds, OnlyWhatIsAboutTheProcessNamed) {
  const BusyCores cores;
  Patient one(user({"libtorch_cuda.so"}));
  Patient other(user({"libtorch_cpu.so"}, {"--burn", "2"}));
  set({gpu(0, {one.pid()}), gpu(1)});
  EXPECT_THAT(rules(findings(one.pid())), ElementsAre("one-of-several"));
  EXPECT_THAT(rules(findings_at_work(other.pid())), ElementsAre("no-gpu-use"));
  const ToolResult all = doctor({"--all", "--json"});
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_THAT(rules(json::parse(all.out)["findings"]), Contains("one-of-several"));
}

TEST_F(DoctorFinds, WhatIsBelowAWrapper) {
  const BusyCores cores;
  // Two shells, each waiting for the next.
  Patient shell({"sh", "-c",
                 cat("sh -c \"", testing::shell_line(user({"libtorch_cpu.so"}, {"--burn", "2"})),
                     "; :\"; :")});
  ASSERT_EQ(children_of(shell.pid()).size(), 1u);
  EXPECT_THAT(rules(findings_at_work(shell.pid())), ElementsAre("no-gpu-use"));
}

TEST_F(DoctorFinds, TheProcessThatTrainsARun) {
  RunDir run = RunDir::create(folder_.path() / "runs", "mine", "textgen");
  run.write_record({{"recipe", "textgen"}, {"start", 1}});
  const ToolResult stopped = doctor({"mine"});
  EXPECT_EQ(stopped.code, 2);
  EXPECT_THAT(stopped.err, HasSubstr("no process of this machine trains run \"mine\" now"));
  std::filesystem::rename(folder_.path() / "runs", folder_.path() / "elsewhere");
  EXPECT_THAT(doctor({"mine"}).err, HasSubstr("there is no run \"mine\""));
  EXPECT_THAT(doctor({"mine", "run.root=elsewhere"}).err, HasSubstr("trains run \"mine\" now"));
  std::filesystem::rename(folder_.path() / "elsewhere", folder_.path() / "runs");
  run.lock();  // by this process, the parent of the next
  Patient below(user({"libtorch_cuda.so"}));
  set({gpu(0, {below.pid()}), gpu(1)});
  const ToolResult result = doctor({"mine", "--json"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(rules(json::parse(result.out)["findings"]), ElementsAre("one-of-several"));
}

TEST_F(DoctorFinds, OfAProcessOfAnotherUserWhatCanBeSeen) {
  if (const std::string why = why_nobody_enters(folder_.path()); !why.empty()) GTEST_SKIP() << why;
  Patient roots(user({"libtorch_cuda.so"}), {{"CUDA_VISIBLE_DEVICES", "0"}});
  set({gpu(0, {roots.pid()}), gpu(1)});
  std::filesystem::permissions(folder_.path() / "gpus.json", std::filesystem::perms(0644));
  std::vector<std::string> words = command({std::to_string(roots.pid())});
  words[0] = copied_for_all("lockstep", folder_.path());
  environment_["LOCKSTEP_NVML"] = copied_for_all("tests/libfake-nvml.so", folder_.path());
  words = as_nobody() + std::vector<std::string>{"--inh-caps=-all", "--bounding-set=-all"} + words;
  const ToolResult result = ToolProcess(words, folder_.path(), environment_).wait();
  EXPECT_NE(result.code, 2) << result.err;
  EXPECT_THAT(result.out, HasSubstr("of other users could be looked at in part only"));
  // The mask cannot be seen, so that nothing that depends on it may be said.
  EXPECT_THAT(result.out, Not(HasSubstr("one-of-several")));
  EXPECT_THAT(result.out, Not(HasSubstr("is not set")));
}

// As vLLM's processes do. Their parent here is the test, which has no library of CUDA.
TEST_F(DoctorFinds, NothingThatAnOverwrittenEnvironmentWouldTell) {
  Patient titled(user({"libtorch_cuda.so", "libcuda.so.1"}, {"--title", "x"}));
  set({gpu(0, {titled.pid()}), gpu(1)});
  const ToolResult result = doctor({std::to_string(titled.pid())});
  EXPECT_NE(result.code, 2) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 process has overwritten the environment of the start"));
  EXPECT_THAT(result.out, Not(HasSubstr("of other users")));
  EXPECT_THAT(result.out, Not(HasSubstr("is not set")));
  EXPECT_THAT(result.out, Not(HasSubstr("one-of-several")));
}

TEST_F(DoctorFinds, WhatALauncherIsToldWithTheRanksThatItStarted) {
  // Two shells in the place of mpirun and of the script that it starts.
  const std::string rank = testing::shell_line(user({"libtorch_cuda.so", "libcuda.so.1"}));
  Patient launcher({"bash", "-c", "exec -a mpirun bash -c 'bash -c \"$0; :\"; :' \"$0\"", rank});
  const std::vector<pid_t> scripts = children_of(launcher.pid());
  ASSERT_EQ(scripts.size(), 1u);
  const std::vector<pid_t> ranks = children_of(scripts[0]);
  ASSERT_EQ(ranks.size(), 1u);
  set({gpu(0, {ranks[0]}), gpu(1)});
  const json list = findings(launcher.pid());
  ASSERT_THAT(rules(list), ElementsAre("one-of-several"));
  EXPECT_THAT(text_of(list[0], "verdict"), HasSubstr(cat("pid ", launcher.pid(), " (mpirun")));
  EXPECT_THAT(text_of(list[0], "evidence"), HasSubstr(cat("/proc/", launcher.pid(), "/cmdline")));
  EXPECT_THAT(text_of(list[0], "next"), HasSubstr("-np 2: mpirun -np 2 "));
  EXPECT_EQ(list[0]["pids"], json({ranks[0]}));
}

TEST_F(DoctorFinds, NoMoreThanItCanVerifyInAPidNamespace) {
  const std::vector<std::string> in_namespace{"unshare", "--pid", "--fork", "--mount-proc"};
  std::vector<std::string> words = in_namespace;
  words.push_back("true");
  if (ToolProcess(words, folder_.path()).wait().code != 0)
    GTEST_SKIP() << "a PID namespace is not permitted here";
  constexpr int of_the_host = 3999999;
  set({gpu(0, {of_the_host}), gpu(1)});
  words = in_namespace;
  words.insert(words.end(),
               {"sh", "-c",
                "\"$@\" > /dev/null & sleep 0.2; " + testing::shell_line(command({"--all"})) +
                    "; code=$?; kill $!; exit $code",
                "sh"});
  for (const std::string& word : user({"libtorch_cuda.so"})) words.push_back(word);
  const ToolResult result = ToolProcess(words, folder_.path(), environment_).wait();
  EXPECT_NE(result.code, 2) << result.err;
  EXPECT_THAT(result.out, HasSubstr("pid 3999999 (of another PID namespace, or ended)"));
  EXPECT_THAT(result.out, Not(HasSubstr("one-of-several")));
}

}  // namespace
}  // namespace lockstep::testing
