// Placeholders: those of parameters, those of an attempt, and braces that are none.
#include "tools/jobs/job_file/placeholders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const JobParameters parameters{{"lr", "0.1"}, {"file", "data/a b.tar.gz"}};

std::string fill(const std::string& text, bool shell = false) {
  return TextTemplate(text, {.names = {"lr", "file"}, .shell = shell}).fill(parameters, 7);
}

// Both stages, as an attempt sees it.
std::string finished(const std::string& text) {
  return fill_attempt(fill(text), {.out = "/o", .slot = 3, .gpu = 1, .cores = 8, .attempt = 2});
}

TEST(Placeholders, StandForValuesInsideOfWords) {
  EXPECT_EQ(fill("--lr={lr}"), "--lr=0.1");
  EXPECT_EQ(fill("{1}/{2}"), "0.1/data/a b.tar.gz");
  EXPECT_EQ(fill("{}"), "0.1 data/a b.tar.gz");
  EXPECT_EQ(fill("job-{#}"), "job-7");
}

TEST(Placeholders, GivePartsOfAPath) {
  EXPECT_EQ(fill("{file.}"), "data/a b.tar");
  EXPECT_EQ(fill("{file/}"), "a b.tar.gz");
  EXPECT_EQ(fill("{2//}"), "data");
  EXPECT_EQ(fill("{file/.}"), "a b.tar");
  EXPECT_EQ(fill("{lr//}"), ".");
}

TEST(Placeholders, LeaveOtherBracesAlone) {
  for (const char* text : {"{print $1}", "{\"a\": {\"b\": 1}}", "a}b", "{", "{a,b}", "{lr", "x{"})
    EXPECT_EQ(finished(text), text) << text;
}

TEST(Placeholders, DoubledBracesAreBraces) {
  EXPECT_EQ(finished("{{lr}}"), "{lr}");
  EXPECT_EQ(finished("{{lr}"), "{lr}");
  EXPECT_EQ(finished("{{out}}"), "{out}");
  EXPECT_EQ(finished("{{{out}}}"), "{/o}");
  EXPECT_EQ(finished("{{{{"), "{{");
  EXPECT_EQ(finished("{{\"lr\": {lr}}}"), "{\"lr\": 0.1}");
}

TEST(Placeholders, ThoseOfAnAttemptStayUntilItBegins) {
  EXPECT_EQ(fill("{out}/{slot}/{gpu}/{cores}/{attempt}"), "{out}/{slot}/{gpu}/{cores}/{attempt}");
  EXPECT_EQ(finished("{out}/{slot}/{gpu}/{cores}/{attempt}/{lr}"), "/o/3/1/8/2/0.1");
  EXPECT_TRUE(needs_attempt(fill("x{gpu}")));
  EXPECT_FALSE(needs_attempt(fill("{{gpu}}")));
}

TEST(Placeholders, AValueIsNeverAPlaceholder) {
  const TextTemplate text("{a}{out}", {.names = {"a"}});
  for (const char* value : {"{out}", "{", "{{", "{{out}", "{{{slot}}", "{a}", "{}"})
    EXPECT_EQ(fill_attempt(text.fill({{"a", value}}, 1), {.out = "/o"}), std::string(value) + "/o");
}

TEST(Placeholders, AreQuotedForAShell) {
  EXPECT_EQ(fill("cat {file} {lr}", true), "cat 'data/a b.tar.gz' 0.1");
  EXPECT_EQ(fill("${lr} ${out}{lr}", true), "${lr} ${{out}0.1");
  EXPECT_EQ(quote_for_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(quote_for_shell(""), "''");
  EXPECT_EQ(quote_for_shell("~"), "'~'");
}

TEST(Placeholders, WithoutAValueNameTheNearest) {
  EXPECT_THAT(error_of([] { fill("{flie}"); }),
              AllOf(HasSubstr("{flie} has no value"), HasSubstr("did you mean {file}?"),
                    HasSubstr("write {{flie}}")));
  EXPECT_THAT(error_of([] { fill("{slto}"); }), HasSubstr("did you mean {slot}?"));
  EXPECT_THAT(error_of([] { fill("{%}"); }), HasSubstr("did you mean {slot}?"));
  EXPECT_THAT(error_of([] { fill("{3}"); }), HasSubstr("{3} has no value"));
  EXPECT_THAT(error_of([] { fill("{0}"); }), HasSubstr("{0} has no value"));
  EXPECT_THAT(error_of([] { TextTemplate("{}", {}); }), HasSubstr("{} has no value"));
  EXPECT_THAT(error_of([] {
                TextTemplate("{x}", {.names = {"a", "x"}}).fill({{"a", "1"}}, 1);
              }),
              AllOf(HasSubstr("{x} has no value in the job with a=1"), HasSubstr("every job")));
}

TEST(FillAttempt, FillsAllTextsOfAJob) {
  Job job;
  job.command = {"fit", "--out={out}", "--gpu", "{gpu}"};
  job.environment = {{"SLOT", "{slot}"}};
  job.folder = "{out}";
  job.outputs = {"model.txt", "{out}/b", "/abs"};
  const Job filled = fill_attempt(job, {.out = "/o p", .slot = 2, .gpu = {}, .attempt = 1});
  EXPECT_THAT(filled.command, ElementsAre("fit", "--out=/o p", "--gpu", "-1"));
  EXPECT_THAT(filled.environment, ElementsAre(Pair("SLOT", "2")));
  EXPECT_EQ(filled.folder, "/o p");
  EXPECT_THAT(filled.outputs, ElementsAre("/o p/model.txt", "/o p/b", "/abs"));
}

TEST(FillAttempt, QuotesForAShell) {
  Job job;
  job.shell = true;
  job.command = {"ls {out}"};
  EXPECT_THAT(fill_attempt(job, {.out = "/o p"}).command, ElementsAre("ls '/o p'"));
}

}  // namespace
}  // namespace lockstep
