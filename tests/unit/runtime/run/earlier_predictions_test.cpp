// What a prediction need not make again, and what is in its way.
#include "runtime/run/predictions/earlier_predictions.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class EarlierPredictionsTest : public ::testing::Test {
 protected:
  EarlierPredictionsTest() {
    fs::create_directories(out);
    for (const char* id : {"a", "b", "c", "d"}) add_item(id);
  }

  void add_item(const std::string& id) {
    const fs::path input = temporary.path() / (id + ".row");
    write_output(input, "input of " + id);
    items.push_back({.index = std::ssize(items),
                     .name = id,
                     .id = id,
                     .path = input.string(),
                     .output = id + ".out"});
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const PredictItem& item : items) all.push_back(item_key(item));
    return all;
  }
  RecordHead head() const {
    return {.identity = identity, .list = list_key(keys()), .device = "CPU"};
  }

  // As rank 0 does: under a temporary name, written down, then under its own.
  RecordedItem make(std::size_t index, RecordWriter& record, bool place = true) {
    const std::string name = items[index].output;
    const fs::path held = make_held_folder(record.path()) / name;
    write_output(held, "output of " + name);
    OutputStamp file = stamp_output(held, name);
    file.held = held.lexically_relative(out).string();
    RecordedItem made{.key = keys()[index], .id = items[index].id, .files = {file}};
    if (place) place_output(held, out, name, false);
    return made;
  }
  void make_all(RecordWriter& record, std::size_t count, bool place = true) {
    for (std::size_t i = 0; i < count; ++i) record.add({make(i, record, place)});
  }
  void make_table(RecordWriter& record) {
    write_output(out / "all.csv", "table\n");
    record.add_joint({stamp_output(out / "all.csv", "all.csv")});
  }

  EarlierPredictions earlier(std::int64_t batch = 1) const {
    const std::vector<std::string> item_keys = keys();
    return find_earlier(
        out, read_records(out), identity,
        {.items = items, .item_keys = item_keys, .batch = batch, .joint_outputs = joint});
  }
  std::string refusal() const {
    const EarlierPredictions found = earlier();
    return error_of([&] { check_nothing_in_the_way(found, out, read_records(out), identity); });
  }
  std::vector<std::int64_t> done(std::int64_t batch = 1) const {
    std::vector<std::int64_t> parts;
    for (const auto& [part, place] : earlier(batch).done) parts.push_back(part);
    return parts;
  }

  TemporaryDirectory temporary;
  fs::path out = temporary.path() / "out";
  std::vector<PredictItem> items;
  std::vector<std::string> joint{"all.csv"};
  json identity{{"weights", {{"step", 8}, {"id", "x"}}}, {"predict.scale", 1.5}};
};

TEST_F(EarlierPredictionsTest, AreWhatRecordsNameAndIsThere) {
  EXPECT_THAT(done(), IsEmpty());
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 2);
  }
  EXPECT_THAT(done(), ElementsAre(0, 1));
  EXPECT_EQ(earlier().done_items, 2);
  EXPECT_FALSE(earlier().is_finished);
  fs::remove(out / "a.out");
  EXPECT_THAT(done(), ElementsAre(1));
  {
    RecordWriter record = RecordWriter::create(out, head());
    record.add({make(0, record)});
    record.add({make(2, record)});
    record.add({make(3, record)});
    EXPECT_FALSE(earlier().is_finished) << "there is no table yet";
    make_table(record);
  }
  EXPECT_TRUE(earlier().is_finished);
  EXPECT_THAT(earlier().in_the_way, IsEmpty());
}

TEST_F(EarlierPredictionsTest, WaitForTheirNamesWhereTheirTurnDidNotCome) {
  std::optional<RecordWriter> record = RecordWriter::create(out, head());
  make_all(*record, 2, /*place=*/false);
  EXPECT_THAT(done(), IsEmpty()) << "their command lives, and will take them";
  EXPECT_TRUE(read_records(out).at(0).in_use);
  record.reset();
  EXPECT_FALSE(read_records(out).at(0).in_use);
  EXPECT_THAT(done(), ElementsAre(0, 1));
  write_output(out / "b.out", "mine");
  EXPECT_THAT(refusal(), HasSubstr("b.out is there already"));
}

TEST_F(EarlierPredictionsTest, HoldBytesOfTheWriterAndAnyNames) {
  RecordWriter record = RecordWriter::create(out, head());
  const RecordPlace place =
      record.add({{.key = "k", .id = "a\xff", .bytes = "row\n\xfe", .fault = "", .warning = "odd"},
                  {.key = "l", .id = "b", .fault = "bad"}});
  const RecordedPart part = read_part(record.path(), place);
  ASSERT_EQ(part.size(), 2U);
  EXPECT_EQ(part[0].id, "a\xff");
  EXPECT_EQ(part[0].bytes, "row\n\xfe");
  EXPECT_EQ(part[0].warning, "odd");
  EXPECT_EQ(part[1].fault, "bad");
}

TEST_F(EarlierPredictionsTest, AreCopiedWithTheirFolderButNotChanged) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 2);
  }
  using namespace std::chrono_literals;
  fs::last_write_time(out / "a.out", fs::last_write_time(out / "a.out") + 10s);
  EXPECT_THAT(done(), ElementsAre(0, 1)) << "the bytes are the same";
  write_output(out / "b.out", "OUTPUT OF b.out");
  fs::last_write_time(out / "b.out", fs::last_write_time(out / "b.out") + 10s);
  EXPECT_THAT(done(), ElementsAre(0));
  EXPECT_THAT(refusal(), HasSubstr("b.out is there already: it or its input has changed"));
}

TEST_F(EarlierPredictionsTest, OfTornOrDamagedLinesCountForNothing) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 3);
  }
  const fs::path file = read_records(out).at(0).file;
  const std::string whole = read_file(file);
  std::size_t longest = 0;
  for (std::size_t size = 0; size <= whole.size(); size += 7) {
    write_output(file, whole.substr(0, size));
    EXPECT_LE(done().size(), 3U);
    longest = std::max(longest, done().size());
  }
  EXPECT_GE(longest, 2U);
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    write_output(file, damaged);
    EXPECT_LE(done().size(), 3U) << at;
  }
  // The next writer goes on after whole lines.
  write_output(file, whole.substr(0, whole.size() - 5));
  RecordWriter::open(file).add_joint({});
  EXPECT_EQ(done().size(), 2U);
  EXPECT_TRUE(read_records(out).at(0).joint);
}

TEST_F(EarlierPredictionsTest, AreOfTheSameInputs) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 4);
    make_table(record);
  }
  write_output(items[1].path, "another input");
  EXPECT_THAT(done(), ElementsAre(0, 2, 3));
  EXPECT_THAT(refusal(), HasSubstr("b.out is there already, and 1 more: it or its input"));
  fs::remove(out / "b.out");
  fs::remove(out / "all.csv");
  EXPECT_THAT(earlier().in_the_way, IsEmpty());
}

TEST_F(EarlierPredictionsTest, MayBeMoreThanBefore) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 4);
    make_table(record);
  }
  add_item("e");
  EXPECT_THAT(done(), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(earlier().is_finished);
  EXPECT_THAT(earlier().in_the_way, IsEmpty()) << "the table gets a row more";
  items.erase(items.begin(), items.begin() + 2);
  EXPECT_THAT(refusal(), HasSubstr("all.csv is there already: made of other items"));
}

TEST_F(EarlierPredictionsTest, ThatWereSkippedAreToBeDone) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    record.add({make(0, record), {.key = keys()[1], .id = "b", .fault = "bad"}});
    record.add({make(2, record), make(3, record)});
    make_table(record);
  }
  EXPECT_THAT(done(2), ElementsAre(1)) << "what is predicted at once decides the bytes";
  EXPECT_THAT(earlier(2).own, UnorderedElementsAre("a.out", "c.out", "d.out", "all.csv"));
  EXPECT_THAT(earlier(2).in_the_way, IsEmpty());
  EXPECT_THAT(done(1), IsEmpty());
}

TEST_F(EarlierPredictionsTest, OfAnotherIdentityAreInTheWayAndSayWhatDiffers) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 1);
  }
  const auto refuses = [&](const char* key, const json& value, const std::string& why) {
    const json before = identity;
    identity[key] = value;
    EXPECT_THAT(done(), IsEmpty());
    EXPECT_THAT(refusal(), HasSubstr("a.out is there already: made with " + why));
    EXPECT_THAT(refusal(), HasSubstr("name another folder with out="));
    identity = before;
  };
  refuses("predict.scale", 2, "predict.scale = 1.5, not 2");
  refuses("weights", {{"step", 9}, {"id", "x"}}, "the weights of step 8, not 9");
  refuses("weights", {{"step", 8}, {"id", "y"}}, "other weights of step 8");
  refuses("recipe", "found", "another recipe");
}

TEST_F(EarlierPredictionsTest, OfAnExportAreToldFromThoseOfACheckpoint) {
  identity[from_export_key] = false;
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 1);
  }
  identity["weights"] = {{"step", 8}, {"id", "y"}};
  identity[from_export_key] = true;
  EXPECT_THAT(refusal(), HasSubstr("made with a checkpoint of step 8, not an export"));
}

TEST_F(EarlierPredictionsTest, OfAVersionThatDidNotTellAnExportGoOn) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 1);
  }
  identity[from_export_key] = true;
  EXPECT_THAT(done(), ElementsAre(0));
  identity["weights"] = {{"step", 8}, {"id", "y"}};
  EXPECT_THAT(refusal(), HasSubstr("made with other weights of step 8"));
}

TEST_F(EarlierPredictionsTest, OfNobodyAreInTheWay) {
  write_output(out / "c.out", "mine");
  write_output(out / "all.csv", "mine");
  EXPECT_THAT(refusal(), HasSubstr("c.out is there already, and 1 more |"));
}

TEST_F(EarlierPredictionsTest, OfAForcedCommandThatWasKilledMayStillBeReplaced) {
  write_output(out / "d.out", "older");
  RecordHead forced = head();
  forced.replaces = true;
  {
    RecordWriter record = RecordWriter::create(out, forced);
    make_all(record, 1);
  }
  EXPECT_TRUE(earlier().may_replace);
  RecordWriter::open(read_records(out).at(0).file).add_joint({});
  EXPECT_FALSE(earlier().may_replace) << "it came to its end";
}

TEST_F(EarlierPredictionsTest, OfAPartAreRemovedOnlyWhereTheyAreTheirs) {
  RecordWriter record = RecordWriter::create(out, head());
  write_output(out / "all.csv.partial", "half");
  record.add_partial({stamp_output(out / "all.csv.partial", "all.csv.partial")});
  EXPECT_THAT(earlier().partial, ElementsAre("all.csv.partial"));
  write_output(out / "all.csv.partial", "mine, since");
  EXPECT_THAT(earlier().partial, IsEmpty());
}

TEST_F(EarlierPredictionsTest, OfAnotherListKeepWhatTheyHold) {
  {
    RecordWriter record = RecordWriter::create(out, head());
    make_all(record, 3, /*place=*/false);
  }
  const fs::path all = read_records(out).at(0).file;
  const std::vector<PredictItem> of_all = items;
  items.erase(items.begin() + 1, items.end());
  EXPECT_THAT(done(), ElementsAre(0));
  EXPECT_THAT(earlier().records, IsEmpty()) << "b and c wait for the command that goes on";
  items = of_all;
  EXPECT_THAT(earlier().records, ElementsAre(all));
}

TEST_F(EarlierPredictionsTest, AreForgottenWhereTheirItemsAreMadeAgain) {
  std::optional<RecordWriter> record = RecordWriter::create(out, head());
  make_all(*record, 2);
  const fs::path file = record->path();
  const std::vector<std::string> all = keys(), of_a{all[0]}, of_d{all[3]};
  EXPECT_THAT(records_of_items(read_records(out), identity, all), IsEmpty()) << "it is in use";
  record.reset();
  const std::vector<PredictionRecord> records = read_records(out);
  EXPECT_THAT(records_of_items(records, identity, all), ElementsAre(file));
  EXPECT_THAT(records_of_items(records, identity, of_a), ElementsAre(file));
  EXPECT_THAT(records_of_items(records, identity, of_d), IsEmpty());
  EXPECT_THAT(records_of_items(records, json{{"predict.scale", 2}}, all), IsEmpty());
}

TEST_F(EarlierPredictionsTest, OfTwoCommandsAtTheSameMomentSeeEachOther) {
  const auto made_now = [&](const fs::path& own) {
    const std::vector<PredictionRecord> records = read_records(out);
    const auto found = find_made_now(records, identity, keys(), own);
    return found == records.end() ? fs::path() : found->file;
  };
  const RecordWriter older = RecordWriter::create(out, head());
  EXPECT_EQ(made_now({}), older.path());
  EXPECT_EQ(made_now(older.path()), "");
  RecordHead of_others = head();
  of_others.list = "other";
  const RecordWriter other = RecordWriter::create(out, of_others);
  EXPECT_EQ(made_now(older.path()), "");
  const RecordWriter younger = RecordWriter::create(out, head());
  EXPECT_EQ(made_now(younger.path()), older.path());
  EXPECT_EQ(made_now(older.path()), younger.path());
  EXPECT_LT(older.path(), younger.path());
}

TEST_F(EarlierPredictionsTest, AreInUseAlsoWhereSomebodyJustLooked) {
  const fs::path file = RecordWriter::create(out, head()).path();
  const UniqueFd looks(open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(looks.get(), LOCK_EX), 0);
  std::optional<RecordWriter> record;
  std::thread opens([&] { record = RecordWriter::open(file); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  flock(looks.get(), LOCK_UN);
  opens.join();
  EXPECT_TRUE(read_records(out).at(0).in_use);
}

TEST_F(EarlierPredictionsTest, OfAPartAreStaleWhereTheWholeIsReplaced) {
  const auto stale = [&](const std::vector<std::string>& names) {
    return stale_partial(out, read_records(out), names);
  };
  RecordHead other = head();
  other.identity["predict.scale"] = 3;
  {
    RecordWriter record = RecordWriter::create(out, other);
    write_output(out / "all.csv.partial.2", "half");
    record.add_partial({stamp_output(out / "all.csv.partial.2", "all.csv.partial.2")});
    EXPECT_THAT(stale(joint), IsEmpty()) << "it is in use";
  }
  EXPECT_THAT(earlier().partial, IsEmpty());
  EXPECT_THAT(stale(joint), ElementsAre("all.csv.partial.2"));
  EXPECT_THAT(stale({"b.csv"}), IsEmpty());
  write_output(out / "all.csv.partial.2", "mine, since");
  EXPECT_THAT(stale(joint), IsEmpty());
}

TEST_F(EarlierPredictionsTest, AreNotReadThroughALink) {
  fs::create_directories(temporary.path() / "elsewhere");
  fs::create_directory_symlink(temporary.path() / "elsewhere", out / records_name);
  EXPECT_THAT(read_records(out), IsEmpty());
  EXPECT_NE(error_of([&] { RecordWriter::create(out, head()); }), "");
  EXPECT_TRUE(fs::is_empty(temporary.path() / "elsewhere"));
}

TEST_F(EarlierPredictionsTest, KnowAnItemByItsInputWhereverItLies) {
  const std::string before = item_key(items[0]);
  const fs::path other = temporary.path() / "moved.row";
  fs::copy_file(items[0].path, other);
  fs::last_write_time(other, fs::last_write_time(items[0].path));
  items[0].path = other.string();
  EXPECT_EQ(item_key(items[0]), before);
  items[0].text = "line";
  EXPECT_NE(item_key(items[0]), before);
}

TEST_F(EarlierPredictionsTest, KnowAnItemByAllOfItsFiles) {
  const fs::path channel = temporary.path() / "channel.row";
  write_file_atomic(channel, "1");
  const std::string alone = item_key(items[0]);
  items[0].further = {channel.string()};
  const std::string before = item_key(items[0]);
  EXPECT_NE(before, alone);
  write_file_atomic(channel, "12");
  EXPECT_NE(item_key(items[0]), before);
}

}  // namespace
}  // namespace lockstep
