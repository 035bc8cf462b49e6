// What `lockstep doctor --record` keeps and what --replay makes of it.
#include "doctor_process.h"

namespace lockstep::testing {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorRecording : public Doctor {
 protected:
  // A first line as of a recording, changed by `more`.
  static json head(const json& more) {
    json line{
        {"kind", "recording"}, {"version", 1}, {"gpus", json::array()}, {"metrics", json::array()}};
    line.update(more);
    return line;
  }
};

TEST_F(DoctorRecording, GivesTheSameFindingsAgain) {
  const BusyCores cores;
  Patient one(user({"libtorch_cuda.so"})), cpu(user({"libtorch_cpu.so"}, {"--burn", "2"}));
  set({gpu(0, {one.pid()}), gpu(1)});
  const ToolResult first = doctor({"--json", "--record", "kept.jsonl"});
  ASSERT_EQ(first.code, 1) << first.err;
  const ToolResult again = run_tool({"doctor", "--replay", "kept.jsonl", "--json"}, folder_.path());
  EXPECT_EQ(again.code, 1) << again.err;
  EXPECT_EQ(json::parse(again.out)["findings"], json::parse(first.out)["findings"]);
  EXPECT_THAT(rules(json::parse(first.out)["findings"]), Contains("one-of-several"));
  // What it was asked about is asked again.
  const ToolResult only = doctor({std::to_string(one.pid()), "--json", "--record", "one.jsonl"});
  const ToolResult same = run_tool({"doctor", "--replay", "one.jsonl", "--json"}, folder_.path());
  EXPECT_THAT(rules(json::parse(only.out)["findings"]), ::testing::ElementsAre("one-of-several"));
  EXPECT_EQ(json::parse(same.out)["findings"], json::parse(only.out)["findings"]);
  // For people as for programs.
  const ToolResult text = run_tool({"doctor", "--replay", "one.jsonl"}, folder_.path());
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.out, HasSubstr("(likely; one-of-several)"));
}

TEST_F(DoctorRecording, HasNoSecrets) {
  Patient one(user({"libtorch_cuda.so"}, {"--token=cmd-secret-1", "--password", "cmd-secret-2",
                                          "--api-key=two words-secret-3"}),
              {{"HF_TOKEN", "env-secret-4"},
               {"AWS_SECRET_ACCESS_KEY", "env-secret-5"},
               {"CUDA_VISIBLE_DEVICES", "0,1"}});
  set({gpu(0, {one.pid()}), gpu(1)});
  const ToolResult result = doctor({std::to_string(one.pid()), "--record", "kept.jsonl"});
  EXPECT_EQ(result.code, 1) << result.err;
  const std::string kept = read_file(folder_.path() / "kept.jsonl");
  EXPECT_THAT(kept, Not(HasSubstr("secret-")));
  EXPECT_THAT(kept, Not(HasSubstr("HF_TOKEN")));
  EXPECT_THAT(kept, HasSubstr("\"CUDA_VISIBLE_DEVICES\":\"0,1\""));
  EXPECT_THAT(kept, HasSubstr("--token=…"));
  EXPECT_THAT(kept, HasSubstr("train.py"));
}

TEST_F(DoctorRecording, OverwritesAFileOnlyWithForce) {
  write_file_atomic(folder_.path() / "there.jsonl", "precious");
  EXPECT_THAT(doctor({"--record", "there.jsonl"}).err, HasSubstr("--force"));
  EXPECT_EQ(read_file(folder_.path() / "there.jsonl"), "precious");
  EXPECT_NE(doctor({"--record", "there.jsonl", "--force"}).code, 2);
  EXPECT_THAT(read_file(folder_.path() / "there.jsonl"), HasSubstr("\"kind\":\"recording\""));
}

// For scripts: what is only possible is no reason to fail.
TEST_F(DoctorRecording, IsToldOnlyAsFarAsItIsSure) {
  const auto replay = [&](const char* name, std::vector<std::string> more) {
    std::vector<std::string> words{
        "doctor", "--replay",
        cat(LOCKSTEP_SOURCE_DIR "/tests/unit/tools/doctor/recordings/", name, ".jsonl")};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words, folder_.path());
  };
  const ToolResult all = replay("cpu_only", {});  // possible: it has only begun
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_THAT(all.out, HasSubstr("(possible; no-gpu-use)"));
  EXPECT_EQ(replay("cpu_only", {"--least", "possible"}).out, all.out);
  const ToolResult likely = replay("cpu_only", {"--least", "likely"});
  EXPECT_EQ(likely.code, 0) << likely.err;
  EXPECT_THAT(likely.out,
              HasSubstr("nothing found\n\n1 finding is less than likely, and left out"));
  const ToolResult as_json = replay("cpu_only", {"--json", "--least=likely"});
  EXPECT_EQ(as_json.code, 0);
  EXPECT_EQ(json::parse(as_json.out)["findings"], json::array());
  EXPECT_EQ(json::parse(as_json.out)["left_out"], 1);
  EXPECT_EQ(replay("one_gpu", {"--least", "likely"}).code, 1);
  EXPECT_EQ(replay("one_gpu", {"--least", "certain"}).code, 0);
  EXPECT_EQ(replay("same_device", {"--least", "certain"}).code, 1);
  const ToolResult wrong = replay("one_gpu", {"--least", "sure"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--least must be possible, likely or certain, but is \"sure\""));
}

TEST_F(DoctorRecording, GoesToStandardOutputToo) {
  const ToolResult result = doctor({"--record", "-", "--json"});
  const std::vector<std::string> lines = split(trim(result.out), '\n');
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(json::parse(lines.front())["kind"], "recording");
  EXPECT_TRUE(json::parse(lines.back()).contains("findings"));
}

TEST_F(DoctorRecording, IsOneLineOfJsonALook) {
  Patient one(user({"libtorch_cuda.so"}));
  set({gpu(0, {one.pid()}), gpu(1)});
  const ToolResult result = doctor({std::to_string(one.pid()), "--json"});
  ASSERT_EQ(split(result.out, '\n').size(), 2u) << result.out;
  const json look = json::parse(result.out);
  for (const char* member : {"findings", "gpus", "notes", "seconds"})
    EXPECT_TRUE(look.contains(member)) << member;
  for (const char* member :
       {"rule", "verdict", "confidence", "evidence", "next", "open", "gpus", "pids"})
    EXPECT_TRUE(look["findings"][0].contains(member)) << member;
  EXPECT_EQ(look["gpus"][0]["pids"], json({one.pid()}));
  EXPECT_NEAR(look["seconds"].get<double>(), 1, 0.5);
}

TEST_F(DoctorRecording, IsRefusedWhereItIsDamaged) {
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
  };
  const std::string sampled = "{\"kind\":\"sample\",\"gpus\":[{}]}\n";
  const json doctors = head({{"doctor", {{"places", json::array()}}}});
  write("empty.jsonl", "");
  write("newer.jsonl", head({{"version", 2}}).dump() + "\n");
  write("monitor.jsonl", head(json::object()).dump() + "\n");
  write("places.jsonl", head({{"doctor", {{"places", {1, 2}}}}}).dump() + "\n");
  write("broken.jsonl", doctors.dump() + "\n{\"kind\":\n");
  write("other.jsonl", doctors.dump() + "\n" + sampled);
  const struct {
    const char *file, *error;
  } cases[] = {
      {"empty.jsonl", "empty.jsonl is not a recording of lockstep"},
      {"newer.jsonl", "newer.jsonl is a recording of version 2, but this Lockstep reads version 1"},
      {"monitor.jsonl", "monitor.jsonl holds samples, but nothing of the processes"},
      {"places.jsonl", "places.jsonl, line 1: "},
      {"broken.jsonl", "broken.jsonl, line 2: "},
      {"other.jsonl", "other.jsonl, line 2: it has other GPUs than line 1"},
      {".", "."},
  };
  for (const auto& one : cases) {
    const ToolResult result = run_tool({"doctor", "--replay", one.file}, folder_.path());
    EXPECT_EQ(result.code, 2) << one.file << result.out;
    EXPECT_THAT(result.err, HasSubstr(one.error));
    EXPECT_THAT(result.err, Not(HasSubstr("please report"))) << one.file;
  }
  // Of what was cut off the whole lines count.
  write("cut.jsonl", doctors.dump() + "\n{\"kind\":\"processes\"");
  const ToolResult cut = run_tool({"doctor", "--replay", "cut.jsonl"}, folder_.path());
  EXPECT_NE(cut.code, 1) << cut.err;
}

TEST_F(DoctorRecording, OfTheMonitorIsNotEnough) {
  ASSERT_EQ(
      ToolProcess({program("lockstep"), "monitor", "--record", "seen.jsonl", "--duration", "0.5s"},
                  folder_.path(), environment_)
          .wait()
          .code,
      0);
  const ToolResult result = run_tool({"doctor", "--replay", "seen.jsonl"}, folder_.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("make one with lockstep doctor --record FILE"));
}

}  // namespace
}  // namespace lockstep::testing
