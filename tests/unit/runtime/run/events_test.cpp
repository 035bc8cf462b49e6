// Events: whole lines, torn lines, full disks and what a resume takes back.
#include "runtime/run/events/events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/base/text/text.h"
#include "run_fixtures.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

using nlohmann::json;

class Events : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "events.jsonl";
};

TEST_F(Events, AreReadInTheOrderWritten) {
  EventWriter writer(file);
  for (int step = 1; step <= 50; ++step) writer.write({{"kind", "step"}, {"step", step}});
  int bad = -1;
  const auto events = read_events(file, &bad);
  ASSERT_EQ(events.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(events[i]["step"], i + 1);
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(writer.failed(), 0);
}

TEST_F(Events, GetATimeUnlessTheyHaveOne) {
  EventWriter writer(file);
  writer.write({{"kind", "step"}});
  writer.write({{"kind", "step"}, {"time", 5.5}});
  const auto events = read_events(file);
  EXPECT_GT(events[0]["time"].get<double>(), 1.6e9);
  EXPECT_EQ(events[1]["time"], 5.5);
}

TEST_F(Events, AMissingFileHasNone) { EXPECT_TRUE(read_events(file).empty()); }

TEST_F(Events, AFolderInPlaceOfTheFileIsAnError) {
  std::filesystem::create_directory(file);
  EXPECT_THROW(EventWriter{file}, Error);
}

TEST_F(Events, ATornLastLineIsDroppedWhereverItWasTorn) {
  const std::string whole = "{\"step\":1}\n{\"step\":2}\n";
  const std::string last = "{\"step\":3,\"kind\":\"step\"}\n";
  for (std::size_t cut = 0; cut < last.size(); ++cut) {
    put(file, whole + last.substr(0, cut));
    EXPECT_EQ(read_events(file).size(), 2u) << cut;
    { EventWriter writer(file); }
    EXPECT_EQ(read_file(file), whole) << cut;
  }
}

TEST_F(Events, ATornLineLongerThanTheReadBufferIsCutOff) {
  put(file, "{\"step\":1}\n" + std::string(10'000, 'x'));
  { EventWriter writer(file); }
  EXPECT_EQ(read_file(file), "{\"step\":1}\n");
  put(file, std::string(10'000, 'x'));
  { EventWriter writer(file); }
  EXPECT_EQ(read_file(file), "");
}

TEST_F(Events, ALineOfMoreThanTheLimitIsAnErrorThatNamesIt) {
  std::vector<std::string> lines;
  const auto visit = [&](const std::string& line) { lines.push_back(line); };
  put(file, "1234\n12345\n123");
  for_each_line(file, visit, 5);
  EXPECT_EQ(lines, (std::vector<std::string>{"1234", "12345"}));
  put(file, "1234\n123456\n");
  EXPECT_NE(error_if_any([&] { for_each_line(file, visit, 5); }).find("line 2 has more than 5 B"),
            std::string::npos);
  // Of a hole in the file no more than that is read.
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_NE(error_if_any([&] { read_events(file); }).find("line 3 has more than 16 MiB"),
            std::string::npos);
  EXPECT_NE(error_if_any([&] { EventWriter{file}; }).find("cannot read the end"),
            std::string::npos);
}

TEST_F(Events, LinesThatAreNoObjectsArePassedOverAndCounted) {
  put(file, "{\"step\":1}\nnonsense\n[1]\n7\n\n{\"step\":2}\n");
  int bad = 0;
  EXPECT_EQ(read_events(file, &bad).size(), 2u);
  EXPECT_EQ(bad, 4);
}

TEST_F(Events, NumbersThatAreNotFiniteAndBrokenTextsStayReadable) {
  EventWriter writer(file);
  writer.write({{"loss", NAN}, {"lr", INFINITY}, {"text", "\xff\xfe"}});
  const auto events = read_events(file);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0]["loss"].is_null());
  EXPECT_TRUE(events[0]["lr"].is_null());
}

TEST_F(Events, AFullDiskLosesTheEventAndLeavesNoPartOfIt) {
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    EventWriter writer(file);
    writer.write({{"time", 1}, {"text", "fits"}});
    const rlimit limit = {60, 60};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(1);
    writer.write({{"time", 2}, {"text", std::string(100, 'x')}});
    writer.write({{"time", 3}});
    _exit(writer.failed() == 1 ? 0 : 2);
  });
  ASSERT_EQ(WEXITSTATUS(status), 0);
  int bad = -1;
  const auto events = read_events(file, &bad);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1]["time"], 3);
  EXPECT_EQ(bad, 0);
}

TEST_F(Events, AreCopiedToTheDescriptorInTheEnvironment) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  setenv("LOCKSTEP_EVENTS_FD", std::to_string(ends[1]).c_str(), 1);
  EventWriter writer(file);
  unsetenv("LOCKSTEP_EVENTS_FD");
  writer.write({{"time", 1}, {"step", 7}});
  char text[100] = {};
  const ssize_t got = read(ends[0], text, sizeof text);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(got)), read_file(file));
  close(ends[0]);
  writer.write({{"time", 2}});  // nobody listens: no signal ends this program
  close(ends[1]);
  writer.write({{"time", 3}});
  EXPECT_EQ(read_events(file).size(), 3u);
  EXPECT_EQ(writer.failed(), 0);
}

TEST_F(Events, ABadDescriptorInTheEnvironmentIsIgnored) {
  for (const char* value : {"", "x", "-1", "99999", "1x"}) {
    setenv("LOCKSTEP_EVENTS_FD", value, 1);
    EventWriter writer(file);
    writer.write({{"time", 1}});
    EXPECT_EQ(writer.failed(), 0);
  }
  unsetenv("LOCKSTEP_EVENTS_FD");
}

TEST_F(Events, RandomBytesNeverCrash) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string text = random_bytes(random, random() % 400);
    for (char& byte : text)
      if (random() % 20 == 0) byte = '\n';
    std::filesystem::remove(file);
    put(file, text + "\n{\"step\":\"x\",\"kind\":\"resume\"}\n");
    EXPECT_GE(effective_events(read_events(file)).size(), 1u);
  }
}

json step(int number) { return {{"kind", "step"}, {"step", number}}; }
json resume(int number) { return {{"kind", "resume"}, {"step", number}}; }

std::vector<int> steps_of(const std::vector<json>& events) {
  std::vector<int> steps;
  for (const json& event : effective_events(events))
    if (event["kind"] == "step") steps.push_back(event["step"]);
  return steps;
}

TEST(EffectiveEvents, DropWhatAResumeTookBack) {
  EXPECT_EQ(steps_of({step(1), step(2), step(3), resume(1), step(2), step(3), step(4)}),
            (std::vector<int>{1, 2, 3, 4}));
}

TEST(EffectiveEvents, KeepTheStepThatWasResumedFrom) {
  EXPECT_EQ(steps_of({step(1), step(2), resume(2), step(3)}), (std::vector<int>{1, 2, 3}));
}

TEST(EffectiveEvents, KeepEventsWithoutAStep) {
  const auto kept = effective_events({{{"kind", "warning"}}, step(5), resume(0)});
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0]["kind"], "warning");
}

TEST(EffectiveEvents, AResumeWithoutAStepTakesNothingBack) {
  EXPECT_EQ(steps_of({step(1), {{"kind", "resume"}}, {{"kind", "resume"}, {"step", "x"}}}),
            (std::vector<int>{1}));
}

// Whatever the kills, the curve is 1, 2, … without gaps or doubles.
TEST(EffectiveEvents, AreConsecutiveAfterAnySeriesOfKills) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    std::vector<json> events;
    int now = 0;
    for (int start = 0; start < 8; ++start) {
      now = static_cast<int>(random() % (now + 1));
      events.push_back(resume(now));
      for (int i = static_cast<int>(random() % 10); i-- > 0;) events.push_back(step(++now));
    }
    std::vector<int> expected;
    for (int i = 1; i <= now; ++i) expected.push_back(i);
    EXPECT_EQ(steps_of(events), expected);
  }
}

TEST(Lines, NumbersOfTheWrongTypeAreReplaced) {
  const json object = {{"a", "text"}, {"b", 2.5}, {"c", 1e300}, {"d", -3}};
  EXPECT_EQ(integer_or(object, "a", 7), 7);
  EXPECT_EQ(integer_or(object, "b", 7), 2);
  EXPECT_EQ(integer_or(object, "c", 7), 7);
  EXPECT_EQ(integer_or(object, "d", 7), -3);
  EXPECT_EQ(integer_or(json(3), "d", 7), 7);
  EXPECT_EQ(integer_or({{"a", INT64_MAX}}, "a", 7), 7);  // sums of such numbers overflow
  EXPECT_EQ(integer_or({{"a", UINT64_MAX}}, "a", 7), 7);
  EXPECT_EQ(integer_or({{"a", std::int64_t{1} << 53}}, "a", 7), std::int64_t{1} << 53);
  EXPECT_TRUE(is_true({{"a", true}}, "a"));
  EXPECT_FALSE(is_true({{"a", "true"}}, "a"));
  EXPECT_FALSE(is_true(nullptr, "a"));
  EXPECT_EQ(number_or(object, "b", 7), 2.5);
  EXPECT_EQ(number_or(nullptr, "b", 7), 7);
  EXPECT_EQ(text_or(object, "a", "-"), "text");
  EXPECT_EQ(text_or(object, "b", "-"), "-");
}

}  // namespace
}  // namespace lockstep
