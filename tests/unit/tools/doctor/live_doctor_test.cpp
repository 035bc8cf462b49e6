// The doctor beside a live view: what it asks in a thread of its own, and machines that are out of
// the ordinary.
#include "tools/doctor/live_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include "core/base/clock.h"
#include "fakes/fake_probe.h"
#include "made_evidence.h"
#include "tools/doctor/evidence/look.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

// Asks again and again until it is no longer looking.
std::string answer(LiveDoctor& doctor, int pid) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text = doctor.text(pid, 78);
    if (text.find("looking") == text.npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  return text;
}

MonitorSample sample_of(const Evidence& evidence) { return evidence.samples.front(); }

TEST(LiveDoctor, SaysWhetherItsThreadStillAsks) {
  std::promise<void> answers;
  std::shared_future<void> answered = answers.get_future().share();
  LiveDoctor doctor([answered] {
    answered.wait();
    return testing::made_evidence(2);
  });
  EXPECT_FALSE(doctor.is_asking());  // it has not been asked
  doctor.add(sample_of(testing::made_evidence(2)));
  EXPECT_THAT(doctor.text(1, 78), HasSubstr("doctor: looking"));
  EXPECT_TRUE(doctor.is_asking());
  answers.set_value();
  EXPECT_THAT(answer(doctor, 1), HasSubstr("nothing found"));
  EXPECT_FALSE(doctor.is_asking());
}

TEST(LiveDoctor, SaysWhyItCannotLook) {
  LiveDoctor doctor([]() -> Evidence { throw std::runtime_error("the driver is gone"); });
  doctor.add(sample_of(testing::made_evidence(1)));
  EXPECT_EQ(answer(doctor, 1), "doctor: cannot look: the driver is gone\n");
}

// CUDA's order of these takes asking its driver: without one to ask it is not known.
TEST(EvidenceOfMachine, IsHadWithoutSomebodyToAskAboutCuda) {
  FakeProbe unlike = fake_probe(1), split = fake_probe(1), faulty = fake_probe(2);
  unlike.present.push_back(fake_gpu(1, "NVIDIA A30", 8, 0, 24));
  split.present[0].uuid = "MIG-0";
  faulty.present[1].fault = "GPU is lost";
  for (FakeProbe* probe : {&unlike, &split, &faulty}) {
    const Evidence evidence = evidence_of(*probe, HostInfo{}, probe->present, {});
    EXPECT_EQ(evidence.gpus.size(), probe->present.size());
    EXPECT_FALSE(evidence.cuda_fastest);
  }
}

}  // namespace
}  // namespace lockstep
