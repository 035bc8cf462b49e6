// Output and exit codes of real children.
#include "core/base/process/child_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::StartsWith;

TEST(ChildOutput, GivesWhatAChildPrintsAndItsExitCode) {
  const ChildOutput output = child_output({"/bin/sh", "-c", "printf 'one\\ntwo'; exit 7"});
  EXPECT_EQ(output.out, "one\ntwo");
  EXPECT_EQ(output.code, 7);
}

TEST(ChildOutput, ReadsMoreThanAPipeHolds) {
  EXPECT_EQ(child_output({"/bin/sh", "-c", "head -c 300000 /dev/zero"}).out.size(), 300000U);
}

TEST(ChildOutput, NamesASignalAsAShellDoes) {
  EXPECT_EQ(child_output({"/bin/sh", "-c", "kill -9 $$"}).code, 137);
}

TEST(ChildOutput, SaysThatThereIsNoSuchProgram) {
  EXPECT_THAT(error_of([] { child_output({"/nowhere/program"}); }),
              StartsWith("cannot start \"/nowhere/program\": No such file or directory | check"));
}

}  // namespace
}  // namespace lockstep
