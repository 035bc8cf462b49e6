// What the check finds in a recipe, what it leaves alone, and that it leaves no trace.
#include "training/contract/contract_check.h"

#include "fakes/contract_recipe.h"
#include "fakes/spread_recipe.h"
#include "fakes/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace lockstep {
namespace {

using Lines = std::vector<std::string>;

struct Tried {
  explicit Tried(const std::string& kind) : recipe(kind), model(recipe.build(1)) {}
  ContractReport check(ProcessGroup& group) {
    return check_contract({.recipe = recipe,
                           .model = *model,
                           .buffers = buffers,
                           .data = data,
                           .group = group,
                           .backend = cpu_backend(),
                           .seed = 1,
                           .micro = micro,
                           .eval_batch = 4,
                           .best_metric = best_metric});
  }

  testing::ContractRecipe recipe;
  std::unique_ptr<Model> model;
  ModelBuffers buffers{model->buffers(), at::kCPU};
  DatasetPair data = recipe.data();
  std::int64_t micro = 4;
  std::string best_metric;
};

ContractReport report_on(const std::string& kind, std::int64_t micro = 4) {
  ProcessGroup group{World{}, cpu_backend()};
  Tried tried(kind);
  tried.micro = micro;
  return tried.check(group);
}

// The fault begins so, and is the only one.
void expect_fault(const std::string& kind, const std::string& begin) {
  const ContractReport report = report_on(kind);
  ASSERT_EQ(report.faults.size(), 1U) << kind << ": " << ::testing::PrintToString(report.faults);
  EXPECT_EQ(report.faults[0].substr(0, begin.size()), begin);
}

TEST(CheckContract, FindsNothingInARecipeThatKeepsIt) {
  for (const std::int64_t micro : {1, 2, 8}) {
    const ContractReport report = report_on("good", micro);
    EXPECT_EQ(report.faults, Lines());
    EXPECT_EQ(report.warnings, Lines());
    EXPECT_EQ(report.notes, Lines());
    ASSERT_EQ(report.tried.size(), 4U);
    EXPECT_EQ(report.tried[1], "evaluation: records of 1 number");
    EXPECT_EQ(report.tried[2], "metrics: squared_error, rows");
    EXPECT_EQ(report.tried[3], "items: sample, squared_error");
  }
}

TEST(CheckContract, LeavesAloneWhatIsUnusualAndRight) {
  for (const char* kind :
       {"batch_norm", "torch_dropout", "always_dropout", "contrastive", "regulariser"})
    for (const std::int64_t micro : {1, 2}) {
      const ContractReport report = report_on(kind, micro);
      EXPECT_EQ(report.faults, Lines()) << kind;
      const bool draws = std::string(kind).ends_with("dropout");  // see below
      EXPECT_EQ(report.warnings.size(), draws ? 1U : 0U) << kind;
    }
}

TEST(CheckContract, TakesSamplesOfSeveralRowsAndFieldsOfTheHost) {
  ProcessGroup group{World{}, cpu_backend()};
  testing::SpreadRecipe recipe(10, 3);
  recipe.reads_host = true;
  const auto model = recipe.build(1);
  ModelBuffers buffers(model->buffers(), at::kCPU);
  const DatasetPair data = recipe.data();
  const ContractReport report = check_contract({.recipe = recipe,
                                                .model = *model,
                                                .buffers = buffers,
                                                .data = data,
                                                .group = group,
                                                .backend = cpu_backend(),
                                                .micro = 4});
  EXPECT_EQ(report.faults, Lines());
  EXPECT_EQ(report.warnings, Lines());
  EXPECT_EQ(report.notes, Lines());
  ASSERT_FALSE(report.tried.empty());
  EXPECT_EQ(report.tried[0], "loss: values, rows over 3 rows, with and without padding");
}

TEST(CheckContract, NamesTermsThatAreMeans) {
  for (const char* kind : {"mean", "mean_batch_norm", "mean_torch_dropout"})
    expect_fault(kind, "the term elements of the loss is a mean, not a sum: with each row twice ");
  expect_fault("batch_mean",
               "the term rows of the loss is a mean, not a sum: with each row twice ");
  EXPECT_EQ(report_on("mean", 1).faults.size(), 1U) << "of a single row too";
}

TEST(CheckContract, NamesPaddingThatCounts) {
  const ContractReport report = report_on("padding_in_sum");
  ASSERT_EQ(report.faults.size(), 2U);
  EXPECT_EQ(report.faults[1].substr(0, 47), "padding rows count in the term rows of the loss");
  const ContractReport weights = report_on("padding_in_weight");
  ASSERT_EQ(weights.faults.size(), 2U);
  EXPECT_EQ(weights.faults[1],
            "padding rows count in the weight of the term rows: with as many of them as rows it is "
            "4 instead of 2");
}

TEST(CheckContract, NamesWeightsThatAreWrong) {
  expect_fault("random_weight", "loss_weights does not follow from the batch alone: for the same ");
  expect_fault("one_weight",
               "loss_weights must give a weight for each of the loss's terms (elements, rows), but "
               "gave 1");
  expect_fault("unknown_weight",
               "the weight of the term rows of the loss must be 0 or more and known from the "
               "batch, but is nan");
}

TEST(CheckContract, NamesTermsOfTheWrongNumberOrShape) {
  expect_fault("one_term", "loss must return 2 terms, but returned 1");
  expect_fault("row_losses", "the term rows of the loss must be one number, but has the shape [2]");
}

TEST(CheckContract, NamesRecordsOfTheWrongShape) {
  expect_fault("flat_records", "evaluate must return one record per row: [4, R], but returned [4]");
  expect_fault("one_record",
               "evaluate must return one record per row: [4, R], but returned [1, 1]");
  expect_fault("no_metrics", "metrics returned no metric for the records of the first 2");
}

TEST(CheckContract, NamesPiecesThatMakeAnotherRecordThanTheWhole) {
  EXPECT_THAT(report_on("pieces").faults, ::testing::IsEmpty());
  EXPECT_THAT(report_on("pieces").tried, ::testing::Contains("evaluation in pieces"));
  expect_fault("wrong_pieces", "join_evaluated makes another record of a sample in two pieces");
}

TEST(CheckContract, WarnsWhereItIsNotCertain) {
  const auto warning = [](const std::string& kind) {
    const ContractReport report = report_on(kind);
    EXPECT_EQ(report.faults, Lines()) << kind;
    return report.warnings.size() == 1 ? report.warnings[0] : std::string();
  };
  EXPECT_EQ(warning("not_finite"), "the term rows of the loss is nan before any training");
  EXPECT_EQ(warning("double"),
            "the term rows of the loss is Double, not Float: compute the loss "
            "in fp32");
  EXPECT_EQ(warning("sum_beside_weight").substr(0, 33), "the weight of the term rows does ");
  EXPECT_EQ(warning("bad_items"),
            "the table items cannot be written: row 0 has 2 cells, but there are 1 columns");
  ProcessGroup group{World{}, cpu_backend()};
  Tried tried("good");
  tried.best_metric = "squared_eror";
  EXPECT_EQ(tried.check(group).warnings,
            Lines{"checkpoint.best_metric is squared_eror, but the metrics of the first 2 "
                  "validation samples are squared_error, rows; did you mean squared_error?"});
}

TEST(CheckContract, WarnsOfRandomNumbersThatAreNotTheSteps) {
  const ContractReport report = report_on("torch_dropout");
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_EQ(report.warnings[0].find("loss draws random numbers of torch's own"), 0U);
}

TEST(CheckContract, NotesWhatItCouldNotTry) {
  const ContractReport fixed = report_on("fixed_rows");
  EXPECT_EQ(fixed.faults, Lines());
  EXPECT_EQ(fixed.notes, Lines{"the loss of 4 rows could not be tried: two rows, please"});
  EXPECT_FALSE(fixed.out_of_memory);
  const ContractReport memory = report_on("memory");
  EXPECT_EQ(memory.notes, Lines{"the loss of 2 rows could not be tried: out of memory"});
  EXPECT_TRUE(memory.out_of_memory);
}

TEST(CheckContract, LeavesNoTrace) {
  ProcessGroup group{World{}, cpu_backend()};
  Tried tried("torch_dropout");
  auto& model = dynamic_cast<testing::ModeModel&>(*tried.model);
  model.seen.fill_(7);
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state().clone();
  tried.check(group);
  EXPECT_EQ(model.seen.item<double>(), 7);
  EXPECT_TRUE(model.training);
  EXPECT_FALSE(model.first.grad().defined());
  EXPECT_TRUE(at::detail::getDefaultCPUGenerator().get_state().equal(before));
}

TEST(CheckContract, SaysTheSameOnAllRanks) {
  std::mutex mutex;
  std::vector<Lines> all;
  testing::with_ranks(3, [&](ProcessGroup& group) {
    Tried tried(group.rank() == 0 ? "mean" : "good");
    const ContractReport report = tried.check(group);
    const std::lock_guard lock(mutex);
    all.push_back(report.faults);
  });
  ASSERT_EQ(all[0].size(), 1U);
  for (const Lines& faults : all) EXPECT_EQ(faults, all[0]);
}

}  // namespace
}  // namespace lockstep
