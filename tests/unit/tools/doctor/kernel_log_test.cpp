// Faults of GPUs in the kernel's log.
#include "tools/doctor/evidence/kernel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "fakes/fake_probe.h"
#include "tools/doctor/evidence/look.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Faults = std::map<std::string, std::vector<GpuFault>>;

MATCHER_P3(IsFault, xid, times, at_s, "") {
  return arg.xid == xid && arg.times == times && std::abs(arg.at_s - at_s) < 1e-9;
}

Faults faults(const std::string& text) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "kmsg", text);
  return gpu_faults(folder.path() / "kmsg");
}

TEST(KernelLog, CountsFaultsOfEachGpuByTheirNumber) {
  const Faults found = faults(
      "6,1,1000000,-;usb 1-1: new device\n"
      " SUBSYSTEM=usb\n"
      "4,2,10000000,-;NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has "
      "fallen off the bus.\n"
      "4,3,20000000,-;NVRM: Xid (PCI:0000:65:00): 31, pid=7, name=python, Ch 00000008\n"
      "4,4,40000000,-;NVRM: Xid (PCI:0000:65:00): 79, pid=7\n"
      "4,5,90000000,c;NVRM: Xid (PCI:0001:0a:00 GPU-I:01): 94, pid=8\n");
  EXPECT_THAT(found,
              ElementsAre(Pair("0000:65:00.0", ElementsAre(IsFault(31, 1, 20), IsFault(79, 2, 40))),
                          Pair("0001:0a:00.0", ElementsAre(IsFault(94, 1, 90)))));
}

TEST(KernelLog, TakesAnythingElseForNothing) {
  for (const char* text :
       {"", "\n", "NVRM: Xid (PCI:0000:65:00): 79", ";NVRM: Xid (PCI:0000:65:00): 79",
        "4,2;NVRM: Xid (PCI:0000:65:00): 79", "4,2,x,-;NVRM: Xid (PCI:0000:65:00): 79",
        "4,2,3,-;NVRM: Xid (PCI:0000:65:00): ", "4,2,3,-;NVRM: Xid (PCI:0000:65:00): x",
        "4,2,3,-;NVRM: Xid (PCI:0000:65:00",
        "4,2,3,-;NVRM: Xid (PCI:", "4,2,3,-;NVRM: Xid (PCI:0000:65:00): 99999999999999999999",
        "4,2,3,-;somebody says NVRM: Xid (PCI:0000:65:00): 79"})
    EXPECT_THAT(faults(text), IsEmpty()) << text;
  EXPECT_THAT(gpu_faults("/nonexistent/kmsg"), IsEmpty());
  EXPECT_THAT(gpu_faults("/proc"), IsEmpty());  // not a file
}

TEST(KernelLog, ReadsLogsOfAnySizeAndPassesOverLinesWithoutEnd) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "6,1,1,-;" + std::string(200, 'x') + "\n";
  text += std::string(200'000, 'y') + "\n";
  text += "4,2,3000000,-;NVRM: Xid (PCI:0000:65:00): 79, pid=1\n";
  EXPECT_THAT(faults(text), ElementsAre(Pair("0000:65:00.0", ElementsAre(IsFault(79, 1, 3)))));
}

TEST(KernelLog, IsEvidenceOfTheGpuAtThatAddress) {
  const TemporaryDirectory root;
  std::filesystem::create_directory(root.path() / "dev");
  FakeProbe probe;
  probe.present = {fake_gpu(0), fake_gpu(1)};
  probe.known[1] = {.ecc_uncorrected = 2, .remap_pending = true};
  write_file_atomic(root.path() / "dev/kmsg",
                    "4,2,3,-;NVRM: Xid (PCI:0000:20:00): 74, pid=1\n"
                    "4,2,3,-;NVRM: Xid (PCI:0000:99:00): 79, pid=1\n");
  const Evidence evidence = evidence_of(probe, HostInfo{}, probe.present, {.root = root.path()});
  ASSERT_EQ(evidence.places.size(), 2u);
  EXPECT_THAT(evidence.places[0].faults, IsEmpty());
  ASSERT_EQ(evidence.places[1].faults.size(), 1u);
  EXPECT_EQ(evidence.places[1].faults[0].xid, 74);
  EXPECT_EQ(evidence.places[1].ecc_uncorrected, 2u);
  EXPECT_TRUE(evidence.places[1].remap_pending);
}

TEST(KernelLog, KnowsFaultsOfTheHardwareFromThoseOfPrograms) {
  EXPECT_EQ(xid_meaning(79), "it fell off the bus");
  for (const int of_programs : {0, 13, 31, 43, 45, -1}) EXPECT_EQ(xid_meaning(of_programs), "");
}

}  // namespace
}  // namespace lockstep
