// What `lockstep help WORD …` finds, and what is said of it.
#include "tools/cli/help/help_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/cli/help/help_topics.h"
#include "tools/cli/help/symptoms.h"

namespace lockstep::cli {
namespace {

const std::string& guide(const char* page) {
  static std::vector<std::pair<std::string, std::string>> kept;
  kept.reserve(8);
  kept.emplace_back(page, read_file(cat(LOCKSTEP_SOURCE_DIR "/docs/guide/", page)));
  return kept.back().second;
}

}  // namespace

// In the tool the pages are built in.
const std::string_view symptoms_page = guide("symptoms.md");
const std::string_view glossary_page = guide("glossary.md");
const std::string_view guides_page = guide("README.md");

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Topic topic(const char* title, std::vector<std::string> more = {},
            std::vector<std::string> code = {}) {
  Topic made{.title = title, .terms = std::move(more), .code = std::move(code), .text = {}};
  made.terms.push_back(title);
  made.text = [title](int) { return cat(title, "\n"); };
  return made;
}

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all{
      topic("It hangs", {"NCCL_TIMEOUT", "stuck", "all-reduce hangs"}),
      topic("It is slow", {"stuck at 50 %", "lost progress"}, {"model.cuda()"}),
      topic("batch_size", {"batchsize"}), topic("k_shot"), topic("warmup_steps", {"warm-up"})};
  return all;
}

std::vector<std::string> titles(const std::vector<const Topic*>& found) {
  std::vector<std::string> all;
  for (const Topic* one : found) all.push_back(one->title);
  return all;
}

std::vector<std::string> best(const char* asked) {
  return titles(topics_about(topics(), asked).best);
}

TEST(HelpSearch, FindsATermHoweverItIsWritten) {
  for (const char* asked : {"batch_size", "BATCH_SIZE", "batch size", "Batch sizes", "batch-size"})
    EXPECT_THAT(best(asked), ElementsAre("batch_size")) << asked;
  for (const char* asked : {"warm-up", "warmup", "Warm up"})
    EXPECT_THAT(best(asked), ElementsAre("warmup_steps")) << asked;
  EXPECT_THAT(best("the nccl_timeout!"), ElementsAre("It hangs"));
  EXPECT_THAT(best("allreduce hangs"), ElementsAre("It hangs"));
  EXPECT_THAT(best("hang"), ElementsAre("It hangs"));
}

TEST(HelpSearch, FindsCodeAsItStands) {
  EXPECT_THAT(best("model.cuda()"), ElementsAre("It is slow"));
  EXPECT_THAT(best("Model.cuda"), ElementsAre("It is slow"));
}

TEST(HelpSearch, AWordThatIsCodeCountsMoreThanOthers) {
  EXPECT_THAT(best("reduce K_SHOT"), ElementsAre("k_shot"));
}

TEST(HelpSearch, FindsWhatOnlyATextSays) {
  Topic says = topic("Memory");
  says.text = [](int) { return "Memory\n  `torch.empty_cache()` gives it back to a 3D U-Net.\n"; };
  const std::vector<Topic> all{topic("batch_size"), says};
  for (const char* asked : {"empty_cache", "torch.empty_cache()", "unet", "3D U-Net"})
    EXPECT_THAT(titles(topics_about(all, asked).best), ElementsAre("Memory")) << asked;
  for (const char* asked : {"it", "cache of", "wombat"})
    EXPECT_THAT(titles(topics_about(all, asked).best), IsEmpty()) << asked;
  EXPECT_THAT(titles(topics_about(all, "batch_size -l 1").best), ElementsAre("batch_size"));
}

TEST(HelpSearch, FindsAMessageWithWhatStandsAroundIt) {
  const std::vector<Topic> all{topic("Memory"), topic("Factories", {}, {"Unable to register it"})};
  EXPECT_THAT(titles(topics_about(all, "E0 a.cc:1] Unable to register it: twice").best),
              ElementsAre("Factories"));
  EXPECT_THAT(titles(topics_about(all, "E0 a.cc:1] Unable to register: twice").best), IsEmpty());
}

TEST(HelpSearch, AFewOfTheWordsAreNoAnswer) {
  for (const char* asked : {"progress bar", "st", "", "wombat"}) {
    EXPECT_THAT(best(asked), IsEmpty()) << asked;
  }
  EXPECT_THAT(titles(topics_about(topics(), "progress bar").others), ElementsAre("It is slow"));
}

TEST(HelpSearch, MostOfTheWordsAreAnAnswerIfNoOtherTopicComesNear) {
  const std::vector<Topic> all{topic("Only one GPU is used"), topic("Uneven GPU"), topic("k_shot")};
  const FoundTopics found = topics_about(all, "only GPU 0 being used");
  EXPECT_THAT(titles(found.best), ElementsAre("Only one GPU is used"));
  EXPECT_THAT(titles(found.others), ElementsAre("Uneven GPU"));
  const std::vector<Topic> two{topic("Only one GPU is used"), topic("GPUs are used")};
  EXPECT_THAT(titles(topics_about(two, "only GPU 0 being used").best), IsEmpty());
  Topic apart = topic("Uneven GPU");
  apart.terms.emplace_back("loss curve");
  EXPECT_THAT(titles(topics_about({apart, topic("k_shot")}, "uneven curve wombat").best), IsEmpty())
      << "its words are in two terms";
}

TEST(HelpSearch, ReadsRowsOfAGlossaryAndItemsOfAListOfGuides) {
  const std::vector<Topic> words = glossary_topics(
      "| word | meaning | page |\n|---|---|---|\n| EMA, average | A **mean**. | [a](b.md) |\n");
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].text(80), "EMA, average\n  A mean.\n  More: a: docs/guide/b.md\n");
  EXPECT_THAT(titles(topics_about(words, "average").best), ElementsAre("EMA, average"));
  const std::vector<Topic> guides =
      guide_topics("7. [Other weights](w.md): weights from runs,\n   and files.\n");
  ASSERT_EQ(guides.size(), 1U);
  EXPECT_EQ(guides[0].text(80),
            "Other weights\n  weights from runs, and files.\n  Other weights: docs/guide/w.md\n");
}

TEST(HelpSearch, ShowsTheFirstFewInFullAndTheTitlesOfOthers) {
  FoundTopics found;
  for (const Topic& one : topics()) found.best.push_back(&one);
  EXPECT_EQ(help_text(found, 80),
            "It hangs\n\nIt is slow\n\nbatch_size\n\nSee also: k_shot; warmup_steps\n");
}

TEST(HelpSearch, FindsTheSymptomsInTheWordsOfThoseWhoSearch) {
  const std::vector<Topic> all = help_topics({});
  const std::pair<const char*, const char*> searches[] = {
      {"only one GPU", "Only one GPU is used"},
      {"second GPU", "Only one GPU is used"},
      {"model.cuda()", "Only one GPU is used"},
      {"cuda:0", "Only one GPU is used"},
      {"uneven", "Uneven GPU utilization"},
      {"NCCL timeout", "NCCL timeout"},
      {"out of memory on the second GPU", "Out of memory on the second GPU"},
      {"OOM", "CUDA out of memory"},
      {"protobuf", "Protobuf warnings"},
      {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "Protobuf warnings"},
      {"MessageFactory GetPrototype", "Protobuf warnings"},
      {"absl::InitializeLog", "Protobuf warnings"},
      {"InitializeLog", "Protobuf warnings"},
      {"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
       "Protobuf warnings"},
      {"E0000 00:00:1747 12 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to "
       "register factory for plugin cuDNN when one has already been registered",
       "Protobuf warnings"},
      {"mixed precision", "Mixed precision"},
      {"GradScaler", "Mixed precision"},
      {"gradient accumulation", "Gradient accumulation"},
      {"process group not initialized", "Process group not initialized"},
      {"gpu_device_id", "LightGBM uses one GPU"},
      {"LightGBM is slow on GPU", "LightGBM uses one GPU"},
      {"OpenCL", "LightGBM uses one GPU"},
      {"CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES has no effect"},
      {"num_workers", "Slow data loading"},
      {"disk space", "The disk is full"},
      {"no space left on device", "The disk is full"},
      {"OSError: [Errno 28] No space left on device", "The disk is full"},
      {"disk is full", "The disk is full"},
      {"driver too old", "The NVIDIA driver is too old"},
      {"module prefix", "Checkpoint has other names"},
      {"nvidia-smi", "Watch the GPUs"},
      {"watch nvidia-smi", "Watch the GPUs"},
      {"nvidia-smi dmon", "Watch the GPUs"},
      {"nvidia-smi -l 1", "Watch the GPUs"},
      {"empty_cache", "CUDA out of memory"},
      {"torch.cuda.empty_cache", "CUDA out of memory"},
      {"model.module", "Checkpoint has other names"},
      {"py-spy", "NCCL timeout"},
      {"one-process-many", "Uneven GPU utilization"},
      {"kept-memory", "CUDA out of memory"},
      {"stray-context", "Out of memory on the second GPU"},
      {"other-tenant", "Out of memory on the second GPU"},
      {"map_location", "Out of memory on the second GPU"},
      {"device_count", "Only one GPU is used"},
      {"use all gpus", "Only one GPU is used"},
      {"mp.spawn", "The script calls mp.spawn"},
      {"EADDRINUSE", "The script calls mp.spawn"},
      {"does a second GPU pay", "Does a second GPU pay?"},
      {"communication overhead", "Does a second GPU pay?"},
      {"batch size 1", "Low GPU utilization"},
      {"hang", "NCCL timeout"},
      {"GPU0 idle", "Only one GPU is used"},
      {"only GPU1 used", "Only one GPU is used"},
      {"gpu0", "Only one GPU is used"},
      {"Only GPU 0 being used", "Only one GPU is used"},
      {"success criteria", "success criterion, success criteria, target utilization"},
      {"target utilization", "success criterion, success criteria, target utilization"},
      {"GPU 1: Idle (not utilized)", "Only one GPU is used"},
      {"training too slow", "Training is slow"},
      {"training is too slow", "Training is slow"},
      {"get_ipython", "The script calls get_ipython()"},
      {"NameError: name 'get_ipython' is not defined", "The script calls get_ipython()"},
      {"wikitext", "Download a data set"},
      {"wikitext-103", "Download a data set"},
      {"download data", "Download a data set"},
      {"download a data set", "Download a data set"},
      {"huggingface dataset", "Download a data set"},
      {"P100", "The GPU is too old"},
      {"no kernel image is available for execution on the device", "The GPU is too old"},
  };
  for (const auto& [words, title] : searches) {
    const FoundTopics found = topics_about(all, words);
    EXPECT_THAT(titles(found.best), ::testing::Contains(title)) << words;
  }
}

TEST(HelpSearch, FindsEachFlagWithItsCommands) {
  const std::vector<Topic> all = help_topics(
      {{.name = "batch run",
        .flags = {{"--dry-run", "", "print every job"}, {"--expect", "WHAT", "exit code 4"}}},
       {.name = "batch resume", .flags = {{"--expect", "WHAT", "exit code 4"}}},
       {.name = "other", .flags = {{"--dry-run", "", "write nothing"}}}});
  for (const char* asked : {"dry-run", "--dry-run", "dry_run", "dry run"})
    EXPECT_EQ(help_text({.best = topics_about(all, asked).best, .others = {}}, 80),
              "--dry-run, a flag\n  lockstep batch run: print every job\n  lockstep other: write "
              "nothing\n")
        << asked;
  for (const char* asked : {"expect", "--expect"})
    EXPECT_THAT(titles(topics_about(all, asked).best), ElementsAre("--expect, a flag")) << asked;
  EXPECT_THAT(help_text(topics_about(all, "expect"), 80),
              HasSubstr("lockstep batch run, batch resume: WHAT, exit code 4"));
}

TEST(HelpSearch, FindsWordsNamesAndOptions) {
  const std::vector<Topic> all = help_topics({});
  const std::pair<const char*, const char*> searches[] = {
      {"hyperparameters", "option"},
      {"throughput", "samples per second"},
      {"MFU", "Model FLOPs utilisation"},
      {"epochs", "One pass over the training samples"},
      {"accelerator", "--devices"},
      {"batch_size", "batch.global"},
      {"batch size", "batch.global"},
      {"max_checkpoints", "checkpoint.keep"},
      {"checkpoints", "A folder below"},
      {"stop.epochs", "stop.epochs"},
      {"pretrained", "init.from"},
      {"pretrained weights", "init.from"},
      {"init.from", "init.from"},
      {"CosineAnnealingWarmRestarts", "schedule.kind"},
      {"T_0", "schedule.period"},
      {"learning rate schedule", "schedule.kind"},
      {"learning rate scheduler", "schedule.kind"},
      {"lr schedule", "schedule.period"},
      {"cosine annealing", "schedule.period"},
      {"polynomial decay", "schedule.power"},
      {"submission.zip", "lockstep predict RUN submission="},
      {"GIL", "lets only one thread"},
      {"DistributedSampler", "share of the samples"},
      {"max_memory_allocated", "The plan estimates it"},
      {"torch.cuda.max_memory_allocated", "The plan estimates it"},
      {"prefetch", "data.prefetch"},
      {"pin_memory", "leave it out"},
      {"allreduce", "adds up a buffer over all ranks"},
      {"warmup", "warm-up"},
      {"warm-up", "warm-up"},
      {"dice", "overlap"},
      {"sliding window", "window"},
      {"patch", "voxels"},
      {"early stopping", "stop.patience"},
      {"find_unused_parameters", "leave it out"},
      {"inference only", "lockstep predict"},
      {"progress bar", "progress"},
      {"job file", "TOML"},
      {"max_failure_rate", "max_failure_rate, a key of job files"},
      {"several hosts", "docs/guide/several-hosts.md"},
      {"deberta", "model.path=FOLDER"},
      {"mdeberta", "model.path=FOLDER"},
      {"DeBERTa-v3", "model.path=FOLDER"},
      {"pipeline parallel", "each GPU must hold the model"},
      {"tensor parallelism", "each GPU must hold the model"},
      {"FSDP", "each GPU must hold the model"},
      {"ipynb", "jupyter nbconvert --to script"},
      {"notebook", "jupyter nbconvert --to script"},
  };
  for (const auto& [words, part] : searches) {
    const FoundTopics found = topics_about(all, words);
    EXPECT_THAT(help_text(found, 200), HasSubstr(part)) << words;
    EXPECT_FALSE(found.best.empty()) << words;
  }
  EXPECT_EQ(topics_about(all, "workers").best.front()->title, "worker") << "before the key workers";
}

}  // namespace
}  // namespace lockstep::cli
