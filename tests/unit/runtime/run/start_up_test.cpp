// The parts of a start-up add up, over the tool and the worker.
#include "runtime/run/events/start_up.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fakes/fake_clock.h"

namespace lockstep {
namespace {

using nlohmann::json;

TEST(StartUp, GoesOnFromTheToolsBeginning) {
  FakeClock clock;
  clock.advance(100);
  const std::string variable = start_variable(clock.now_s() - 3, clock.now_s() - 1);
  StartUp start_up(clock, variable.c_str());
  clock.advance(0.5);
  start_up.done("model");
  clock.advance(0.25);
  start_up.done("first_step");
  const json expected = {{"tool", 2.0}, {"worker", 1.0}, {"model", 0.5}, {"first_step", 0.25}};
  const json parts = start_up.to_json().at("parts");
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0][0], "tool");
  for (const json& part : parts)
    EXPECT_NEAR(part[1].get<double>(), expected.at(part[0].get<std::string>()), 1e-5);
  EXPECT_NEAR(start_up.seconds(), 3.75, 1e-5);
}

TEST(StartUp, WhatTheCommandDidBeforeIsNoPartOfIt) {
  FakeClock clock;
  clock.advance(100);
  const std::string variable = start_variable(clock.now_s() - 3, clock.now_s() - 1, 50);
  const StartUp start_up(clock, variable.c_str());
  EXPECT_NEAR(start_up.seconds(), 3, 1e-5);
  EXPECT_NEAR(start_up.earlier_s(), 50, 1e-5);
  EXPECT_EQ(StartUp(clock, "5 6").earlier_s(), 0);
  EXPECT_EQ(StartUp(clock, "5 6 -1").earlier_s(), 0);
}

TEST(StartUp, AddsUpAPartThatComesTwice) {
  FakeClock clock;
  StartUp start_up(clock, nullptr);
  for (const char* part : {"data", "model", "data"}) {
    clock.advance(1);
    start_up.done(part);
  }
  EXPECT_EQ(start_up.to_json().at("parts"), json::parse(R"([["data", 2.0], ["model", 1.0]])"));
}

TEST(StartUp, TrustsNoVariableThatCannotBe) {
  FakeClock clock;
  clock.advance(10);
  for (const char* variable : {"", "x", "5", "7 6", "5 11"}) {
    EXPECT_EQ(StartUp(clock, variable).seconds(), 0) << variable;
  }
}

}  // namespace
}  // namespace lockstep
