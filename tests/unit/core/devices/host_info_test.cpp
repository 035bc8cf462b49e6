#include <gtest/gtest.h>

#include <thread>

#include "core/base/files/files.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {
namespace {

class HostInfoTest : public ::testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    make_directories((root_.path() / path).parent_path());
    write_file_atomic(root_.path() / path, text);
  }
  void SetUp() override { file("proc/meminfo", "MemTotal:  8192 kB\nMemFree:  1 kB\n"); }
  HostInfo read(int affinity_cores) { return host_info_under(root_.path(), affinity_cores); }
  TemporaryDirectory root_;
};

TEST_F(HostInfoTest, TakesAffinityAndPhysicalMemoryWithoutACgroup) {
  EXPECT_EQ(read(12).cores, 12);
  EXPECT_EQ(read(12).memory_bytes, 8192u * 1024);
}

TEST(HostInfo, TakesTheThreadsOfARankFromOpenMPsVariable) {
  const auto threads = [](const char* asked) {
    setenv("OMP_NUM_THREADS", asked, 1);
    return host_info().rank_threads;
  };
  EXPECT_EQ(threads("3"), 3);
  EXPECT_EQ(threads(" 4 , 2"), 4);
  for (const char* const none : {"", "0", "-1", "many", "99999999999"}) EXPECT_EQ(threads(none), 0);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(host_info().rank_threads, 0);
}

TEST(HostInfo, RanksOfAJobShareItsCores) {
  const int cores = host_info().cores;
  const auto threads_of_job = [](int asked) {
    setenv("OMP_NUM_THREADS", std::to_string(asked).c_str(), 1);
    return host_info().rank_threads;
  };
  setenv("LOCKSTEP_JOB", "a", 1);
  EXPECT_EQ(threads_of_job(cores), 0) << "as the batch sets it";
  EXPECT_EQ(threads_of_job(cores + 1), cores + 1) << "as the job file says";
  unsetenv("LOCKSTEP_JOB");
  EXPECT_EQ(threads_of_job(cores), cores);
  unsetenv("OMP_NUM_THREADS");
}

TEST_F(HostInfoTest, TakesTheSmallestQuotaOfVersion2AndItsAncestors) {
  file("proc/self/cgroup", "0::/user/job\n");
  file("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/user/cpu.max", "350000 100000\n");
  file("sys/fs/cgroup/user/job/memory.max", "4194304\n");
  file("sys/fs/cgroup/user/memory.max", "max\n");
  EXPECT_EQ(read(12).cores, 3);
  EXPECT_EQ(read(2).cores, 2);
  EXPECT_EQ(read(12).memory_bytes, 4194304u);
}

TEST_F(HostInfoTest, LooksAtTheMountWhereTheHostsPathIsNotVisible) {
  file("proc/self/cgroup", "0::/system.slice/docker-12.scope\n");
  file("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(read(12).cores, 1);
}

TEST_F(HostInfoTest, ReadsVersion1) {
  file("proc/self/cgroup", "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
  file("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "400000\n");
  file("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(read(12).cores, 4);
  EXPECT_EQ(read(12).memory_bytes, 1048576u);
}

TEST_F(HostInfoTest, TakesVersion1sUnlimitedValuesForNone) {
  file("proc/self/cgroup", "4:memory:/\n3:cpu:/\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read(12).cores, 12);
  EXPECT_EQ(read(12).memory_bytes, 8192u * 1024);
}

TEST_F(HostInfoTest, FindsThisHost) {
  const HostInfo host = host_info();
  EXPECT_GE(host.cores, 1);
  EXPECT_LE(host.cores, static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_GT(host.memory_bytes, 64u << 20);
}

}  // namespace
}  // namespace lockstep
