#include "tools/jobs/schedule/near_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "tools/jobs/schedule/placement.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NearCores, ReadsListsAsTheKernelWritesThem) {
  EXPECT_THAT(cores_of_list("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(cores_of_list("5"), ElementsAre(5));
  for (const char* none : {"", "x", "1-", "-2", "3-99999999", "0-1;2"})
    EXPECT_THAT(cores_of_list(none), IsEmpty()) << none;
}

TEST(NearCores, AreThoseOfTheDevicesNode) {
  const TemporaryDirectory root;
  const std::filesystem::path folder = root.path() / "sys/bus/pci/devices/0000:17:00.0";
  make_directories(folder);
  write_file_atomic(folder / "local_cpulist", "2-3\n");
  EXPECT_THAT(near_cores("0000:17:00.0", root.path()), ElementsAre(2, 3));
  EXPECT_THAT(near_cores("0000:18:00.0", root.path()), IsEmpty());
  EXPECT_THAT(near_cores("", root.path()), IsEmpty());
}

TEST(NearCores, AreGivenToJobsOnTheDeviceFirst) {
  Resources resources({.cores = {0, 1, 2, 3}, .devices = {"a", "b"}, .near = {{2, 3}, {0, 1}}});
  const QueuedJob job{.cpus = 1, .gpus = {.kind = GpuRequest::Kind::whole, .devices = 1}};
  EXPECT_THAT(resources.place(job)->cores, ElementsAre(2));
  EXPECT_THAT(resources.place(job)->cores, ElementsAre(0));
  EXPECT_THAT(resources.place({.cpus = 2})->cores, ElementsAre(1, 3));
}

TEST(NearCores, AreNotWaitedFor) {
  Resources resources({.cores = {0, 1, 2}, .devices = {"a"}, .near = {{2}}});
  const QueuedJob job{.cpus = 3, .gpus = {.kind = GpuRequest::Kind::whole, .devices = 1}};
  EXPECT_THAT(resources.place(job)->cores, ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace lockstep
