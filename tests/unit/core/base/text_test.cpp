// Text helpers: numbers, lists, and the nearest word.
#include "core/base/text/text.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace lockstep {
namespace {

const std::vector<std::string> kKeys{"batch.global", "batch.micro", "optimizer.lr", "seed"};

TEST(Nearest, FindsOneSlip) {
  EXPECT_EQ(nearest("batch.globl", kKeys), "batch.global");
  EXPECT_EQ(nearest("sede", kKeys), "seed");
  EXPECT_EQ(nearest("Batch.Micro", kKeys), "batch.micro");
}

TEST(Nearest, CountsEachSlipWhereverItIs) {
  const std::string key = "schedule.warmup";
  for (std::size_t at = 0; at < key.size(); ++at) {
    std::string left_out = key, changed = key, added = key;
    left_out.erase(at, 1);
    changed[at] = '#';
    added.insert(at, 1, '#');
    for (const std::string& word : {left_out, changed, added})
      EXPECT_EQ(nearest(word, std::vector<std::string>{"schedule.#####p", key}), key) << word;
  }
  EXPECT_EQ(nearest("ba", std::vector<std::string>{"ab"}), "ab");              // a swap is one slip
  EXPECT_EQ(nearest("abcdef", std::vector<std::string>{"badcef"}), "badcef");  // 2 of at most 2
  EXPECT_EQ(nearest("abcdef", std::vector<std::string>{"badcfe"}), "");        // 3
}

TEST(Nearest, FindsTheLastPartAlone) { EXPECT_EQ(nearest("lr", kKeys), "optimizer.lr"); }

TEST(Nearest, FindsNothingForAnUnrelatedWord) {
  EXPECT_EQ(nearest("temperature", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("seed", {}), "");
}

TEST(Nearest, PrefersTheCloserOfTwo) {
  const std::vector<std::string> words{"stop.steps", "step.stops"};
  EXPECT_EQ(nearest("step.stop", words), "step.stops");
}

TEST(Numbers, HaveTheDigitsAskedFor) {
  EXPECT_EQ(fixed(3.21449, 3), "3.214");
  EXPECT_EQ(scientific(5.9e-4, 1), "5.9e-04");
  EXPECT_EQ(general(1234567, 3), "1.23e+06");
  EXPECT_EQ(fixed(1e300, 0).size(), 301u);
}

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "0.98 KiB");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  EXPECT_EQ(format_bytes(139.0 * 1024 * 1024 * 1024), "139 GiB");
}

TEST(FormatCount, PicksTheUnit) {
  EXPECT_EQ(format_count(12), "12");
  EXPECT_EQ(format_count(1.02e6), "1.02M");
  EXPECT_EQ(format_count(19315456), "19.3M");
  EXPECT_EQ(format_count(999999), "1M");
}

TEST(FormatCount, NeverShowsMoreThanThreeDigitsBelowItsLargestUnit) {
  for (double count = 1; count < 1e17; count *= 1.07) {
    const std::string text = format_count(count);
    int digits = 0;
    for (const char c : text) digits += c >= '0' && c <= '9';
    EXPECT_LE(digits, 3) << text;
    EXPECT_GE(digits, 1) << text;
  }
}

TEST(Split, GivesBackWhatJoinMade) {
  for (const std::vector<std::string>& parts :
       {std::vector<std::string>{""}, {"a"}, {"a", ""}, {"", "", "b"}, {"x y", "z"}})
    EXPECT_EQ(split(join(parts, ","), ','), parts);
}

TEST(ByteOrderMark, IsTakenOffTheBeginning) {
  const std::string mark(byte_order_mark);
  EXPECT_EQ(without_byte_order_mark(mark + "a" + mark), "a" + mark);
  EXPECT_EQ(without_byte_order_mark(mark + mark + "a"), "a") << "some programs add one to one";
  EXPECT_EQ(without_byte_order_mark("a"), "a");
  EXPECT_EQ(without_byte_order_mark(mark.substr(0, 2)), mark.substr(0, 2));
  EXPECT_EQ(without_byte_order_mark(mark), "");
}

TEST(LinesOf, AreThoseOfFilesOfAnySystem) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a\r\n\r\nb\rc\n"),
            (Lines{"a", "", "b\rc", ""}));
  EXPECT_EQ(lines_of("a\n\xEF\xBB\xBF"), (Lines{"a", "\xEF\xBB\xBF"}))
      << "a mark only begins a file";
  EXPECT_EQ(lines_of(""), Lines{""});
}

TEST(Trim, TakesSpaceOffBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Cat, JoinsPartsOfAnyType) { EXPECT_EQ(cat("step ", 3, '/', 4.5), "step 3/4.5"); }

TEST(ErrnoText, NamesTheReason) { EXPECT_EQ(errno_text(ENOENT), "No such file or directory"); }

TEST(ShellWord, IsQuotedWhereAShellRequiresIt) {
  EXPECT_EQ(shell_word("runs/a-1.safetensors"), "runs/a-1.safetensors");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace lockstep
