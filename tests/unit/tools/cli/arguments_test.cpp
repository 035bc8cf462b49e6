// How the words of a command line are taken.
#include "tools/cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "planning/recipe_info.h"

namespace lockstep::cli {
namespace {

struct OtherOptions : RecipeOptions {
  OtherOptions() { table.add("data.things", things, {.meaning = "how many things"}); }
  std::int64_t things = 3;
};

TEST(Arguments, HelpOfARecipeListsItsOptions) {
  register_recipe({.name = "other", .summary = "for tests", .make_options = [] {
                     return std::make_unique<OtherOptions>();
                   }});
  const Command train{.name = "train",
                      .operands = "RECIPE",
                      .summary = "trains",
                      .takes_assignments = true,
                      .complete = "recipe"};
  EXPECT_EQ(command_help(train, {"--help"}).find("data.things"), std::string::npos);
  const std::string help = command_help(train, {"other", "--help"});
  EXPECT_NE(help.find("Options of other (those of the engine: lockstep config other):"),
            std::string::npos);
  EXPECT_NE(help.find("data.things=3"), std::string::npos) << help;
  EXPECT_NE(help.find("how many things"), std::string::npos);
}

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

bool is_number(const std::string& word) {
  return word.find_first_not_of("0123456789") == word.npos;
}

Command reader() {
  return {.name = "read",
          .operands = "RUN [PROMPT]",
          .flags = {{"--devices", "LIST", "which"}, {"--json", "", "as JSON"}},
          .min_positionals = 1,
          .max_positionals = 2,
          .takes_assignments = true,
          .tried_flags = {{"--prompt", "write it after the run"}}};
}

Command starter() {
  return {.name = "start",
          .operands = "[flags] PROGRAM",
          .flags = {{"--devices", "LIST", "which"},
                    {"--json", "", "as JSON"},
                    {.name = "--serve", .value = "PORT", .is_value = is_number}},
          .takes_program = true};
}

TEST(Arguments, DashesEndFlagsAndKeyValue) {
  const Parsed parsed = parse(reader(), {"--json", "a=b", "run", "--", "--x = y"});
  EXPECT_THAT(parsed.positionals, ElementsAre("run", "--x = y"));
  EXPECT_THAT(parsed.assignments, ElementsAre("a=b"));
  EXPECT_TRUE(parsed.has("--json"));
  EXPECT_THAT(parse(reader(), {"--", "-run", "a=b"}).positionals, ElementsAre("-run", "a=b"));
  EXPECT_THAT(parse(reader(), {"run", "--", "--"}).positionals, ElementsAre("run", "--"));
  EXPECT_THAT(error_of([] {
                parse(reader(), {"run", "--", "a", "b"});
              }),
              HasSubstr("unexpected argument b"));
}

TEST(Arguments, TheFirstWordThatIsNoFlagBeginsTheProgram) {
  const Parsed parsed =
      parse(starter(), {"--devices", "0,1", "python3", "train.py", "--json", "--", "a=b"});
  EXPECT_THAT(parsed.program, ElementsAre("python3", "train.py", "--json", "--", "a=b"));
  EXPECT_EQ(parsed.value("--devices"), "0,1");
  EXPECT_FALSE(parsed.has("--json"));
  EXPECT_THAT(parse(starter(), {"--json", "--", "-x", "--json"}).program,
              ElementsAre("-x", "--json"));
  EXPECT_THAT(parse(starter(), {"--json"}).program, IsEmpty());
}

TEST(Arguments, AValueThatMayBeLeftOutIsNoProgram) {
  const Parsed with = parse(starter(), {"--serve", "80", "python3"});
  EXPECT_EQ(with.value("--serve"), "80");
  EXPECT_THAT(with.program, ElementsAre("python3"));
  const Parsed without = parse(starter(), {"--serve", "python3", "80"});
  EXPECT_EQ(without.value("--serve", "?"), "");
  EXPECT_THAT(without.program, ElementsAre("python3", "80"));
}

TEST(Arguments, HelpOfAProgramIsTheProgramsOwn) {
  EXPECT_TRUE(asks_for_help(starter(), {"--devices", "0", "--help"}));
  EXPECT_TRUE(asks_for_help(starter(), {"--devices", "--help"}));
  EXPECT_TRUE(asks_for_help(starter(), {"--serve", "-h"}));
  EXPECT_FALSE(asks_for_help(starter(), {"--devices", "0", "python3", "--help"}));
  EXPECT_FALSE(asks_for_help(starter(), {"--json", "python3", "-h"}));
  EXPECT_FALSE(asks_for_help(starter(), {"--", "--help"}));
  EXPECT_TRUE(asks_for_help(reader(), {"run", "text", "--help"}));
  EXPECT_FALSE(asks_for_help(reader(), {"run", "--", "--help"}));
}

TEST(Arguments, AFlagIsNoValueOfAnother) {
  EXPECT_THAT(error_of([] {
                parse(reader(), {"run", "--devices", "--json"});
              }),
              AllOf(HasSubstr("--devices needs a value: --devices LIST; --json is a flag"),
                    HasSubstr("| if it is the value: --devices=--json")));
  EXPECT_EQ(parse(reader(), {"run", "--devices=--json"}).value("--devices"), "--json");
}

TEST(Arguments, UnknownFlagsAreToldOfTheRightWord) {
  EXPECT_THAT(error_of([] {
                parse(reader(), {"run", "--prompt=x"});
              }),
              HasSubstr("read has no flag --prompt | write it after the run"));
  EXPECT_THAT(error_of([] {
                parse(reader(), {"run", "--jsn"});
              }),
              HasSubstr("did you mean --json"));
  EXPECT_THAT(error_of([] {
                parse(reader(), {"run", "--optimizer.lr", "3"});
              }),
              HasSubstr("| write optimizer.lr=3"));
  EXPECT_THAT(error_of([] {
                parse(reader(), {"run", "--zzzzzz", "3"});
              }),
              HasSubstr("options are written key=value, without --"));
  EXPECT_THAT(error_of([] { parse(starter(), {"-q", "x"}); }), HasSubstr("has no flag -q"));
}

TEST(Arguments, OfACommandWithoutOptionsTheFlagsAreNamed) {
  Command few = reader();
  few.only_options = {"run.root"};
  EXPECT_THAT(error_of([&] {
                parse(few, {"run", "--zzzzzz", "3"});
              }),
              HasSubstr("| its flags are --devices, --json: see lockstep read --help"));
}

TEST(Arguments, ATriedFlagIsToldWithItsValueAndTheNameOfTheLine) {
  Command command = reader();
  command.tried_flags = {{"-j", "write --slots {value}"}, {"--resume", "resume {name}"}};
  const auto refusal = [&](const Words& words) { return error_of([&] { parse(command, words); }); };
  EXPECT_THAT(refusal({"run", "-j", "4"}), HasSubstr("| write --slots 4"));
  EXPECT_THAT(refusal({"run", "-j=4"}), HasSubstr("| write --slots 4"));
  EXPECT_THAT(refusal({"run", "-j"}), HasSubstr("| write --slots N"));
  EXPECT_THAT(refusal({"run", "--resume", "--name", "base"}), HasSubstr("| resume base"));
}

TEST(Arguments, NoFlagOfOneLetterIsNearAnother) {
  Command command = reader();
  command.flags.push_back({"-a", "FILE", "values"});
  EXPECT_EQ(error_of([&] {
              parse(command, {"run", "-j", "4"});
            }).find("did you mean"),
            std::string::npos);
}

TEST(Arguments, ACommandMayTakeFewOptions) {
  Command few = reader();
  few.only_options = {"run.root"};
  EXPECT_THAT(parse(few, {"run", "run.root=x"}).assignments, ElementsAre("run.root=x"));
  EXPECT_THAT(error_of([&] {
                parse(few, {"run", "seed=3"});
              }),
              HasSubstr("takes no option but run.root, but was given seed=3"));
}

TEST(Arguments, FlagsOfOneLetterTakeValuesToo) {
  Command command = reader();
  command.flags.push_back({"-a", "FILE", "values"});
  const Parsed parsed = parse(command, {"-a", "-", "run", "-a=b"});
  EXPECT_THAT(parsed.all("-a"), ElementsAre("-", "b"));
  EXPECT_THAT(parsed.positionals, ElementsAre("run"));
  EXPECT_THAT(error_of([&] { parse(command, {"run", "-b"}); }), HasSubstr("has no flag -b"));
}

TEST(Arguments, OperandsMayHaveEqualsSignsWhereTheCommandSaysSo) {
  Command command = reader();
  command.only_options = {"run.root"};
  command.operands_have_equals = true;
  const Parsed parsed = parse(command, {"batch", "run.root=x", "lr=0.1,seed=2"});
  EXPECT_THAT(parsed.positionals, ElementsAre("batch", "lr=0.1,seed=2"));
  EXPECT_THAT(parsed.assignments, ElementsAre("run.root=x"));
}

TEST(Arguments, CommandsOfTwoWordsAreOneLineOfTheOverview) {
  Command run = reader(), stop = reader(), hidden = reader();
  run.name = "batch run";
  run.summary = "run many";
  stop.name = "batch stop";
  hidden.name = "batch inner";
  hidden.hidden = true;
  const std::vector<Command> commands{reader(), run, stop, hidden};
  EXPECT_THAT(second_words(commands, "batch"), ElementsAre("run", "stop"));
  EXPECT_THAT(second_words(commands, "read"), IsEmpty());
  EXPECT_THAT(overview(commands),
              HasSubstr("  batch       run many\n              lockstep batch run | stop\n"));
  EXPECT_THAT(group_help(commands, "batch"),
              AllOf(HasSubstr("  run       run many\n"), HasSubstr("  stop ")));
}

}  // namespace
}  // namespace lockstep::cli
