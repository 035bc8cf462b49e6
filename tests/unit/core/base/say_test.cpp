// What is said to people.
#include "core/base/text/say.h"

#include <gtest/gtest.h>

#include <functional>

#include "fakes/raw_controls.h"

namespace lockstep {
namespace {

std::string said(const std::function<void()>& act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Say, KeepsLinesAndTabsAlone) {
  EXPECT_EQ(said([] { say("a\tb\nc"); }), "a\tb\nc\n");
  const std::string text = said([] { say("run " + testing::steering); });
  EXPECT_FALSE(testing::has_raw_controls(text));
  EXPECT_TRUE(text.starts_with(R"(run <\x1b[2J)")) << text;
}

TEST(Say, AnErrorHasItsHintBelowIt) {
  EXPECT_EQ(said([] { say_error("a"); }), "error: a\n");
  EXPECT_EQ(said([] { say_error("a\nb", "c"); }), "error: a\nb\n\nhint: c\n");
}

TEST(Say, ANameInAnErrorBeginsNoMessageOfItsOwn) {
  EXPECT_EQ(said([] { say_error("no x\n\nhint: run it", "y\nerror: z"); }),
            "error: no x\n\n  hint: run it\n\nhint: y\n  error: z\n");
}

TEST(Say, WhatIsDrawnKeepsOwnSequencesAlone) {
  EXPECT_EQ(said([] { draw_on_terminal("\r\x1b[K", "a\x1b[2J"); }), "\r\x1b[Ka\\x1b[2J");
}

}  // namespace
}  // namespace lockstep
