// What one process has used, while it lives.
#include "tools/jobs/process/process_use.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace lockstep {
namespace {

double own_cpu_s() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void work_for_s(double seconds) {
  for (const double until = own_cpu_s() + seconds; own_cpu_s() < until;) continue;
}

void touch(std::size_t bytes) {
  void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  ::munmap(block, bytes);
}

TEST(ProcessUse, CountsOwnTime) {
  const double before = cpu_s_of(::getpid());
  work_for_s(0.05);
  EXPECT_GE(cpu_s_of(::getpid()), before + 0.05);
  EXPECT_LE(cpu_s_of(::getpid()), own_cpu_s() + 100);
}

// What is wrong with the counts of a process that has one child; nullptr: nothing.
const char* fault_of_counts() {
  const double before = cpu_s_of(::getpid()) - own_cpu_s();
  if (has_children(::getpid())) return "children before there is one";
  const pid_t child = ::fork();
  if (child == 0) {
    work_for_s(0.1);
    ::_exit(0);
  }
  if (!has_children(::getpid())) return "no children while there is one";
  ::waitpid(child, nullptr, 0);
  if (has_children(::getpid())) return "children after the one was waited for";
  if (cpu_s_of(::getpid()) - own_cpu_s() < before + 0.06) return "the child's time is missing";
  return nullptr;
}

// In a process of its own: this one may have children of tests that ran before.
TEST(ProcessUse, CountsChildrenOnceTheyAreWaitedFor) {
  const auto count = [] {
    const char* const fault = fault_of_counts();
    if (fault != nullptr) ::dprintf(STDERR_FILENO, "%s\n", fault);
    ::_exit(fault == nullptr ? 0 : 1);
  };
  EXPECT_EXIT(count(), ::testing::ExitedWithCode(0), "");
}

TEST(ProcessUse, ForgetsAPeak) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  touch(bytes);
  const std::int64_t high = peak_memory_bytes(::getpid());
  EXPECT_GE(high, static_cast<std::int64_t>(bytes));
  forget_peak(::getpid());
  EXPECT_LE(peak_memory_bytes(::getpid()), high - static_cast<std::int64_t>(bytes / 2));
  touch(bytes);
  EXPECT_GE(peak_memory_bytes(::getpid()), static_cast<std::int64_t>(bytes));
}

TEST(ProcessUse, OfOneThatIsGoneIsNothing) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(cpu_s_of(child), 0);
  EXPECT_EQ(peak_memory_bytes(child), 0);
  forget_peak(child);
  EXPECT_FALSE(has_children(child));
}

}  // namespace
}  // namespace lockstep
