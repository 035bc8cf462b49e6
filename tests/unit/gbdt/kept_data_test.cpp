// What is kept of earlier windows is what would be read now.
#include "recipes/gbdt/train/kept_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep::gbdt {
namespace {

class KeptSymbol : public ::testing::Test {
 protected:
  KeptSymbol() { write(100, 10); }
  void write(int rows, double first) const {
    std::ofstream file(folder.path() / "A.csv");
    file << "date,open,high,low,close,volume\n";
    for (int i = 0; i < rows; ++i) {
      const double price = first + 0.01 * i;
      file << to_text(*parse_day("2022-01-03") + i) << ',' << price << ',' << price << ',' << price
           << ',' << price << ",5\n";
    }
  }
  std::shared_ptr<const SymbolData> kept(const std::vector<std::string>& assignments = {}) const {
    GbdtOptions options;
    options.table.set("data.path", folder.path().string());
    for (const std::string& word : assignments)
      options.table.set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    return kept_symbol(options, "A");
  }
  TemporaryDirectory folder;
};

TEST_F(KeptSymbol, IsReadOnceForAllWindows) {
  const auto first = kept({"start=2022-02-01"});
  EXPECT_EQ(first->bars.size(), 100u);
  EXPECT_EQ(first, kept({"start=2022-03-01", "end=2022-04-01"}));
}

TEST_F(KeptSymbol, IsReadAgainWhereTheFileChanged) {
  const auto first = kept();
  write(90, 20);
  const auto second = kept();
  EXPECT_EQ(second->bars.size(), 90u);
  EXPECT_EQ(second->bars.close[0], 20);
  EXPECT_EQ(first->bars.size(), 100u) << "whoever has it keeps it";
}

TEST_F(KeptSymbol, IsReadAgainWhereAnOptionIsAnother) {
  EXPECT_NE(kept({"horizon=3"})->returns[0], kept({"horizon=9"})->returns[0]);
  EXPECT_NE(kept(), kept({"features=volume"}));
}

TEST_F(KeptSymbol, TellsWhatIsWrongEachTime) {
  std::ofstream(folder.path() / "A.csv") << "nothing\n";
  EXPECT_THROW(kept(), Error);
  EXPECT_THROW(kept(), Error);
  write(80, 10);
  EXPECT_EQ(kept()->bars.size(), 80u);
}

TEST_F(KeptSymbol, SecondsOfLoadingAheadCountOnce) {
  GbdtOptions options;
  options.table.set("data.path", folder.path().string());
  options.table.set("symbol", "A");
  try {
    load_ahead(options);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();  // no LightGBM
  }
  EXPECT_GT(take_seconds_ahead(), 0);
  EXPECT_EQ(take_seconds_ahead(), 0);
}

TEST_F(KeptSymbol, WithoutVolumeLeavesOutTheFeaturesThatAreMadeOfIt) {
  const std::size_t all = kept()->features.columns();
  std::ofstream file(folder.path() / "A.csv");
  file << "date,open,high,low,close,volume\n";
  for (int i = 0; i < 100; ++i)
    file << to_text(*parse_day("2022-01-03") + i) << ",3," << 6 + i % 3 << ",1," << 1 + i % 5
         << ",0\n";
  file.close();
  const auto data = kept();
  EXPECT_EQ(data->features.columns(), all - 2);
  EXPECT_TRUE(data->features.complete(80));
  EXPECT_THAT(data->bars.notes, ::testing::Contains(::testing::AllOf(
                                    ::testing::HasSubstr("vwap"), ::testing::HasSubstr("obv"),
                                    ::testing::HasSubstr("no row has a volume above 0"))));
  // A model's own features, of a file that has the volume too.
  GbdtOptions options;
  options.table.set("data.path", folder.path().string());
  const LoadHow with_volume{.features = {"sma_20", "vwap"}};
  EXPECT_THAT(error_of([&] { load_symbol(options, "A", with_volume); }),
              ::testing::HasSubstr("the model learnt from vwap, but A has no volume"));
  write(100, 10);
  EXPECT_EQ(load_symbol(options, "A", {.features = data->features.names})->features.names,
            data->features.names);
}

}  // namespace
}  // namespace lockstep::gbdt
