// Commands and folders are looked for before anything starts.
#include "tools/jobs/job_file/check_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "job_fixtures.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder with tools/fitter, which can be run, and plain.py, which cannot.
class CheckJobs : public ::testing::Test {
 protected:
  CheckJobs() {
    std::filesystem::create_directory(folder_.path() / "tools");
    const auto tool = folder_.write("tools/fitter", "x");
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    folder_.write("plain.py", "x");
  }
  void check(const std::string& text) const { check_jobs(folder_.read(text)); }
  std::string error(const std::string& text) const {
    return error_of([&] { check(text); });
  }
  std::string path() const {
    return "env = {PATH = \"" + (folder_.path() / "tools").string() + "\"}\n";
  }

  JobFolder folder_;
};

TEST_F(CheckJobs, FindsCommandsInPathAndBesideTheJobFile) {
  check("command = [\"fitter\"]\n" + path());
  check("command = [\"tools/fitter\"]\n");
  check("command = [\"./fitter\"]\ncwd = \"tools\"\n");
  check("command = [\"ls\"]\n");
}

TEST_F(CheckJobs, NamesTheNearestCommand) {
  EXPECT_THAT(error("command = [\"fiter\"]\nname = \"a\"\n" + path()),
              AllOf(HasSubstr("the command fiter of the job a is not there"),
                    HasSubstr("did you mean fitter?")));
  EXPECT_THAT(error("command = [\"tools/fiter\"]\n"), HasSubstr("tools/fiter"));
  EXPECT_THAT(error("command = [\"plain.py\"]\n" + path()), HasSubstr("./plain.py"));
  EXPECT_THAT(error("command = [\"./plain.py\"]\n"),
              AllOf(HasSubstr("cannot be run"), HasSubstr("python3")));
  EXPECT_THAT(error("command = [\"cat a | wc\"]\n" + path()), HasSubstr("shell"));
}

TEST_F(CheckJobs, NamesAFolderThatIsNotThere) {
  EXPECT_THAT(error("command = [\"ls\"]\ncwd = \"work/{x}\"\nmatrix = {x = [1]}\n"),
              AllOf(HasSubstr("/work/1 of the job x=1 is not there")));
  EXPECT_THAT(error("command = [\"ls\"]\ncwd = \"plain.py\"\n"), HasSubstr("is not a folder"));
}

TEST_F(CheckJobs, LeavesWhatOnlyAnAttemptKnows) {
  check("command = [\"{out}/program\"]\n");
  check("command = [\"nothing\"]\ncwd = \"{out}\"\n");
  check("shell = true\ncommand = \"nothing | at all\"\n");
}

}  // namespace
}  // namespace lockstep
