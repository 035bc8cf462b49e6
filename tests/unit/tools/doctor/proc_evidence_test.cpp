// What the doctor reads of a made /proc.
#include "made_proc.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using namespace std::string_literals;

class ProcEvidence : public testing::MadeProc {};

TEST_F(ProcEvidence, HasAllOfAProcess) {
  process(40, 7, "/usr/bin/python3|train.py|", map("/x/libtorch_cuda.so"));
  file("40/stat", stat("py) (S 1", 7, 11, 'R'));
  file("40/io", "rchar: 4096\nwchar: 1\nread_bytes: 0\n");
  file("40/environ", "HOME=/root\0CUDA_VISIBLE_DEVICES=0,1\0RANK=\0HF_TOKEN=x\0noise\0"s);
  open(40, 0, "/dev/null");
  open(40, 3, "/dev/nvidiactl");
  open(40, 4, "/dev/nvidia-uvm");
  open(40, 5, "/dev/nvidia0");
  open(40, 6, "/dev/nvidia12");
  open(40, 7, "/dev/nvidia-caps");
  open(40, 8, "/dev/nvidia0 (deleted)");
  open(40, 9, "/dev/nvidia999999999999");
  file("40/task/41/stat", stat("a (b) c", 7, 9));
  EXPECT_EQ(snapshot().processes.at(40).io_s, std::nullopt);  // the kernel does not count it
  file("sys/kernel/task_delayacct", "1\n");
  const ProcessSnapshot all = snapshot();
  EXPECT_EQ(all.at_s, 7.5);
  ASSERT_THAT(all.processes, ElementsAre(Key(40)));
  const ProcessEvidence& one = all.processes.at(40);
  EXPECT_EQ(one.pid, 40);
  EXPECT_EQ(one.parent, 7);
  EXPECT_EQ(one.group, 20);
  EXPECT_EQ(one.session, 30);
  EXPECT_EQ(one.command, "/usr/bin/python3 train.py");
  EXPECT_FALSE(one.user.empty());
  EXPECT_EQ(one.state, 'R');
  EXPECT_DOUBLE_EQ(one.cpu_s, 12);
  EXPECT_DOUBLE_EQ(one.age_s, 900.5);
  EXPECT_EQ(one.io_s, 2);
  EXPECT_EQ(one.read_bytes, 4096);
  EXPECT_EQ(one.threads, 2);
  ASSERT_EQ(one.busiest.size(), 2u);
  EXPECT_EQ(one.busiest[0].tid, 41);  // most first
  EXPECT_EQ(one.busiest[0].name, "a (b) c");
  EXPECT_DOUBLE_EQ(one.busiest[0].cpu_s, 10);
  EXPECT_THAT(one.environment, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "0,1"), Pair("RANK", "")));
  EXPECT_THAT(one.gpu_files, ElementsAre(0, 12));
  EXPECT_TRUE(one.control_file);
  EXPECT_TRUE(one.uvm_file);
  EXPECT_THAT(one.libraries, ElementsAre("libtorch_cuda.so"));
  EXPECT_THAT(one.unreadable, IsEmpty());
}

TEST_F(ProcEvidence, TakesLibrariesByTheBeginningOfTheirNames) {
  process(40, 7, "x|",
          "7f00-7f01 rw-p 00000000 00:00 0\n" + map("[heap]") + map("/a b/libcuda.so.580.65.06") +
              map("/a b/libcuda.so.580.65.06") + map("/x/libnccl.so.2 (deleted)") +
              map("/x/notlibtorch.so") + map("/libcuda.so/data.bin") + map("/x/libc.so.6") + "cut");
  EXPECT_THAT(snapshot().processes.at(40).libraries,
              ElementsAre("libcuda.so.580.65.06", "libnccl.so.2 (deleted)"));
}

TEST_F(ProcEvidence, LooksOnlyAtThoseThatTell) {
  process(1, 0, "init|");
  process(40, 1, "bash|");               // a parent that runs something else
  process(41, 40, "python|launch.py|");  // that of the same program
  process(42, 41, "/opt/python|train.py|", map("/x/libc10_cuda.so"));
  process(43, 42, "python|loader|");  // below it
  process(44, 43, "unzip|");
  process(50, 1, "named|");  // NVML names it
  process(60, 1, "nvtop|");  // looks at GPUs, without CUDA
  open(60, 3, "/dev/nvidiactl");
  open(60, 4, "/dev/nvidia0");
  process(61, 1, "cuda|");
  open(61, 3, "/dev/nvidia-uvm");
  file("self/stat", stat("not a number", 1, 1));
  file("99999999999/stat", stat("too large", 1, 1));
  EXPECT_THAT(snapshot({50, 12345}).processes,
              UnorderedElementsAre(Key(41), Key(42), Key(43), Key(44), Key(50), Key(61)));
}

// As setproctitle does, which needs the room: the title, or zeros, or what follows a long one.
TEST_F(ProcEvidence, TakesAnOverwrittenEnvironmentForUnreadable) {
  const std::string overwritten[] = {
      ""s,      "\0\0\0\0"s,   "gineCore_DP0\0\0\0"s, "   "s,
      "noise"s, "--tp=2\0\0"s, "ker 1: x=2\0A=b\0"s,  "=x\0CUDA_VISIBLE_DEVICES=0\0"s};
  for (const std::string& text : overwritten) {
    process(40, 7, "VLLM::Worker|", map("/x/libtorch_cuda.so"));
    file("40/environ", text);
    const ProcessEvidence one = snapshot().processes.at(40);
    EXPECT_FALSE(one.can_read("environ")) << text;
    EXPECT_TRUE(one.has_overwritten_environment()) << text;
    EXPECT_THAT(one.environment, IsEmpty()) << text;
  }
  for (const std::string& text : {"_=x\0RANK=1\0"s, "BASH_FUNC_ml%%=() { x\n}\0RANK=1\0"s}) {
    file("40/environ", text);
    EXPECT_THAT(snapshot().processes.at(40).environment, ElementsAre(Pair("RANK", "1"))) << text;
  }
}

TEST_F(ProcEvidence, HasTheLauncherAboveWithWhatIsBetween) {
  process(1, 0, "init|");
  process(30, 1, "bash|");
  process(31, 30, "mpirun|-np|2|sh|go.sh|");
  process(32, 31, "sh|go.sh|");
  process(33, 32, "./train|", map("/x/libcudart.so.12"));
  process(35, 30, "vi|");
  EXPECT_THAT(snapshot().processes, UnorderedElementsAre(Key(31), Key(32), Key(33)));
}

TEST_F(ProcEvidence, SaysWhatItMayNotRead) {
  for (const int pid : {40, 41}) file(cat(pid, "/stat"), stat("x", 1, 5));
  file("40/cmdline", "x");
  unreadable(40, "environ");
  unreadable(40, "maps");
  unreadable(40, "io");
  const ProcessSnapshot all = snapshot({40, 41});
  const ProcessEvidence& one = all.processes.at(40);
  EXPECT_FALSE(one.can_read("environ"));
  EXPECT_FALSE(one.can_read("maps"));
  EXPECT_FALSE(one.can_read("fd"));
  EXPECT_THAT(one.unreadable, ::testing::Contains(HasSubstr("environ: Is a directory")));
  EXPECT_EQ(one.read_bytes, std::nullopt);
  EXPECT_EQ(one.threads, 0);
  // Without any file but that of its state.
  EXPECT_EQ(all.processes.at(41).command, "[x]");
  EXPECT_FALSE(all.processes.at(41).can_read("fd"));
  EXPECT_FALSE(all.files_seen);
}

TEST_F(ProcEvidence, KnowsWhetherItSawTheFilesOfAll) {
  process(40, 1, "x|", map("/x/libcuda.so.1"));
  process(50, 1, "y|", "");  // has nothing to do with GPUs
  EXPECT_TRUE(snapshot({}).files_seen);
  file("51/stat", stat("z", 1, 5));
  EXPECT_FALSE(snapshot({}).files_seen);
}

TEST_F(ProcEvidence, PassesOverAProcessThatEnded) {
  process(40, 1, "x|", map("/x/libcuda.so.1"));
  file("40/stat", "");
  process(41, 1, "x|", map("/x/libcuda.so.1"));
  file("41/stat", "41 (cut off) S 1 2");
  std::filesystem::create_directories(proc() / "42");
  process(43, 1, "x|", map("/x/libcuda.so.1"));
  file("43/task/43/stat", "");
  file("43/task/44/stat", "44 (x");
  const ProcessSnapshot all = snapshot({40, 41, 42, 43, 45});
  ASSERT_THAT(all.processes, ElementsAre(Key(43)));
  EXPECT_EQ(all.processes.at(43).threads, 0);
}

TEST_F(ProcEvidence, KeepsTheBusiestOfManyThreads) {
  process(40, 1, "x|", map("/x/libcuda.so.1"));
  for (int tid = 41; tid <= 139; ++tid) file(cat("40/task/", tid, "/stat"), stat("t", 1, tid));
  const ProcessEvidence one = snapshot().processes.at(40);
  EXPECT_EQ(one.threads, 100);
  ASSERT_EQ(one.busiest.size(), 64u);
  EXPECT_EQ(one.busiest.front().tid, 139);
  EXPECT_EQ(one.busiest.back().tid, 76);
}

TEST_F(ProcEvidence, LeavesSecretsOutOfCommands) {
  process(40, 1, "python3|train.py|--token=abc def|--password|my own|--lr=1|API_KEY=x y|",
          map("/x/libcuda.so.1"));
  EXPECT_EQ(snapshot().processes.at(40).command,
            "python3 train.py --token=… --password … --lr=1 API_KEY=…");
}

TEST_F(ProcEvidence, OfAFolderThatIsNotThereIsNothing) {
  EXPECT_THAT(snapshot_of(0, {1}, root_.path() / "none").processes, IsEmpty());
}

TEST(TellingVariables, AreTheOnlyOnes) {
  EXPECT_TRUE(is_telling_variable("CUDA_VISIBLE_DEVICES"));
  EXPECT_TRUE(is_telling_variable("LOCAL_RANK"));
  for (const char* name : {"", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "cuda_visible_devices",
                           "CUDA_VISIBLE_DEVICES2", "WANDB_API_KEY", "PATH", "HOME"})
    EXPECT_FALSE(is_telling_variable(name)) << name;
}

}  // namespace
}  // namespace lockstep
