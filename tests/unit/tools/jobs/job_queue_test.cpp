// Which of the jobs that are ready begins next; beside a model that sorts all of them anew each
// time.
#include "tools/jobs/graph/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto whole_gpus = GpuRequest::Kind::whole;

// A queue, and what its jobs run on; durations are of the test.
class Queue : public ::testing::Test {
 protected:
  explicit Queue(int cores = 2, int devices = 0, int slots = 0)
      : resources({.cores = numbers(cores), .slots = slots, .devices = names(devices)}) {}

  static std::vector<int> numbers(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  static std::vector<std::string> names(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back("GPU-" + std::to_string(i));
    return all;
  }
  void put(QueuedJob job) {
    jobs[job.id] = job;
    queue.put(job, demand_of(job), wall_s);
  }
  static JobQueue::Demand demand_of(const QueuedJob& job) {
    return {.cpus = job.cpus, .gpus = job.gpus};
  }
  // Those that begin now.
  std::vector<std::int64_t> begun() {
    std::vector<std::int64_t> begun;
    queue.begin_what_fits(now_s, {.wants_devices =
                                      [&](std::int64_t id) {
                                        return jobs.at(id).gpus.kind != GpuRequest::Kind::none &&
                                               !on_cpu.contains(id);
                                      },
                                  .begin =
                                      [&](std::int64_t id) {
                                        QueuedJob asked = jobs.at(id);
                                        if (on_cpu.contains(id)) asked.gpus = {};
                                        const auto placement = resources.place(asked);
                                        if (!placement) return resources.lacks(asked);
                                        running[id] = *placement;
                                        queue.erase(jobs.at(id));
                                        begun.push_back(id);
                                        return Lacks{};
                                      }});
    return begun;
  }
  void end(std::int64_t id) {
    resources.release(running.at(id));
    running.erase(id);
  }

  Resources resources;
  JobQueue queue;
  std::map<std::int64_t, QueuedJob> jobs;
  std::map<std::int64_t, Placement> running;
  std::set<std::int64_t> on_cpu;  // of those with gpus = auto
  double now_s = 100, wall_s = 1000;
};

TEST_F(Queue, GoesByPriorityAndThenByNumber) {
  put({.id = 1});
  put({.id = 2, .priority = -1});
  put({.id = 3, .priority = 5});
  put({.id = 4});
  EXPECT_THAT(begun(), ElementsAre(3, 1));
  end(3);
  end(1);
  EXPECT_THAT(begun(), ElementsAre(4, 2));
  EXPECT_TRUE(queue.empty());
}

TEST_F(Queue, OneOfHigherPriorityThatLacksCoresLetsNobodyPast) {
  for (int id = 1; id <= 10; ++id) put({.id = id});
  EXPECT_THAT(begun(), ElementsAre(1, 2));
  put({.id = 11, .priority = 10, .cpus = 2});
  end(1);
  EXPECT_THAT(begun(), IsEmpty());
  end(2);
  EXPECT_THAT(begun(), ElementsAre(11));
  end(11);
  EXPECT_THAT(begun(), ElementsAre(3, 4));
}

TEST_F(Queue, AmongEqualsTheLaterOnesMayPassForSomeTime) {
  put({.id = 1});
  EXPECT_THAT(begun(), ElementsAre(1));
  put({.id = 2, .cpus = 2});
  put({.id = 3});
  put({.id = 4});
  put({.id = 5, .cpus = 0});
  EXPECT_THAT(begun(), ElementsAre(3, 5));
  end(3);
  now_s += JobQueue::let_past_s;
  put({.id = 6, .cpus = 0});
  EXPECT_THAT(begun(), ElementsAre(6)) << "which needs none";
  end(1);
  EXPECT_THAT(begun(), ElementsAre(2));
}

TEST_F(Queue, TimeThatAJobWaitedWithoutLackingCoresDoesNotCount) {
  put({.id = 1, .not_before = wall_s + 60});
  put({.id = 2});
  EXPECT_THAT(begun(), ElementsAre(2));
  now_s += 60;
  wall_s += 60;
  ASSERT_THAT(queue.take_delayed(wall_s), ElementsAre(1));
  jobs[1].cpus = 2;
  put(jobs[1]);
  put({.id = 3});
  EXPECT_THAT(begun(), ElementsAre(3));
}

class QueueWithDevices : public Queue {
 protected:
  QueueWithDevices() : Queue(8, 2) {}
  static QueuedJob on_gpus(std::int64_t id, int devices, double cpus = 1) {
    return {.id = id, .cpus = cpus, .gpus = {.kind = whole_gpus, .devices = devices}};
  }
};

TEST_F(QueueWithDevices, WhatLacksDevicesHoldsBackThoseThatWantSome) {
  put(on_gpus(1, 1));
  EXPECT_THAT(begun(), ElementsAre(1));
  put(on_gpus(2, 2));
  put(on_gpus(3, 1));
  put({.id = 4});
  EXPECT_THAT(begun(), ElementsAre(4));
  end(1);
  EXPECT_THAT(begun(), ElementsAre(2));
}

TEST_F(QueueWithDevices, WhatLacksCoresAloneDoesNot) {
  put({.id = 1, .cpus = 4});
  EXPECT_THAT(begun(), ElementsAre(1));
  put(on_gpus(2, 1, 8));
  put(on_gpus(3, 1, 1));
  EXPECT_THAT(begun(), ElementsAre(3));
}

TEST_F(QueueWithDevices, CoresAreNotKeptForWhatLacksDevicesToo) {
  put(on_gpus(1, 2));
  put({.id = 2, .cpus = 4});
  EXPECT_THAT(begun(), ElementsAre(1, 2));
  put(on_gpus(3, 1, 8));
  put({.id = 4, .priority = -1});
  now_s += JobQueue::let_past_s;
  EXPECT_THAT(begun(), ElementsAre(4));
}

TEST_F(QueueWithDevices, OneThatIsDecidedForTheCpuIsNotHeldBack) {
  put(on_gpus(1, 2));
  EXPECT_THAT(begun(), ElementsAre(1));
  put(on_gpus(2, 1));
  on_cpu.insert(3);
  put({.id = 3, .gpus = {.kind = GpuRequest::Kind::automatic}});
  EXPECT_THAT(begun(), ElementsAre(3));
}

TEST_F(Queue, OneThatIsErasedIsGoneWhereverItWas) {
  put({.id = 1, .not_before = wall_s + 60});
  put({.id = 2});
  EXPECT_EQ(queue.next_delayed(), wall_s + 60);
  queue.erase(jobs[1]);
  queue.erase(jobs[2]);
  queue.erase(jobs[2]);
  EXPECT_FALSE(queue.next_delayed());
  EXPECT_TRUE(queue.empty());
  EXPECT_THAT(begun(), IsEmpty());
}

// All jobs in order, each asked what the rule says of it.
class QueueModel {
 public:
  std::vector<std::int64_t> begin(Resources resources, double now_s,
                                  const std::vector<QueuedJob>& ready) {
    std::vector<QueuedJob> order = ready;
    std::sort(order.begin(), order.end(), [](const QueuedJob& a, const QueuedJob& b) {
      return std::pair(-a.priority, a.id) < std::pair(-b.priority, b.id);
    });
    std::vector<std::int64_t> begun;
    const QueuedJob* awaits_cores = nullptr;
    bool devices_awaited = false;
    std::vector<const QueuedJob*> passed;
    for (const QueuedJob& job : order) {
      const bool like_one_before = std::any_of(passed.begin(), passed.end(), [&](const auto* one) {
        return one->cpus == job.cpus && one->gpus == job.gpus;
      });
      const bool wants_devices = job.gpus.kind != GpuRequest::Kind::none;
      const bool held = (devices_awaited && wants_devices) ||
                        (awaits_cores != nullptr && job.cpus > 0 &&
                         (job.priority < awaits_cores->priority ||
                          now_s >= since_.at(awaits_cores->id) + JobQueue::let_past_s));
      if (held) {
        passed.push_back(&job);
        continue;
      }
      const Lacks lacks = resources.lacks(job);
      if (lacks.slots) break;
      if (!lacks.any()) {
        EXPECT_FALSE(like_one_before);
        resources.place(job);
        begun.push_back(job.id);
        since_.erase(job.id);
        continue;
      }
      passed.push_back(&job);
      if (like_one_before) continue;
      devices_awaited = devices_awaited || lacks.devices;
      if (!lacks.cores || lacks.devices) {
        since_.erase(job.id);
        continue;
      }
      since_.emplace(job.id, now_s);
      if (awaits_cores == nullptr) awaits_cores = &job;
    }
    return begun;
  }
  void erase(std::int64_t job) { since_.erase(job); }

 private:
  std::map<std::int64_t, double> since_;
};

class RandomQueue : public Queue {
 protected:
  RandomQueue() : Queue(4, 2, 0) {}
};

TEST_F(RandomQueue, BeginsWhatTheRuleSays) {
  std::mt19937 random(7);
  const auto one_of = [&](auto values) { return *(values.begin() + random() % values.size()); };
  std::int64_t begun_in_all = 0, held = 0;
  for (int sequence = 0; sequence < 10'000; ++sequence) {
    resources = Resources(
        {.cores = numbers(4), .slots = static_cast<int>(random() % 2 * 3), .devices = names(2)});
    queue = {};
    running.clear();
    QueueModel model;
    std::map<std::int64_t, QueuedJob> ready;
    std::int64_t next = 0;
    for (int step = 0; step < 20; ++step) {
      switch (random() % 4) {
        case 0:
        case 1: {
          const QueuedJob job{.id = ++next,
                              .priority = static_cast<int>(random() % 3) - 1,
                              .cpus = one_of(std::vector<double>{0, 0.5, 1, 2, 4}),
                              .gpus = one_of(std::vector<GpuRequest>{
                                  {},
                                  {},
                                  {.kind = whole_gpus, .devices = 1},
                                  {.kind = whole_gpus, .devices = 2},
                                  {.kind = GpuRequest::Kind::share, .share = 0.5}})};
          put(job);
          ready[job.id] = job;
          break;
        }
        case 2:
          if (!running.empty()) end(std::next(running.begin(), random() % running.size())->first);
          break;
        default:
          if (!ready.empty() && random() % 4 == 0) {
            const auto gone = std::next(ready.begin(), random() % ready.size());
            queue.erase(gone->second);
            model.erase(gone->first);
            ready.erase(gone);
          }
          now_s += one_of(std::vector<double>{0, 4, 11});
      }
      std::vector<QueuedJob> jobs_now;
      for (const auto& [id, job] : ready) jobs_now.push_back(job);
      const std::vector<std::int64_t> expected = model.begin(resources, now_s, jobs_now);
      ASSERT_EQ(begun(), expected) << sequence << ", " << step;
      for (const std::int64_t id : expected) ready.erase(id);
      begun_in_all += static_cast<std::int64_t>(expected.size());
      held += static_cast<std::int64_t>(ready.size());
    }
  }
  EXPECT_GT(begun_in_all, 30'000);
  EXPECT_GT(held, 50'000) << "looks at jobs that do not begin";
}

}  // namespace
}  // namespace lockstep
