// Logs of other programs as JSON, and settings as YAML.
#include "tools/report/logs/json_log.h"

#include "report_fixtures.h"

#include <cmath>
#include <fstream>

#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "tools/report/trackers/plain_yaml.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class JsonLogs : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
    return folder.path() / name;
  }
  const TemporaryDirectory folder;
};

TEST_F(JsonLogs, AHistoryOfWandbIsReadInEveryForm) {
  const std::vector<std::pair<const char*, const char*>> forms = {
      {"lines.jsonl",
       R"({"_step":0,"_timestamp":100,"_runtime":0,"loss":2,"_wandb":{"runtime":1}}
{"_step":10,"_timestamp":105,"_runtime":5,"loss":NaN,"val_loss":1.5}
{"_step":20,"_timestamp":110,"_runtime":10,"loss":1,"image":{"_type":"image-file","size":3}}
{"_step":3)"},
      {"lines.json",
       "{\"_step\":0,\"_timestamp\":100,\"loss\":2}\n{\"_step\":10,\"_timestamp\":105,"
       "\"loss\":3,\"val_loss\":1.5}\n{\"_step\":20,\"_timestamp\":110,\"loss\":1}\n"},
      {"list.json", R"([{"_step":0,"_timestamp":100,"loss":2},
{"_step":10,"_timestamp":105,"loss":"NaN","val_loss":1.5}, {"_step":20,"_timestamp":110,"loss":1}])"},
      {"columns.json", R"({"_step":{"0":0,"1":10,"2":20},"_timestamp":{"0":100,"1":105,"2":110},
"loss":{"0":2,"1":null,"2":1},"val_loss":{"0":null,"1":1.5}})"},
      {"split.json", R"({"columns":["_step","_timestamp","loss","val_loss"],"index":[0,1,2],
"data":[[0,100,2,null],[10,105,null,1.5],[20,110,1,null]]})"}};
  for (const auto& [name, text] : forms) {
    SCOPED_TRACE(name);
    const Trial trial = read_json_log(write(name, text));
    EXPECT_EQ(trial.source, "JSON log");
    EXPECT_EQ(trial.number("steps"), 20);
    EXPECT_NEAR(trial.find("step_s")->value, 0.5, 1e-9);
    EXPECT_EQ(trial.find("best.loss")->value, 1);
    EXPECT_EQ(trial.find("best.val_loss")->value, 1.5);
    EXPECT_EQ(trial.find("last._wandb.runtime"), nullptr);
    EXPECT_EQ(trial.find("last.image.size"), nullptr);
  }
}

TEST_F(JsonLogs, TheStateOfATrainerHasALog) {
  const Trial trial = read_json_log(write(
      "trainer_state.json",
      R"({"global_step":8,"train_batch_size":4,"log_history":[{"epoch":1.0,"step":4,"loss":2.0},
{"epoch":1.0,"step":4,"eval_loss":2.5,"eval_runtime":1.0,"eval_samples_per_second":9.0},
{"epoch":2.0,"step":8,"loss":1.0},{"epoch":2.0,"step":8,"eval_loss":1.5},
{"epoch":2.0,"step":8,"train_runtime":9.0,"total_flos":1e9}]})"));
  EXPECT_EQ(trial.source, "Transformers log");
  EXPECT_EQ(trial.find("best.eval_loss")->value, 1.5);
  EXPECT_EQ(trial.find("last.loss")->value, 1);
  EXPECT_EQ(trial.find("last.eval_runtime"), nullptr) << "no quality";
  EXPECT_EQ(trial.value("param.train_batch_size"), 4);
}

TEST_F(JsonLogs, WhatIsNoLogIsSaidToBeNone) {
  for (const auto& [name, text, why] :
       std::vector<std::tuple<const char*, const char*, const char*>>{
           {"a.json", "{\"model\":{\"layers\":3},\"optimizer\":{\"lr\":1}}", "no rows of numbers"},
           {"b.json", "{\"a\":", "no JSON"},
           {"c.json", "", "no JSON"},
           {"d.jsonl", "{\"loss\":1}\nnothing\n{\"loss\":1}\n", "line 2 is no JSON object"},
           {"e.jsonl", "", "no rows of numbers"},
           {"f.json", "[1,2]", "no rows of numbers"},
           {"g.json", "\x1f\x8b\x08", "it is a gzip archive"},
           {"h.jsonl", "PAR1", "it is a Parquet file"}}) {
    EXPECT_THAT(error_of([&, name = name, text = text] { read_json_log(write(name, text)); }),
                HasSubstr(why))
        << name;
  }
}

TEST(PlainYaml, ScalarsAreReadAndAllElseIsLeftOut) {
  EXPECT_THAT(
      plain_yaml("lr: 0.1\n# no: thing\nname: 'it''s'\nother: \"a\\tb\\xe9\"\nlist:\n- 1\n"
                 "nested:\n  a: 1\nblock: |-\n  text\ntagged: !!python/object {}\nempty: ''\n"
                 "long: one\n  two\nurl: http://x\nnone: null\n"),
      ElementsAre(Pair("empty", ""), Pair("long", "one two"), Pair("lr", "0.1"),
                  Pair("name", "it's"), Pair("none", ""), Pair("other", "a\tb\u00e9"),
                  Pair("url", "http://x")));
  EXPECT_THAT(plain_yaml(""), IsEmpty());
  EXPECT_THAT(plain_yaml("\xff\xfe: \n'\n\"\n: :\n"), IsEmpty());
}

}  // namespace
}  // namespace lockstep
