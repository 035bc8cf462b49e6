// Words of a command line with ::: and its kin.
#include "tools/jobs/job_file/job_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "job_fixtures.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string error_in_words(const std::vector<std::string>& words) {
  return error_of([&] { read_words(words); });
}

TEST(JobWords, MakeAJobOfEachCombination) {
  const JobList list =
      read_words({"fit", "--lr={1}", "{2}", ":::", "0.1", "0.2", ":::", "a", "b c"});
  EXPECT_THAT(commands_of(list), ElementsAre("fit --lr=0.1 a", "fit --lr=0.1 b c", "fit --lr=0.2 a",
                                             "fit --lr=0.2 b c"));
  EXPECT_THAT(list.jobs[1].command, ElementsAre("fit", "--lr=0.1", "b c"));
  EXPECT_THAT(names_of(list), ElementsAre("1=0.1,2=a", "1=0.1,2=b_c", "1=0.2,2=a", "1=0.2,2=b_c"));
  EXPECT_THAT(list.jobs[0].environment,
              ElementsAre(Pair("LOCKSTEP_PARAM_1", "0.1"), Pair("LOCKSTEP_PARAM_2", "a")));
  EXPECT_EQ(list.jobs[0].folder, std::filesystem::current_path().string());
}

TEST(JobWords, AppendValuesThatTheCommandDoesNotName) {
  EXPECT_THAT(read_words({"fit", ":::", "a b", ":::", "c"}).jobs[0].command,
              ElementsAre("fit", "a b", "c"));
  EXPECT_THAT(commands_of(read_words({"fit", "{out}", ":::", "a"})), ElementsAre("fit {out} a"));
  EXPECT_THAT(commands_of(read_words({"fit", "{#}", ":::", "a", "b"})),
              ElementsAre("fit 1", "fit 2"));
  EXPECT_THAT(commands_of(read_words({"fit", "x"})), ElementsAre("fit x"));
}

TEST(JobWords, LinkSources) {
  EXPECT_THAT(commands_of(read_words({"f", ":::", "a", "b", ":::+", "1", "2", ":::", "x"})),
              ElementsAre("f a 1 x", "f b 2 x"));
  EXPECT_THAT(error_in_words({"f", ":::", "a", "b", ":::+", "1"}), HasSubstr("1 values"));
  EXPECT_THAT(error_in_words({"f", ":::+", "1"}), HasSubstr("there is none"));
}

// As Notepad and Excel save them, and as old archives name files.
TEST(JobWords, ReadListsWhateverWroteThem) {
  const JobFolder folder;
  JobWordsOptions options{.folder = folder.path()};
  options.argument_files = {"x.txt"};
  folder.write("x.txt",
               "\xEF\xBB\xBF"
               "a\r\nb\r\n");
  EXPECT_THAT(commands_of(read_words({"f"}, options)), ElementsAre("f a", "f b"));
  const auto error = [&](const std::string& text) {
    folder.write("x.txt", text);
    return error_of([&] { read_words({"f"}, options); });
  };
  EXPECT_THAT(error("ok\nM\xFCller.txt\n"),
              HasSubstr("x.txt, line 2 is not valid UTF-8: M\\xfcller.txt"));
  EXPECT_THAT(error(std::string("a\n\nb\0c\n", 7)), HasSubstr("x.txt, line 3 holds a NUL"));
  EXPECT_THAT(error(std::string("\xFF\xFE"
                                "a\0\n\0",
                                6)),
              HasSubstr("x.txt is text in UTF-16"));
  EXPECT_THAT(error_in_words({"f", ":::", "a", "M\xFC"}),
              HasSubstr("value 2 after ::: is not valid UTF-8: M\\xfc"));
}

TEST(JobWords, ReadFilesAndStandardInput) {
  const JobFolder folder;
  folder.write("x.txt", "a\nb c\n");
  JobWordsOptions options{.folder = folder.path()};
  EXPECT_THAT(
      commands_of(read_words({"f", "::::", "x.txt", "-", "::::+", "x.txt"}, options, "1\n2\n")),
      ElementsAre("f a 1 a", "f a 2 b c", "f b c 1 a", "f b c 2 b c"));
  options.argument_files = {"-"};
  EXPECT_THAT(commands_of(read_words({"f", ":::", "z"}, options, "1\r\n\n2")),
              ElementsAre("f 1 z", "f 2 z"));
  EXPECT_THAT(error_of([&] {
                read_words({"f", "::::", "-"}, options, "1\n");
              }),
              HasSubstr("cannot be read twice"));
}

TEST(JobWords, AreOneLineForAShell) {
  JobWordsOptions options;
  options.job.shell = true;
  EXPECT_THAT(read_words({"cat {} | wc", ":::", "a b"}, options).jobs[0].command,
              ElementsAre("cat 'a b' | wc"));
  EXPECT_THAT(read_words({"cat", ":::", "a b", ":::", "c"}, options).jobs[0].command,
              ElementsAre("cat 'a b' c"));
}

TEST(JobWords, TakeTheRestFromTheOptions) {
  JobWordsOptions options;
  options.job.cpus = 4;
  options.job.retries = 2;
  options.job.name = "fit-{1}";
  options.job.outputs = {"model-{1}"};
  options.limits.min_finished = 3;
  const JobList list = read_words({"fit", ":::", "a"}, options);
  EXPECT_EQ(list.jobs[0].cpus, 4);
  EXPECT_EQ(list.jobs[0].retries, 2);
  EXPECT_EQ(list.jobs[0].name, "fit-a");
  EXPECT_THAT(list.jobs[0].outputs, ElementsAre("model-a"));
  EXPECT_EQ(list.limits.min_finished, 3);
}

TEST(JobWords, RefuseWhatMakesNoJob) {
  EXPECT_THAT(error_in_words({}), HasSubstr("there is no command"));
  EXPECT_THAT(error_in_words({":::", "a"}), HasSubstr("there is no command"));
  EXPECT_THAT(error_in_words({"f", ":::"}), HasSubstr("the matrix is empty: ::: gives no values"));
  EXPECT_THAT(error_in_words({"f", "{2}", ":::", "a"}), HasSubstr("{2} has no value"));
  EXPECT_THAT(error_in_words({"f", "::::"}), HasSubstr("names no file"));
  EXPECT_THAT(error_in_words({"f", "::::", "/nowhere"}), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace lockstep
