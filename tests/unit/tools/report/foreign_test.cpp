// Logs of other programs.
#include "core/base/crc32c.h"
#include "report_fixtures.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "tools/report/logs/foreign_csv.h"
#include "tools/report/tensorboard/foreign_tensorboard.h"
#include "tools/report/tensorboard/tensorboard_reader.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ForeignLogs : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
    return folder.path() / name;
  }
  const TemporaryDirectory folder;
};

TEST_F(ForeignLogs, ACsvIsReadByTheUsualNames) {
  const Trial trial = read_csv_trial(
      write("log.csv",
            "step,elapsed,train_loss,val_loss,acc\n10,100,3,,0.1\n20,105,2,2.5,0.2\n30,110,1,"
            "2.7,0.3\n40,115"));
  EXPECT_EQ(trial.source, "CSV log");
  EXPECT_EQ(trial.number("steps"), 30);
  EXPECT_NEAR(trial.find("step_s")->value, 0.5, 1e-9);
  EXPECT_EQ(trial.find("best.val_loss")->value, 2.5);
  EXPECT_EQ(trial.find("last.val_loss")->value, 2.7);
  EXPECT_EQ(trial.find("last.acc")->value, 0.3);
  EXPECT_EQ(trial.find("best.acc"), nullptr) << "whether more is better is not known";
  ASSERT_EQ(trial.curve.size(), 2U);
  EXPECT_EQ(trial.curve[0].seconds, 5);
  EXPECT_TRUE(trial.value("data").is_null());
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("are not known")));
}

TEST_F(ForeignLogs, SecondsDoNotDependOnTheOrderOfColumns) {
  for (const char* text : {"step,elapsed,val_loss,loss\n1,100,,3\n2,105,2,2\n",
                           "step,elapsed,loss,val_loss\n1,100,3,\n2,105,2,2\n"}) {
    const Trial trial = read_csv_trial(write("log.csv", text));
    ASSERT_EQ(trial.curve.size(), 1U);
    EXPECT_EQ(trial.curve[0].seconds, 5) << text;
    EXPECT_EQ(trial.find("train_s")->value, 5) << text;
  }
}

TEST_F(ForeignLogs, WhatAResumeTookBackDoesNotCount) {
  const Trial trial = read_csv_trial(
      write("log.csv", "step,time,loss\n1,0,3\n2,1,2\n3,2,0.5\n4,3,0.4\n3,10,1.5\n4,11,1\n"));
  EXPECT_EQ(trial.find("best.loss")->value, 1);
  EXPECT_EQ(trial.curve.size(), 4U);
  const Trial epochs =
      read_csv_trial(write("e.csv", "epoch,time,loss\n1,0,3\n1,1,0.5\n2,2,2\n2,3,1\n"));
  EXPECT_EQ(epochs.find("best.loss")->value, 0.5) << "an epoch may have several lines";
}

// Rows of a loss: from step `first` to `last`, `each` seconds apart from `time` on.
std::string rows_of_steps(int first, int last, double time, double each) {
  std::string text;
  for (int step = first; step <= last; ++step)
    text += cat(fixed(time + each * (step - first), 3), ",", step, ",", fixed(2 - 0.01 * step, 2),
                "\n");
  return text;
}

TEST_F(ForeignLogs, APauseIsNoTimeOfSteps) {
  const Trial trial =
      read_csv_trial(write("log.csv", "timestamp,step,loss\n" + rows_of_steps(0, 49, 1.7e9, 1.1) +
                                          rows_of_steps(40, 79, 1.7e9 + 36000, 1.1)));
  EXPECT_NEAR(trial.find("step_s")->value, 1.1, 1e-6);
  EXPECT_NEAR(trial.find("train_s")->value, 79 * 1.1, 1e-5);
  EXPECT_NEAR(trial.curve.back().seconds, 79 * 1.1, 1e-5);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("before step 40 is left out")));
}

TEST_F(ForeignLogs, ARestartWhoseSecondsBeginAnewIsAPause) {
  const Trial trial = read_csv_trial(write(
      "log.csv", "elapsed,step,loss\n" + rows_of_steps(0, 49, 0, 2) + rows_of_steps(40, 79, 3, 2)));
  EXPECT_NEAR(trial.find("step_s")->value, 2, 1e-9);
  EXPECT_NEAR(trial.find("train_s")->value, 158, 1e-9);
}

// Steps of a second from 1 to 25, a restart from step `from` an hour later, and on to 40;
// validation every ten steps.
std::string restarted_rows(int from, bool times) {
  std::string text = times ? "timestamp,step,loss,val_loss\n" : "step,loss,val_loss\n";
  const auto row = [&](double time, int step, bool validates) {
    text += cat(times ? cat(fixed(time, 1), ",") : "", step, ",", 100 - step, ",",
                validates ? cat(step * 10) : "", "\n");
  };
  for (int step = 1; step <= 25; ++step) row(1.7e9 + step, step, step % 10 == 0);
  for (int step = from; step <= 40; ++step)
    row(1.7e9 + 3600 + (step - from), step, from < 10 ? step == 30 : step == 40);
  return text;
}

TEST_F(ForeignLogs, ARestartTakesBackWhatOtherSeriesHadLaterOn) {
  for (const bool times : {true, false}) {
    const Trial back = read_csv_trial(write("back.csv", restarted_rows(15, times)));
    EXPECT_EQ(back.find("best.val_loss")->value, 100) << "that of step 20 was taken back";
    EXPECT_EQ(back.find("last.val_loss")->value, 400);
    EXPECT_THAT(back.cautions, Contains(HasSubstr("started anew at step 15")));
    const Trial anew = read_csv_trial(write("anew.csv", restarted_rows(1, times)));
    EXPECT_EQ(anew.find("best.val_loss")->value, 300);
    EXPECT_EQ(anew.number("steps"), 40);
    if (!times) continue;
    EXPECT_NEAR(back.find("train_s")->value, 39, 1e-6);
    ASSERT_EQ(back.curve.size(), 2U);
    EXPECT_NEAR(back.curve[0].seconds, 9, 1e-6);
    EXPECT_NEAR(anew.find("train_s")->value, 39, 1e-6);
    EXPECT_NEAR(anew.curve.at(0).seconds, 29, 1e-6);
  }
}

// Evaluations of older checkpoints beside the training are no restarts of it.
TEST_F(ForeignLogs, OnlyTheSeriesThatCountsTellsOfRestarts) {
  const Trial trial = read_csv_trial(
      write("log.csv",
            "step,time,loss,test_loss\n10,0,9,\n20,10,8,\n10,11,,3\n30,20,7,\n20,21,,2\n"
            "40,30,6,\n30,31,,1\n50,40,5,\n"));
  EXPECT_EQ(trial.find("best.test_loss")->value, 1);
  EXPECT_EQ(trial.find("train_s")->value, 40);
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("anew"))));
}

// Batches of each validation that are counted from 0 on, more of them than steps of the training.
TEST_F(ForeignLogs, LongerSeriesOfValidationTellNoRestarts) {
  std::string text = "step,elapsed,loss,val_batch_loss\n";
  int time = 0;
  for (int part = 0; part < 4; ++part) {
    for (int step = 1; step <= 10; ++step)
      text += cat(100 * part + 10 * step, ",", ++time, ",", 4 - part, ",\n");
    for (int batch = 0; batch < 20; ++batch) text += cat(batch, ",", ++time, ",,", 5 - part, "\n");
  }
  const Trial trial = read_csv_trial(write("log.csv", text));
  ASSERT_NE(trial.find("best.loss"), nullptr);
  EXPECT_EQ(trial.find("best.loss")->value, 1);
  EXPECT_EQ(trial.number("steps"), 400);
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("anew"))));
}

// Training and validation in one column.
TEST_F(ForeignLogs, LinesThatComeAgainRegularlyAreNoRestarts) {
  std::string epochs = "epoch,elapsed,loss\n", timeless = "epoch,loss\n",
              steps = "step,elapsed,loss\n";
  int epoch_s = 0, step_s = 0;
  const auto add = [&](int line, double loss) {
    epochs += cat(line, ",", epoch_s, ",", loss, "\n");
    timeless += cat(line, ",", loss, "\n");
    steps += cat(10 * line, ",", step_s, ",", loss, "\n");
  };
  for (int line = 1; line <= 40; ++line) {
    epoch_s += 60;
    step_s += 10;
    add(line, 1);
    if (line % 10 != 0) continue;
    epoch_s += 40;
    step_s += 120;
    add(line, 2);
  }
  const Trial of_epochs = read_csv_trial(write("epochs.csv", epochs));
  EXPECT_NEAR(of_epochs.find("train_s")->value, 2500, 1e-6);
  EXPECT_EQ(of_epochs.curve.size(), 44U);
  const Trial of_steps = read_csv_trial(write("steps.csv", steps));
  EXPECT_NEAR(of_steps.find("train_s")->value, 870, 1e-6);
  const Trial of_test = read_csv_trial(
      write("tested.csv", "step,elapsed,loss\n10,10,3\n20,20,2\n30,30,1\n30,500,2\n"));
  for (const Trial& trial :
       {of_epochs, of_steps, of_test, read_csv_trial(write("timeless.csv", timeless))})
    EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("anew")))) << trial.name;
}

TEST_F(ForeignLogs, AnEpochThatWasRepeatedReplacesItself) {
  std::string text = "epoch,timestamp,loss,val_loss\n", timeless = "epoch,loss,val_loss\n";
  double time = 1.7e9;
  for (const int epoch : {1, 2, 3, 4, 5, 5, 6, 7, 8}) {
    time += 100;
    if (epoch == 5 && text.find("\n5,") != text.npos) time += 7200;
    const char* const loss = epoch == 5 && text.find("\n5,") == text.npos ? "0.25" : "2";
    text += cat(epoch, ",", fixed(time, 1), ",", loss, ",", loss, "\n");
    timeless += cat(epoch, ",", loss, ",", loss, "\n");
  }
  const Trial trial = read_csv_trial(write("log.csv", text));
  EXPECT_EQ(trial.find("best.val_loss")->value, 2);
  EXPECT_EQ(trial.curve.size(), 8U);
  EXPECT_NEAR(trial.find("train_s")->value, 700, 1e-6);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("a pause of 2.028 h before epoch 5 is left out")));
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("started anew at epoch 5")));
  EXPECT_EQ(read_csv_trial(write("timeless.csv", timeless)).find("best.loss")->value, 2);
  const Trial back =
      read_csv_trial(write("back.csv", "epoch,loss\n1,5\n2,4\n3,0.5\n4,0.4\n3,3\n4,2\n5,1\n"));
  EXPECT_EQ(back.find("best.loss")->value, 1) << "epoch 3 of before counts no more";
}

// A line more for an epoch, a moment later, is no restart.
TEST_F(ForeignLogs, LinesOfOneEpochStay) {
  const Trial last = read_csv_trial(write(
      "a.csv",
      "epoch,timestamp,loss\n1,1700000100,3\n2,1700000200,2\n3,1700000300,1\n3,1700000301,4\n"));
  EXPECT_EQ(last.find("best.loss")->value, 1);
  const Trial three =
      read_csv_trial(write("b.csv", "epoch,loss\n1,9\n1,8\n1,7\n2,6\n2,5\n2,4\n3,1\n3,2\n"));
  EXPECT_EQ(three.find("best.loss")->value, 1);
  EXPECT_THAT(three.cautions, Not(Contains(HasSubstr("anew"))));
}

// The test of the model, behind the last epoch.
TEST_F(ForeignLogs, OneMoreLineOfTheLastEpochIsNoRestart) {
  for (const char* text : {"epoch,loss\n1,5\n2,4\n3,3\n4,2\n4,7\n",
                           "epoch,elapsed,loss\n1,60,5\n2,120,4\n3,180,3\n4,240,2\n4,285,7\n"}) {
    const Trial trial = read_csv_trial(write("log.csv", text));
    EXPECT_EQ(trial.find("best.loss")->value, 2) << text;
    EXPECT_EQ(trial.find("last.loss")->value, 7) << text;
    EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("anew")))) << text;
  }
}

TEST_F(ForeignLogs, APauseWithinAnEpochIsLeftOut) {
  std::string text = "epoch,timestamp,loss\n";
  double time = 1.7e9;
  for (int line = 0; line < 40; ++line) {
    time += line == 22 ? 36000 : 10;
    text += cat(line / 10, ",", fixed(time, 1), ",1\n");
  }
  const Trial trial = read_csv_trial(write("log.csv", text));
  EXPECT_NEAR(trial.find("train_s")->value, 390, 1e-6);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("a pause of ")));
}

TEST_F(ForeignLogs, TimesOfEpochsAreNoClock) {
  const Trial few =
      read_csv_trial(write("a.csv", "epoch,time,loss\n1,10.1,3\n2,10.2,2\n3,10.4,1\n4,10.7,0.5\n"));
  EXPECT_EQ(few.find("train_s"), nullptr);
  EXPECT_TRUE(few.curve.empty());
  EXPECT_THAT(few.cautions, Contains(AllOf(HasSubstr("column time"), HasSubstr("elapsed"),
                                           HasSubstr("epoch_time"))));
  const Trial texts =
      read_csv_trial(write("t.csv", "epoch,time,loss\n1,0:01:40,3\n2,0:01:41,2\n3,0:01:43,1\n"));
  EXPECT_EQ(texts.find("train_s"), nullptr);
  // From its beginning on, and with a name that says it, it is one.
  EXPECT_EQ(read_csv_trial(write("b.csv", "epoch,time,loss\n1,10,3\n2,20,2\n3,31,1\n"))
                .find("train_s")
                ->value,
            21);
  EXPECT_EQ(read_csv_trial(write("c.csv", "epoch,elapsed,loss\n1,100,3\n2,101,2\n"))
                .find("train_s")
                ->value,
            1);
  std::string many = "step,time,loss\n";
  for (int step = 0; step < 60; ++step) many += cat(step, ",", 300 + step, ",1\n");
  const Trial long_one = read_csv_trial(write("d.csv", many));
  EXPECT_EQ(long_one.find("train_s")->value, 59);
  EXPECT_THAT(long_one.cautions, Contains(HasSubstr("is taken for a clock")));
  // Its sums are the clock beside it.
  const Trial sums =
      read_csv_trial(write("e.csv", "epoch,time,elapsed,loss\n1,10,10,3\n2,11,21,2\n3,12,33,1\n"));
  EXPECT_EQ(sums.find("train_s")->value, 23);
  EXPECT_EQ(sums.find("last.time")->value, 12);
  const Trial named =
      read_csv_trial(write("f.csv", "epoch,epoch_time,duration,loss\n1,10,1,3\n2,11,2,2\n"));
  EXPECT_EQ(named.find("train_s"), nullptr);
  EXPECT_EQ(named.find("last.epoch_time")->value, 11);
}

TEST_F(ForeignLogs, OneLongDurationMakesNoClockOfTheOthers) {
  std::string text = "epoch,time,loss\n", days = "epoch,date,time,loss\n", day = days;
  for (int epoch = 0; epoch < 12; ++epoch) {
    text += cat(epoch, ",", epoch == 4 ? 90 : 25, ",1\n");
    days += cat(epoch, ",2026-01-31,", 25 + 0.5 * epoch, ",1\n");
    day += cat(epoch, ",2026-01-31,09:", 30 + epoch, ":00,1\n");
  }
  const Trial trial = read_csv_trial(write("log.csv", text));
  EXPECT_EQ(trial.find("train_s"), nullptr);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("its times go back")));
  // Nor does the day beside them.
  const Trial dated = read_csv_trial(write("days.csv", days));
  EXPECT_EQ(dated.find("train_s"), nullptr);
  EXPECT_THAT(dated.cautions, Contains(HasSubstr("its column time rises from 25")));
  EXPECT_NEAR(read_csv_trial(write("day.csv", day)).find("train_s")->value, 660, 1e-6);
}

// The last one long, so that none falls.
TEST_F(ForeignLogs, OneLongDurationAtTheEndMakesNoClock) {
  for (const char* text : {"epoch,time,loss\n1,25,3\n2,25,2\n3,25,1\n4,90,1\n",
                           "epoch,time,loss\n1,25,3\n2,25.5,2\n3,26,1\n4,90,1\n"}) {
    const Trial trial = read_csv_trial(write("log.csv", text));
    EXPECT_EQ(trial.find("train_s"), nullptr) << text;
    EXPECT_THAT(trial.cautions, Contains(HasSubstr("its column time rises from 25 to 90"))) << text;
  }
  const Trial paused =
      read_csv_trial(write("clock.csv", "epoch,time,loss\n1,10,3\n2,20,2\n3,500,1\n"));
  EXPECT_NE(paused.find("train_s"), nullptr) << "a clock, with a pause";
}

TEST_F(ForeignLogs, ADateThatGoesBackIsNoEpoch) {
  const Trial trial =
      read_csv_trial(write("log.csv",
                           "step,date,loss\n10,2026-01-31 09:30:00,3\n20,2026-01-31 09:30:10,2\n"
                           "30,2026-01-31 09:30:08,1\n40,2026-01-31 09:30:18,1\n"));
  EXPECT_EQ(trial.find("train_s"), nullptr);
  EXPECT_THAT(trial.cautions, Contains(AllOf(HasSubstr("go back, by 2 s at step 30"),
                                             HasSubstr("a clock was set"))));
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("each epoch"))));
}

// As ultralytics writes after a resume: epochs go on, the seconds begin anew.
TEST_F(ForeignLogs, AClockThatBeginsAnewIsARestart) {
  std::string text = "epoch,time,train/loss\n";
  for (int epoch = 1; epoch <= 12; ++epoch)
    text += cat(epoch, ",", (epoch <= 6 ? epoch : epoch - 6) * 50, ",", 20 - epoch, "\n");
  const Trial trial = read_csv_trial(write("results.csv", text));
  ASSERT_NE(trial.find("train_s"), nullptr);
  EXPECT_NEAR(trial.find("train_s")->value, 550, 1e-9);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("begin anew")));
  std::string each = "epoch,time,loss\n";
  for (int line = 0; line < 30; ++line) each += cat(line / 10, ",", line % 10, ",1\n");
  EXPECT_EQ(read_csv_trial(write("each.csv", each)).find("train_s"), nullptr)
      << "in each epoch: what lies between is not known";
}

TEST_F(ForeignLogs, AGapFarOutsideTheRestIsAPause) {
  const std::string head = "time,step,loss\n" + rows_of_steps(0, 19, 0, 1);
  const Trial slept = read_csv_trial(write("a.csv", head + rows_of_steps(20, 39, 5000, 1)));
  EXPECT_NEAR(slept.find("step_s")->value, 1, 1e-9);
  EXPECT_THAT(slept.cautions, Contains(HasSubstr("a pause of ")));
  std::string evaluates = "time,step,loss\n";  // 30 s after every tenth step
  for (int ten = 0; ten < 10; ++ten)
    evaluates += rows_of_steps(10 * ten, 10 * ten + 9, ten * 39.0, 1);
  const Trial regular = read_csv_trial(write("b.csv", evaluates));
  EXPECT_NEAR(regular.find("train_s")->value, 9 * 39 + 9, 1e-9);
  EXPECT_THAT(regular.cautions, Not(Contains(HasSubstr("pause"))));
}

TEST_F(ForeignLogs, ThePartsOfAValidationLossAreNotTheLoss) {
  const std::string rows = "\n1,1,3,2\n2,2,3,1\n";
  const Trial both = read_csv_trial(write("a.csv", "time,step,val/aux_loss,val/loss" + rows));
  EXPECT_EQ(both.metric, "loss");
  EXPECT_EQ(both.curve.back().value, 1);
  const Trial part = read_csv_trial(write("b.csv", "time,step,x,val/aux_loss" + rows));
  EXPECT_EQ(part.metric, "val/aux_loss");
  const Trial other = read_csv_trial(write("c.csv", "time,step,x,test_loss" + rows));
  EXPECT_EQ(other.metric, "test_loss");
}

// Or the step time of a program would follow from how often it happened to be evaluated.
TEST_F(ForeignLogs, AFewGapsThatAreAlikeAreNoPauses) {
  std::string text = "time,step,loss\n";
  for (int part = 0; part < 4; ++part)
    text += rows_of_steps(60 * part, 60 * part + 59, part * 75.0, 1);
  const Trial trial = read_csv_trial(write("a.csv", text));
  EXPECT_NEAR(trial.find("train_s")->value, 3 * 75 + 59, 1e-9);
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("pause"))));
}

TEST_F(ForeignLogs, ClocksOfWholeSecondsMakeNoPauses) {
  std::string text = "time,step,loss\n";
  for (int step = 0; step < 60; ++step) text += cat(step / 40, ",", step, ",1\n");
  const Trial trial = read_csv_trial(write("log.csv", text));
  EXPECT_EQ(trial.find("train_s")->value, 1);
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("pause"))));
}

TEST_F(ForeignLogs, StepsWithinAnEpochAreNoResumes) {
  const auto log = [&](const std::string& name, int epochs, const char* head, bool told) {
    std::string text = head;
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (int step = 0; step < 100; step += 20)
        text += cat(told ? cat(epoch, ",") : "", step, ",", fixed((epoch * 100 + step) * 0.1, 3),
                    ",", 2.0 / (1 + epoch), "\n");
    return read_csv_trial(write(name, text));
  };
  const Trial a = log("a.csv", 40, "epoch,step,time,loss\n", true);
  EXPECT_EQ(a.number("epochs"), 40);
  EXPECT_TRUE(a.value("steps").is_null());
  EXPECT_NEAR(a.find("train_s")->value, 398, 1e-9);
  EXPECT_NEAR(a.find("step_s")->value, 0.1, 1e-9);
  EXPECT_EQ(a.curve.size(), 200U);
  const Trial untold = log("b.csv", 50, "step,time,loss\n", false);
  EXPECT_EQ(untold.number("epochs"), 50);
  EXPECT_NEAR(untold.find("train_s")->value, 498, 1e-9);
  EXPECT_THAT(untold.cautions, Contains(HasSubstr("begin anew 49 times")));
}

// Lightning counts the batches of all validations in the column of the training's steps.
TEST_F(ForeignLogs, BatchesOfValidationAreNoStepsOfTheTraining) {
  std::string text = "epoch,step,train_loss,val_loss_step,val_loss_epoch\n";
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int batch = 0; batch < 20; ++batch) text += cat(",", 20 * epoch + batch, ",,1,\n");
    const std::string last = cat(epoch, ",", 10 * epoch + 9, ",");
    text += cat(last, ",,2\n", last, "3,,\n");
  }
  const Trial trial = read_csv_trial(write("metrics.csv", text));
  EXPECT_EQ(trial.number("steps"), 59);
  EXPECT_TRUE(trial.value("epochs").is_null());
}

TEST_F(ForeignLogs, FractionsOfEpochsArePlaces) {
  const Trial trial = read_csv_trial(write(
      "log.csv", "epoch,loss,time\n0.25,2,0\n0.5,1.2,10\n0.75,1.6,20\n2.5,0.8,70\n2.9,1.35,80\n"));
  EXPECT_EQ(trial.find("best.loss")->value, 0.8);
  EXPECT_EQ(trial.find("train_s")->value, 80);
  EXPECT_EQ(trial.number("epochs"), 2.9);
  ASSERT_EQ(trial.curve.size(), 5U);
  EXPECT_EQ(trial.curve[1].step, 0.5);
}

TEST_F(ForeignLogs, RowsWithoutAStepBelongToTheOneBefore) {
  const Trial trial = read_csv_trial(
      write("log.csv", "step,time,loss,val_loss\n100,0,3,\n,1,,2.5\n200,10,2,\n,11,,2.25\n"));
  EXPECT_EQ(trial.number("steps"), 200);
  EXPECT_EQ(trial.curve.back().step, 200);
  EXPECT_NEAR(trial.find("step_s")->value, 0.1, 1e-9);
}

TEST_F(ForeignLogs, ColumnsOfWandbAreKnown) {
  for (const char* head : {"_step,_runtime,_timestamp,loss,val_loss\n",
                           ",_step,_runtime,_timestamp,loss,val_loss\n"}) {
    std::string text = head;
    for (int row = 0; row < 10; ++row)
      text += cat(*head == ',' ? cat(row, ",") : "", row * 10, ",", row * 5, ".0,",
                  1700000000 + row * 5, ".0,", 2 - 0.1 * row, ",", row % 5 == 4 ? "1.5" : "", "\n");
    const Trial trial = read_csv_trial(write("history.csv", text));
    EXPECT_EQ(trial.number("steps"), 90);
    EXPECT_NEAR(trial.find("step_s")->value, 0.5, 1e-9);
    EXPECT_EQ(trial.find("last.val_loss")->value, 1.5);
    EXPECT_EQ(trial.find("last._runtime"), nullptr);
    EXPECT_EQ(trial.find("last._step"), nullptr);
  }
}

TEST_F(ForeignLogs, PanelsNameTheirRunAndTheirBoundsAreNoQualities) {
  const Trial trial = read_csv_trial(write(
      "panel.csv",
      "\"trainer/global_step\",\"sunny-moon-12 - val_loss\",\"sunny-moon-12 - val_loss__MIN\","
      "\"sunny-moon-12 - val_loss__MAX\"\n\"99\",\"1.9\",\"1.8\",\"2\"\n\"199\",\"1.5\",\"1.4\","
      "\"1.6\"\n"));
  EXPECT_EQ(trial.number("steps"), 199);
  EXPECT_EQ(trial.find("best.val_loss")->value, 1.5);
  EXPECT_EQ(trial.quantities.size(), 2U);
  const Trial two = read_csv_trial(write("two.csv", "Step,a - loss,b - loss\n1,2,3\n2,1,2\n"));
  EXPECT_NE(two.find("best.a - loss"), nullptr);
  EXPECT_THAT(two.cautions, Contains(HasSubstr("columns are of 2 runs (a, b)")));
}

TEST_F(ForeignLogs, TimesMayBeDatesAndNumbersMayHaveACommaInThem) {
  const Trial dates = read_csv_trial(write(
      "dates.csv", "step,time,loss\n1,2026-01-31T23:59:50+01:00,3\n11,2026-01-31 23:00:00Z,2\n"));
  EXPECT_EQ(dates.find("step_s")->value, 1);
  const Trial commas =
      read_csv_trial(write("commas.csv", "step;time;loss\n1;0,5;3,25\n2;1,0;x\n3;1,5;+1,5e-1\n"));
  EXPECT_EQ(commas.find("last.loss")->value, 0.15);
  EXPECT_EQ(commas.find("train_s")->value, 1);
  EXPECT_THAT(commas.cautions,
              Contains(HasSubstr("column loss: 1 cell is no number, 'x' in line 3")));
  const Trial two = read_csv_trial(
      write("two.csv", "date,time,step,loss\n2026-01-31,23:59:50,1,3\n2026-02-01,00:00:10,2,2\n"));
  EXPECT_EQ(two.find("step_s")->value, 20);
  const Trial ms = read_csv_trial(
      write("ms.csv", "step,timestamp,loss\n1,1700000000000,3\n2,1700000002500,2\n"));
  EXPECT_EQ(ms.find("step_s")->value, 2.5);
  const Trial unread =
      read_csv_trial(write("days.csv", "step,time,loss\n1,monday,3\n2,tuesday,2\n"));
  EXPECT_THAT(unread.cautions,
              Contains(HasSubstr("column time: 'monday' in line 2 is no time that can be read")));
}

TEST_F(ForeignLogs, ALastLineThatIsCutOffAndALineOfNamesAgainAreLeftOut) {
  const Trial trial = read_csv_trial(
      write("log.csv", "step,loss,note\n1,3,\"a\nb\"\nstep,loss,note\n2,2,c\n\n3,1,\"cut"));
  EXPECT_EQ(trial.number("steps"), 2);
  EXPECT_EQ(trial.find("last.loss")->value, 2);
  EXPECT_THAT(error_of([&] { read_csv_trial(write("x.csv", "step,loss\n1,2,3\n2,1\n")); }),
              HasSubstr("line 2 has 3 cells, but there are 2 columns"));
  EXPECT_THAT(error_of([&] { read_csv_trial(write("y.csv", "step,loss,loss\n1,2,3\n")); }),
              HasSubstr("two columns are named loss"));
  EXPECT_THAT(error_of([&] { read_csv_trial(write("z.csv", "step,loss\n1,\"2\" 3\n")); }),
              HasSubstr("quotes that do not fit"));
}

TEST_F(ForeignLogs, LinesAreNoStepsAndTheTimeOfAnEpochIsNoTotal) {
  const Trial trial = read_csv_trial(write("log.csv", "time,loss\n10.5,3\n10.2,2\n10.4,1\n"));
  EXPECT_TRUE(trial.value("steps").is_null());
  EXPECT_EQ(trial.find("train_s"), nullptr);
  EXPECT_EQ(trial.find("step_s"), nullptr);
  EXPECT_TRUE(trial.curve.empty());
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("its times go back")));
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("counts no steps")));
}

TEST_F(ForeignLogs, ALossIsAWordOfTheName) {
  const Trial trial = read_csv_trial(write(
      "log.csv", "step,time,loss_scale,value_loss,lossless,valLoss\n1,0,8,3,1,5\n2,1,4,2,2,6\n"));
  EXPECT_EQ(trial.find("best.loss_scale"), nullptr);
  EXPECT_EQ(trial.find("best.lossless"), nullptr);
  EXPECT_EQ(trial.find("best.value_loss")->value, 2);
  EXPECT_EQ(trial.find("last.loss_scale")->better, Better::unknown);
  EXPECT_EQ(trial.metric, "loss");
  EXPECT_EQ(trial.curve[0].value, 5) << "value_loss is of no validation";
}

TEST_F(ForeignLogs, NothingIsSaidOfTheirSpeedUntilTheUnknownIsTakenToBeEqual) {
  const Trial a = read_csv_trial(write("a.csv", "step,time,loss\n1,0,3\n2,1,2\n")),
              b = read_csv_trial(write("b.csv", "step,time,loss\n1,0,3\n2,2,2\n"));
  const auto compared = [&](const CompareOptions& options) {
    return compare({.name = "a", .trials = {a}}, {.name = "b", .trials = {b}}, options);
  };
  EXPECT_THAT(compared({}).verdict, HasSubstr("not known: data of both"));
  EXPECT_EQ(compared({.assumed = {"data", "options", "devices", "global_batch"}}).conclusion,
            Conclusion::inconclusive);
}

TEST_F(ForeignLogs, WhatIsDocumentedMayAlwaysBeTakenToBeEqual) {
  const Trial timeless = read_csv_trial(write("a.csv", "step,loss\n1,3\n2,2\n"));
  const CompareOptions options{.assumed = {"data", "options", "devices", "global_batch"}};
  EXPECT_EQ(
      compare({.name = "a", .trials = {timeless}}, {.name = "b", .trials = {timeless}}, options)
          .conclusion,
      Conclusion::inconclusive);
}

TEST_F(ForeignLogs, TablesThatAreNoLogsAreRefused) {
  EXPECT_THAT(error_of([&] { read_csv_trial(write("x.csv", "step,name\n1,a\n")); }),
              HasSubstr("no column of numbers beside its steps and times: column name: 'a' in "
                        "line 2 is no number"));
  EXPECT_THAT(error_of([&] { read_csv_trial(write("y.csv", "")); }), HasSubstr("y.csv is empty"));
  for (const auto& [text, kind] : std::initializer_list<std::pair<std::string, const char*>>{
           {"\x1f\x8b\x08", "is a gzip archive"},
           {std::string("\xff\xfes\0", 4), "is text in UTF-16"},
           {"\n {\"loss\": 1}\n", "is JSON"},
           {"PAR1", "is a Parquet file"},
           {std::string("a,b\n1,\0", 7), "is no text: byte 7 is NUL"},
           {"step,loss\n", "has a line of names alone"}})
    EXPECT_THAT(error_of([&, &text = text] { read_csv_trial(write("z.csv", text)); }),
                AllOf(HasSubstr(kind), HasSubstr("looked for a CSV log")));
}

// Little-endian bytes of a number.
template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string record(const std::string& data) {
  const std::string length = bytes_of<std::uint64_t>(data.size());
  return length + bytes_of(masked_crc32c(length)) + data + bytes_of(masked_crc32c(data));
}

std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

// value: a field of Summary.Value behind the tag.
std::string varint(int value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}
std::string event(double time, int step, const std::string& tag, const std::string& value) {
  return record("\x09" + bytes_of(time) + "\x10" + varint(step) +
                field(5, field(1, field(1, tag) + value)));
}
std::string simple(float value) { return "\x15" + bytes_of(value); }
std::string head() { return record("\x09" + bytes_of(100.0) + field(3, "brain.Event:2")); }

TEST(TensorboardReader, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);  // RFC 3720, and the CRC catalogue
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
}

TEST(TensorboardReader, BothFormsOfScalarsAreRead) {
  const std::string tensor = field(8, "\x08\x01" + field(5, bytes_of(2.5F))),
                    packed = field(8, "\x08\x02" + field(4, bytes_of(7.25)));
  const TensorboardFile file =
      read_tensorboard(head() + event(101, 1, "loss", simple(3)) + event(102, 2, "loss", tensor) +
                           event(103, 3, "x", packed),
                       "f");
  ASSERT_EQ(file.scalars.size(), 3U);
  EXPECT_EQ(file.scalars[0].tag, "loss");
  EXPECT_EQ(file.scalars[0].step, 1);
  EXPECT_EQ(file.scalars[0].wall_time, 101);
  EXPECT_EQ(file.scalars[0].value, 3);
  EXPECT_EQ(file.scalars[1].value, 2.5);
  EXPECT_EQ(file.scalars[2].value, 7.25);
  EXPECT_FALSE(file.torn);
}

TEST(TensorboardReader, AWrongChecksumEndsTheFile) {
  std::string text = head() + event(101, 1, "loss", simple(3)) + event(102, 2, "loss", simple(2));
  text[text.size() - 6] ^= 1;
  const TensorboardFile file = read_tensorboard(text, "f");
  EXPECT_EQ(file.scalars.size(), 1U);
  EXPECT_TRUE(file.torn);
  EXPECT_THAT(error_of([] { read_tensorboard("no log at all, but longer than a head", "f"); }),
              HasSubstr("f is no TensorBoard log"));
}

// A graph of a gigabyte is nothing to compare.
TEST(TensorboardReader, LargeRecordsAreSkippedUnread) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "events.out.tfevents.1";
  const std::string length = bytes_of<std::uint64_t>(1 << 30);
  const std::string before =
      head() + event(101, 1, "loss", simple(3)) + length + bytes_of(masked_crc32c(length));
  std::ofstream(file, std::ios::binary) << before;
  std::filesystem::resize_file(file, before.size() + (1 << 30) + 4);
  std::ofstream(file, std::ios::binary | std::ios::app) << event(102, 2, "loss", simple(2));
  std::ifstream whole(file, std::ios::binary);
  const TensorboardFile read = read_tensorboard(whole, "f");
  EXPECT_EQ(read.scalars.size(), 2U);
  EXPECT_FALSE(read.torn);
  std::filesystem::resize_file(file, before.size() + (1 << 20));
  std::ifstream cut(file, std::ios::binary);
  EXPECT_TRUE(read_tensorboard(cut, "f").torn);
}

TEST(TensorboardReader, MessagesThatAreNoneAreCounted) {
  EXPECT_EQ(read_tensorboard(head() + record("\x0f\xff\xff"), "f").damaged, 1);
}

TEST_F(ForeignLogs, ATensorboardFolderIsRead) {
  write("events.out.tfevents.1.host", head() + event(101, 1, "val/loss", simple(3)) +
                                          event(111, 11, "val/loss", simple(2)) +
                                          event(112, 11, "lr", simple(0.5F)));
  ASSERT_TRUE(has_tensorboard_files(folder.path()));
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_EQ(trial.number("steps"), 11);
  EXPECT_EQ(trial.find("best.val/loss")->value, 2);
  EXPECT_EQ(trial.curve.size(), 2U);
}

std::string losses(double time, int first, int last, double each) {
  std::string text = head();
  for (int step = first; step <= last; ++step)
    text += event(time + each * (step - first), step, "loss",
                  simple(2 - 0.01F * static_cast<float>(step)));
  return text;
}

TEST_F(ForeignLogs, ANewEventFileIsAPause) {
  write("events.out.tfevents.1.host", losses(1e9, 0, 49, 1));
  write("events.out.tfevents.2.host", losses(1e9 + 5000, 40, 79, 1));
  const Trial back = read_tensorboard_trial(folder.path());
  EXPECT_NEAR(back.find("step_s")->value, 1, 1e-9);
  EXPECT_NEAR(back.find("train_s")->value, 79, 1e-9);
  EXPECT_THAT(back.cautions, Contains(HasSubstr("before step 40 is left out")));
  // Steps that go on, after a pause that is no longer than some steps are.
  write("events.out.tfevents.2.host", losses(1e9 + 55, 50, 79, 1));
  EXPECT_NEAR(read_tensorboard_trial(folder.path()).find("step_s")->value, 1, 1e-9);
}

// test.py, days later.
TEST_F(ForeignLogs, WhatIsLoggedAfterTheTrainingIsNotItsTime) {
  write("events.out.tfevents.1.host",
        losses(1e9, 0, 79, 1) + event(1e9 + 40, 40, "val/loss", simple(1.5F)));
  std::string later = head();
  for (int step = 0; step < 90; ++step)
    later += event(1e9 + 300'000 + step, step, "test/acc", simple(0.5F));
  write("events.out.tfevents.2.host", later + event(1e9 + 300'100, 79, "val/loss", simple(1.4F)));
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_NEAR(trial.find("train_s")->value, 79, 1e-9);
  EXPECT_NEAR(trial.find("step_s")->value, 1, 1e-9);
  EXPECT_EQ(trial.number("steps"), 79);
  EXPECT_EQ(trial.find("last.test/acc")->value, 0.5);
  EXPECT_NEAR(trial.curve.back().seconds, 79, 1e-9);
  EXPECT_THAT(trial.cautions, Contains(AllOf(HasSubstr("test/acc"), HasSubstr("after"))));
}

// One epoch of Lightning: the loss of every 50 steps, and behind them that of the whole epoch.
TEST_F(ForeignLogs, TheLossOfAWholeEpochIsOfTheTraining) {
  std::string text = "step,elapsed,train_loss_step,train_loss_epoch,val_loss\n";
  for (int step = 49; step < 1000; step += 50) text += cat(step, ",", step, ",2,,\n");
  const Trial trial = read_csv_trial(write("log.csv", text + "1020,1080,,1.5,1.6\n"));
  EXPECT_EQ(trial.number("steps"), 1020);
  EXPECT_NEAR(trial.find("train_s")->value, 1031, 1e-6);
  ASSERT_EQ(trial.curve.size(), 1U);
  EXPECT_NEAR(trial.curve[0].seconds, 1031, 1e-6);
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("after"))));
}

// Lightning logs the epoch with every metric, those of a test among them.
TEST_F(ForeignLogs, ACounterOfEpochsDoesNotTellTheTrainingsEnd) {
  std::string text = losses(1e9, 0, 19, 1);
  for (int step = 0; step < 20; ++step) {
    text += event(1e9 + step, step, "epoch", simple(0));
    text += event(1e9 + step + 0.5, step, "epoch", simple(0));
  }
  write("events.out.tfevents.1.host", text);
  write("events.out.tfevents.2.host", head() + event(1e9 + 9000, 20, "test/acc", simple(0.5F)) +
                                          event(1e9 + 9000, 20, "epoch", simple(1)));
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_NEAR(trial.find("train_s")->value, 19.5, 1e-9);
  EXPECT_EQ(trial.number("steps"), 19);
}

// The number of the batch in place of the step, and that of the epoch for others.
TEST_F(ForeignLogs, ABatchOfAnEpochIsNoRestart) {
  std::string text = head();
  double time = 1e9;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int batch = 0; batch < 20; ++batch)
      text += event(++time, batch, "batch/loss", simple(3.0F - static_cast<float>(epoch)));
    text += event(time += 5, epoch, "val/loss", simple(1.0F + static_cast<float>(epoch)));
    text += event(time, 1000 * epoch, "seen", simple(1));
  }
  write("events.out.tfevents.1.host", text);
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_EQ(trial.find("best.val/loss")->value, 1);
  EXPECT_EQ(trial.curve.size(), 5U);
  EXPECT_EQ(trial.number("epochs"), 5);
  EXPECT_TRUE(trial.value("steps").is_null());
  EXPECT_NEAR(trial.find("step_s")->value, 1, 1e-6);
  EXPECT_NEAR(trial.find("train_s")->value, 100, 1e-6);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("batch/loss begin anew 4 times")));
  EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("counts otherwise")))) << "epochs count";
}

// As MMEngine logs it: with the numbers of the validation, whose step is the epoch, goes data_time.
TEST_F(ForeignLogs, WhatIsLoggedOfValidationTooTellsNoRestarts) {
  std::string text = "step,data_time,loss,mAP\n", events = head();
  double time = 1e9;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int tenth = 1; tenth <= 10; ++tenth) {
      const int step = 100 * (epoch - 1) + 10 * tenth;
      text += cat(step, ",0.1,", 4 - epoch, ",\n");
      events += event(++time, step, "data_time", simple(0.1F));
      events += event(time, step, "loss", simple(4.0F - static_cast<float>(epoch)));
    }
    text += cat(epoch, ",0.2,,", 0.1 * epoch, "\n");
    events += event(++time, epoch, "data_time", simple(0.2F));
    events += event(time, epoch, "mAP", simple(0.5F));
  }
  write("events.out.tfevents.1.host", events);
  for (const Trial& trial :
       {read_csv_trial(write("log.csv", text)), read_tensorboard_trial(folder.path())}) {
    ASSERT_NE(trial.find("best.loss"), nullptr) << trial.source;
    EXPECT_EQ(trial.find("best.loss")->value, 1) << trial.source;
    EXPECT_EQ(trial.number("steps"), 300) << trial.source;
    EXPECT_THAT(trial.cautions, Not(Contains(HasSubstr("anew")))) << trial.source;
  }
}

TEST_F(ForeignLogs, AFewSettingsDoNotTellTheTrainingsEnd) {
  std::string text = head() + event(1e9, 0, "lr", simple(1)) + event(1e9 + 1, 1, "lr", simple(2));
  for (int step = 2; step < 60; ++step) text += event(1e9 + step, step, "val/loss", simple(2));
  write("events.out.tfevents.1.host", text);
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_NEAR(trial.find("train_s")->value, 59, 1e-9);
  EXPECT_EQ(trial.number("steps"), 59);
}

// Samples that were seen, beside the steps; a validation behind the last step that was logged.
TEST_F(ForeignLogs, StepsAreThoseOfTheTrainingsSeries) {
  std::string text = losses(1e9, 0, 79, 1);
  for (int step = 0; step < 80; step += 2)
    text += event(1e9 + step, 64 * step, "seen/acc", simple(0.5F));
  for (const int step : {40, 80}) text += event(1e9 + step, step, "val/loss", simple(1));
  write("events.out.tfevents.1.host", text);
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_EQ(trial.number("steps"), 80);
  EXPECT_THAT(trial.cautions,
              Contains("seen/acc counts otherwise, further than loss: the steps are "
                       "those of loss"));
}

TEST_F(ForeignLogs, ARestartFromTheBeginningHasNoTimesBeforeIt) {
  write("events.out.tfevents.1.host", losses(1e9, 0, 49, 1) + event(1e9, 0, "lr", simple(0.5F)) +
                                          event(1e9 + 20, 20, "val/loss", simple(0.1F)));
  write("events.out.tfevents.2.host",
        losses(1e9 + 5000, 0, 79, 1) + event(1e9 + 5060, 60, "val/loss", simple(1)));
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_NEAR(trial.find("train_s")->value, 79, 1e-9);
  EXPECT_EQ(trial.find("best.val/loss")->value, 1);
  ASSERT_EQ(trial.curve.size(), 1U);
  EXPECT_NEAR(trial.curve[0].seconds, 60, 1e-9);
}

// SessionLog START at step 5, as purge_step writes it.
TEST_F(ForeignLogs, WhatAStartPurgesDoesNotCount) {
  write("events.out.tfevents.1.host", losses(1e9, 0, 9, 1));
  const std::string start = record("\x09" + bytes_of(1e9 + 20) + "\x10\x05" + field(7, "\x08\x01"));
  write("events.out.tfevents.2.host", head() + start + event(1e9 + 21, 8, "loss", simple(1)));
  const Trial trial = read_tensorboard_trial(folder.path());
  ASSERT_EQ(trial.curve.size(), 6U);
  EXPECT_EQ(trial.curve[4].step, 4);
  EXPECT_EQ(trial.curve[5].step, 8);
}

// In one file, as an export of a resumed run has it; its time is that of the wall, whatever the
// scalars' times say.
TEST_F(ForeignLogs, AStartBehindScalarsOfItsFilePurgesThem) {
  const std::string start = record("\x09" + bytes_of(1.8e9) + "\x10\x05" + field(7, "\x08\x01"));
  write("events.out.tfevents.1.host",
        losses(1e9, 0, 9, 1) + start + event(1e9 + 21, 5, "loss", simple(1)));
  const Trial trial = read_tensorboard_trial(folder.path());
  ASSERT_EQ(trial.curve.size(), 6U);
  EXPECT_EQ(trial.curve[5].value, 1);
}

TEST_F(ForeignLogs, FilesThatWereWrittenAtTheSameTimeAreNoRestarts) {
  write("events.out.tfevents.1.rank0", losses(1e9, 0, 79, 1));
  write("events.out.tfevents.2.rank1", losses(1e9 + 1, 0, 59, 1.5));
  write("events.out.tfevents.3.params", head() + event(1e9 + 2, 0, "lr", simple(0.5F)));
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_EQ(trial.number("steps"), 79);
  EXPECT_NEAR(trial.find("step_s")->value, 1, 1e-9);
  EXPECT_EQ(trial.find("last.lr")->value, 0.5);
  EXPECT_THAT(trial.cautions,
              Contains(AllOf(HasSubstr("written at the same time"), HasSubstr("1.rank0, with"),
                             HasSubstr("2.rank1 is left out"))));
}

TEST_F(ForeignLogs, EventsWithoutAStepAreCountedInTheirOrder) {
  std::string text = head();
  for (int i = 0; i < 20; ++i)
    text += event(1e9 + i, 0, "loss", simple(i < 10 ? 2 - 0.1F * static_cast<float>(i) : 1.9F));
  write("events.out.tfevents.1.host", text);
  const Trial trial = read_tensorboard_trial(folder.path());
  EXPECT_NEAR(trial.find("best.loss")->value, 1.1, 1e-6);
  EXPECT_TRUE(trial.value("steps").is_null());
  EXPECT_EQ(trial.find("train_s")->value, 19);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("counted in their order")));
}

}  // namespace
}  // namespace lockstep
