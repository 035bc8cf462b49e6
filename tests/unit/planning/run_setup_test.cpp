// The record of a run: read back as it was written, and refused where it is damaged.
#include "planning/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using nlohmann::json;

class RunRecord : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool once = [] {  // the registry outlives a repetition of the tests
      register_recipe({"recorded", "for tests", [] { return std::make_unique<RecipeOptions>(); }});
      return true;
    }();
    ASSERT_TRUE(once);
  }

  static json record() {
    RunSetup setup = make_setup("recorded", "", false);
    setup.train->precision = Precision::fp32;
    setup.train->stop.steps = 100;
    setup.train->batch.global = 8;
    setup.train->exact = true;
    setup.prepared.facts = {
        .train_samples = 1000, .valid_samples = 10, .parameters = 100, .frozen_parameters = 20};
    const Device device{.name = "CPU", .memory_bytes = std::uint64_t{8} << 30};
    setup.plan = make_plan(*setup.train, setup.prepared.facts, {}, {device, device});
    setup.plan.devices[1].index = 1;
    return setup_to_json(setup);
  }
};

TEST_F(RunRecord, IsReadBackAsItWasWritten) {
  const json written = record();
  const RunSetup read = setup_from_json(written);
  EXPECT_EQ(read.plan.batch.global, 8);
  EXPECT_EQ(read.plan.devices.size(), 2u);
  EXPECT_EQ(read.plan.devices[1].index, 1);
  ASSERT_TRUE(read.plan.exact);
  EXPECT_EQ(setup_to_json(read)["plan"]["batch"], written["plan"]["batch"]);
  EXPECT_EQ(setup_to_json(read)["facts"], written["facts"]);
}

TEST(FactsRecord, HoldsWhatTheDataSaysOfItsOrderAndRows) {
  const Facts written{.train_samples = 10, .epoch_size = 7, .rows_per_sample = 6, .fixed_micro = 3};
  const Facts read = facts_from_json(to_json(written));
  EXPECT_EQ(read.epoch_size, 7);
  EXPECT_EQ(read.rows_per_sample, 6);
  EXPECT_EQ(read.fixed_micro, 3);
}

// As the worker is asked for facts, and for tries.
TEST_F(RunRecord, IsWrittenBeforeThereIsAPlanToo) {
  const json written = setup_to_json(make_setup("recorded", "", false));
  EXPECT_EQ(written["config"]["schedule.kind"], "cosine");
  EXPECT_EQ(written["plan"]["schedule"]["kind"], "constant");
}

// 1e300 is no whole number of any width, and sums of the others would overflow.
TEST_F(RunRecord, IsRefusedWhereANumberCannotBe) {
  for (const char* place :
       {"/plan/batch/world_size", "/plan/batch/micro", "/plan/batch/accumulation",
        "/plan/batch/global", "/plan/total_steps", "/plan/train_samples",
        "/plan/exact/leaf_samples", "/plan/devices/0/threads", "/plan/devices/0/memory_bytes",
        "/plan/recomputed_blocks", "/plan/memory/blocks", "/facts/train_samples",
        "/facts/parameters"})
    for (const json& value : {json(-1), json(1e300), json(UINT64_MAX), json("8"), json(nullptr)}) {
      json damaged = record();
      damaged[json::json_pointer(place)] = value;
      EXPECT_THAT(error_of([&] { setup_from_json(damaged); }), ::testing::HasSubstr("is damaged"))
          << place << " " << value;
    }
}

TEST_F(RunRecord, HoldsTheScheduleOfEveryKind) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    RunSetup setup = setup_from_json(record());
    setup.train->schedule.kind = kind.name;
    setup.train->schedule.warmup = 3;
    for (auto& [name, value] : setup.train->schedule.parameters) value = value == 0 ? 7 : value;
    setup.plan = make_plan(*setup.train, setup.prepared.facts, {}, setup.plan.devices);
    const Schedule& written = setup.plan.schedule;
    const Schedule read = setup_from_json(setup_to_json(setup)).plan.schedule;
    EXPECT_EQ(read.kind, &kind);
    EXPECT_EQ(read.parameters, written.parameters) << kind.name;
    for (std::int64_t step = 0; step < 100; ++step)
      EXPECT_EQ(learning_rate(read, step), learning_rate(written, step)) << kind.name;
  }
}

// What the recipe prepares for a prediction goes into it.
TEST_F(RunRecord, IsRefusedWhereWhatTheRecipeKeptIsNoObject) {
  for (const json& value : {json("x"), json(3), json::array({1})}) {
    json damaged = record();
    damaged["extra"] = value;
    EXPECT_THAT(error_of([&] { setup_from_json(damaged); }), ::testing::HasSubstr("extra is no"))
        << value;
  }
  json without = record();
  without["extra"] = nullptr;
  EXPECT_EQ(setup_from_json(without).prepared.extra, json::object());
}

// These are divided by.
TEST_F(RunRecord, IsRefusedWhereASizeOfTheBatchIsZero) {
  for (const char* size : {"world_size", "micro", "accumulation", "global"}) {
    json damaged = record();
    damaged["plan"]["batch"][size] = 0;
    EXPECT_THAT(error_of([&] { setup_from_json(damaged); }), ::testing::HasSubstr("is 0")) << size;
  }
}

TEST_F(RunRecord, IsRefusedWhereItsScheduleCannotBeAsked) {
  const json bad[] = {{{"kind", "step"}, {"every_steps", 0}},
                      {{"kind", "cosine_restarts"}, {"period_steps", 0}},
                      {{"kind", "cosine_restarts"}, {"period_steps", 1}, {"period_mult", 0.5}},
                      {{"kind", "cosine_restarts"}, {"period_steps", 1}, {"period_mult", 1.0001}}};
  for (const json& schedule : bad) {
    json damaged = record();
    damaged["plan"]["schedule"].update({{"gamma", 0.1}, {"period_mult", 1}});
    damaged["plan"]["schedule"].update(schedule);
    EXPECT_THAT(error_of([&] { setup_from_json(damaged); }), ::testing::HasSubstr("schedule"))
        << schedule;
  }
}

TEST_F(RunRecord, IsRefusedWithoutDevices) {
  json damaged = record();
  damaged["plan"]["devices"] = json::array();
  EXPECT_THAT(error_of([&] { setup_from_json(damaged); }), ::testing::HasSubstr("no devices"));
}

}  // namespace
}  // namespace lockstep
