// Processes as /proc shows them.
#include "tools/monitor/process_info.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/base/files/files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

class RecordedProc : public ::testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    fs::create_directories((proc_.path() / path).parent_path());
    std::ofstream(proc_.path() / path, std::ios::binary) << text;
  }
  static std::string stat(const std::string& name, long ticks) {
    std::string text = "7 (" + name + ") S";
    for (int field = 4; field < 22; ++field) text += " 1";
    return text + " " + std::to_string(ticks) + " 0 0\n";
  }
  TemporaryDirectory proc_;
};

TEST_F(RecordedProc, HasCommandAndAge) {
  file("uptime", "1000.5 2000.0\n");
  file("7/stat", stat("py) (x", 100 * sysconf(_SC_CLK_TCK)));
  file("7/cmdline", std::string("python\0train.py\0--lr\0", 21));
  const auto process = process_info(7, proc_.path());
  ASSERT_TRUE(process);
  EXPECT_EQ(process->command, "python train.py --lr");
  EXPECT_DOUBLE_EQ(process->age_s, 900.5);
  EXPECT_FALSE(process->user.empty());
}

TEST_F(RecordedProc, HasTheNameOfAProgramWhosePathHasABlank) {
  file("uptime", "10 10\n");
  file("7/stat", stat("x", 5));
  const std::string program = "/home/ada/my project/bin/train";
  const auto command = [&](const std::string& words) {
    file("7/cmdline", words + '\0');
    return process_info(7, proc_.path())->command;
  };
  EXPECT_EQ(command(program + '\0' + "--lr" + '\0' + "1"), "train --lr 1");
  // As programs do that write all of their words into the first.
  EXPECT_EQ(command("/opt/browser --type=x --dir=/a/b"), "/opt/browser --type=x --dir=/a/b");
  fs::create_symlink(program, proc_.path() / "7/exe");
  EXPECT_EQ(command(program), "train");
}

TEST_F(RecordedProc, ShowsNoSecretOfACommand) {
  file("uptime", "10 10\n");
  file("7/stat", stat("x", 5));
  file("7/cmdline", std::string("a\0--token\0one two\0--name=b c\0", 29));
  EXPECT_EQ(process_info(7, proc_.path())->command, "a --token … --name=b c");
}

TEST_F(RecordedProc, HasTheNameOfAProcessWithoutACommand) {
  file("uptime", "10 10\n");
  file("7/stat", stat("kworker/0:1", 5));
  EXPECT_EQ(process_info(7, proc_.path())->command, "[kworker/0:1]");
}

TEST_F(RecordedProc, IsNothingForWhatIsGoneOrDamaged) {
  file("uptime", "10 10\n");
  EXPECT_FALSE(process_info(7, proc_.path()));
  file("7/stat", "");  // it ended while it was looked at
  EXPECT_FALSE(process_info(7, proc_.path()));
  file("7/stat", "7 (x) S 1 1");
  EXPECT_FALSE(process_info(7, proc_.path()));
  EXPECT_FALSE(process_info(0, proc_.path()));
  EXPECT_FALSE(process_info(-5, proc_.path()));
}

TEST_F(RecordedProc, KnowsThatNumbersMayBeThoseOfTheHost) {
  EXPECT_FALSE(may_have_numbers_of_host(proc_.path()));  // unknown
  fs::create_directories(proc_.path() / "self/ns");
  fs::create_symlink("pid:[4026531836]", proc_.path() / "self/ns/pid");
  EXPECT_FALSE(may_have_numbers_of_host(proc_.path()));
  fs::remove(proc_.path() / "self/ns/pid");
  fs::create_symlink("pid:[4026532201]", proc_.path() / "self/ns/pid");
  EXPECT_TRUE(may_have_numbers_of_host(proc_.path()));
  setenv("LOCKSTEP_NVML", "libother.so", 1);
  EXPECT_FALSE(may_have_numbers_of_host(proc_.path()));
  unsetenv("LOCKSTEP_NVML");
}

TEST_F(RecordedProc, KnowsWhoHasFilesOfGpusOpen) {
  EXPECT_EQ(has_gpu_files(7, proc_.path()), std::nullopt);
  fs::create_directories(proc_.path() / "7/fd");
  EXPECT_EQ(has_gpu_files(7, proc_.path()), false);
  fs::create_symlink("/tmp/nvidia0", proc_.path() / "7/fd/3");
  EXPECT_EQ(has_gpu_files(7, proc_.path()), false);
  fs::create_symlink("/dev/nvidia-uvm", proc_.path() / "7/fd/4");
  EXPECT_EQ(has_gpu_files(7, proc_.path()), true);
}

TEST_F(RecordedProc, HasTheTreeBelowAProcess) {
  file("uptime", "10 10\n");
  const auto process = [&](int pid, int parent) {
    std::string text = std::to_string(pid) + " (a) b) S " + std::to_string(parent);
    for (int field = 5; field < 23; ++field) text += " 1";
    file(std::to_string(pid) + "/stat", text + "\n");
  };
  process(1, 0);
  process(7, 1);
  process(8, 7);
  process(9, 8);
  process(10, 1);
  file("self/stat", "no process");
  file("11/stat", "");  // it ended
  EXPECT_EQ(process_tree(7, proc_.path()), (std::set<int>{7, 8, 9}));
  EXPECT_EQ(process_tree(1, proc_.path()), (std::set<int>{1, 7, 8, 9, 10}));
  EXPECT_EQ(process_tree(99, proc_.path()), std::set<int>{});
}

TEST(ProcessInfo, KnowsThisProcess) {
  const auto self = process_info(getpid());
  ASSERT_TRUE(self);
  EXPECT_NE(self->command.find("unit-monitor"), std::string::npos) << self->command;
  EXPECT_LT(self->age_s, 600);
}

}  // namespace
}  // namespace lockstep
