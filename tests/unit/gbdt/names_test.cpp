// What is written here for names of devices that LightGBM and scripts around it have.
#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "core/config/synonym.h"
#include "recipes/gbdt/options/gbdt_options.h"

namespace lockstep::gbdt {
namespace {

std::string in_our_words(const char* name, const char* value, const TypedBatch& batch = {}) {
  const std::vector<Synonym> all = synonyms();
  const Synonym* const synonym = find_synonym(all, name);
  if (synonym == nullptr) return "unknown";
  std::vector<std::string> words;
  for (const OurWord& word : written_here(*synonym, value, batch))
    words.push_back(cat(word.name, "=", word.value));
  if (words.empty()) words.push_back(synonym->note);
  return join(words, " ");
}

TEST(GbdtNames, TellADeviceFromItsNumber) {
  EXPECT_EQ(in_our_words("gpu", "0"), "gbdt.device=gpu gbdt.device_id=0");
  EXPECT_EQ(in_our_words("gpu", "True"), "gbdt.device=gpu");
  EXPECT_EQ(in_our_words("gpu", "False"), "gbdt.device=cpu");
  EXPECT_EQ(in_our_words("use_gpu", "0"), "gbdt.device=cpu");
  EXPECT_EQ(in_our_words("device", "cuda:1"), "gbdt.device=gpu gbdt.device_id=1");
  EXPECT_EQ(in_our_words("device_type", "cuda"), "gbdt.device=cuda");
  EXPECT_EQ(in_our_words("teacher_device", "cpu"), "gbdt.device=cpu");
}

TEST(GbdtNames, ChooseAGpuOfABatchByItsFlag) {
  const TypedBatch batch{.makes_jobs = true};
  EXPECT_EQ(in_our_words("gpu_device_id", "1"), "gbdt.device_id=1");
  EXPECT_EQ(in_our_words("gpu_device_id", "1", batch), "--devices=1");
  EXPECT_EQ(in_our_words("gpu_id", "1", batch), "--devices=1");
  EXPECT_EQ(in_our_words("device", "cuda:1", batch), "gbdt.device=gpu --devices=1");
  EXPECT_EQ(in_our_words("device", "gpu", batch), "gbdt.device=gpu");
  EXPECT_EQ(in_our_words("device", "cpu", batch), "gbdt.device=cpu");
}

TEST(GbdtNames, OfScriptsAroundLightGbmLeadToOptions) {
  EXPECT_EQ(in_our_words("teacher_forecast_horizon", "3"), "horizon=3");
  EXPECT_EQ(in_our_words("teacher_early_stopping_rounds", "5"), "early_stopping=5");
  EXPECT_EQ(in_our_words("teacher_is_unbalance", "True"), "is_unbalance=true");
  EXPECT_EQ(in_our_words("eval_metric", "auc"), "params.metric=auc");
  EXPECT_EQ(in_our_words("eval_metric", "mlogloss"), "params.metric=multi_logloss");
  EXPECT_EQ(in_our_words("class_weight", "balanced"), "is_unbalance=true");
  EXPECT_EQ(in_our_words("class_weight", "None"), "is_unbalance=false") << "true is the default";
}

// The number alone does nothing on the CPU, the default.
TEST(GbdtNames, OfADevicesNumberNameTheDeviceToo) {
  const std::vector<Synonym> all = synonyms();
  for (const char* name : {"gpu_device_id", "gpu_id", "device_id", "teacher_gpu_device_id"}) {
    const Synonym* const synonym = find_synonym(all, name);
    ASSERT_NE(synonym, nullptr) << name;
    EXPECT_TRUE(std::string(synonym->note).starts_with("of gbdt.device=gpu")) << synonym->note;
  }
}

TEST(GbdtNames, HaveNoOptionForManyGpus) {
  EXPECT_EQ(
      in_our_words("num_gpus", "4"),
      "with gbdt.device=gpu, a batch takes all GPUs by itself; its flag --devices 0,1 chooses "
      "some");
}

}  // namespace
}  // namespace lockstep::gbdt
