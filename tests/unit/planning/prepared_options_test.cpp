// A recipe's options with and without the half that only the tool links.
#include "planning/options/prepared_options.h"

#include "core/base/error.h"
#include "fakes/error_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct SomeOptions : PreparedOptions<SomeOptions> {
  std::int64_t samples = 7;
};

class OptionsThatArePrepared : public ::testing::Test {
 protected:
  void TearDown() override { SomeOptions::preparer = {}; }
  SomeOptions options;
};

TEST_F(OptionsThatArePrepared, AreThoseOfAnyRecipeWithoutThatHalf) {
  EXPECT_EQ(options.prepare({}).facts.train_samples, 0);
  EXPECT_NE(error_of([&] { options.score({}); }), "");
}

TEST_F(OptionsThatArePrepared, AskThatHalf) {
  SomeOptions::preparer = {.prepare = [](SomeOptions& own, const PrepareContext&) {
    Prepared prepared;
    prepared.facts.train_samples = own.samples++;
    return prepared;
  }};
  EXPECT_EQ(options.prepare({}).facts.train_samples, 7);
  EXPECT_EQ(options.samples, 8);
}

TEST_F(OptionsThatArePrepared, SayWhatTheFileSystemRefused) {
  const auto refused = [](SomeOptions&, const PrepareContext&) -> Prepared {
    throw std::filesystem::filesystem_error("rename",
                                            std::make_error_code(std::errc::no_space_on_device));
  };
  SomeOptions::preparer = {.data = "the sentences", .prepare = refused};
  EXPECT_THAT(error_of([&] { options.prepare({}); }),
              AllOf(HasSubstr("cannot prepare the sentences: "), HasSubstr("rename")));
  SomeOptions::preparer = {.prepare = refused};
  EXPECT_THROW(options.prepare({}), std::filesystem::filesystem_error);
}

TEST_F(OptionsThatArePrepared, NameADamagedRecord) {
  const auto damaged = [](SomeOptions&, const PrepareContext&) -> Prepared {
    nlohmann::json::array().at("key");
    return {};
  };
  SomeOptions::preparer = {.record = "prepared.json", .prepare = damaged};
  EXPECT_THAT(error_of([&] { options.prepare({}); }),
              HasSubstr("prepared.json, which says what was prepared, is damaged"));
  SomeOptions::preparer = {.prepare = damaged};
  EXPECT_THROW(options.prepare({}), nlohmann::json::exception);
}

}  // namespace
}  // namespace lockstep
