// Text on a terminal, counted in cells.
#include "core/base/text/cells.h"

#include <gtest/gtest.h>

#include "core/base/text/printable.h"

namespace lockstep {
namespace {

TEST(Cells, CountsWideCharactersTwice) {
  EXPECT_EQ(cells_of("abc"), 3);
  EXPECT_EQ(cells_of("größe"), 5);
  EXPECT_EQ(cells_of("訓練.py"), 7);
  EXPECT_EQ(cells_of("🚀"), 2);
  EXPECT_EQ(cells_of("▁▂█"), 3);
  EXPECT_EQ(cells_of("e\xcc\x81"), 1);  // a letter and its accent
  EXPECT_EQ(cells_of("a\tb"), 4);       // as printable shows it
  EXPECT_EQ(cells_of(""), 0);
}

TEST(Cells, CleansWhatWouldMoveTheCursor) {
  EXPECT_EQ(clean_cells("a\x1b[2Jb\r\n\t\x7f"), R"(a\x1b[2Jb\r\n\t\x7f)");
  EXPECT_EQ(clean_cells("a\xc2\x9b"
                        "2J\xe2\x80\xae"),
            R"(a\u009b2J\u202e)");
  EXPECT_EQ(clean_cells("e\xcc\x81"), "e");  // a mark on its own
  EXPECT_EQ(clean_cells("\xff"
                        "a\xe8\xa8"),
            R"(\xffa\xe8\xa8)");
  EXPECT_EQ(clean_cells("訓練"), "訓練");
}

TEST(Cells, CountsEscapesAsTheyAreShown) {
  for (const char* text : {"\x1b[2J", "a\n", "\xc2\x9b", "a\xe2\x80\xae", "\xff\xe8\xa8", "\x7f"})
    EXPECT_EQ(cells_of(text), cells_of(printable(text))) << printable(text);
  EXPECT_EQ(cut_cells("ab\x1b[2J", 5), "ab");
}

TEST(Cells, CutsWithoutHalvesOfCharacters) {
  EXPECT_EQ(cut_cells("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_cells("abcdef", 4), "abcd");
  EXPECT_EQ(cut_cells("abcdef", 4, "…"), "abc…");
  EXPECT_EQ(cut_cells("訓練訓", 5), "訓練");
  EXPECT_EQ(cut_cells("訓練訓", 3), "訓");
  EXPECT_EQ(cut_cells("訓練訓", 1), "");
  EXPECT_EQ(cut_cells("abc", 0, "…"), "");
  EXPECT_EQ(cut_cells("abc", -3), "");
  EXPECT_EQ(cut_cells("abc", 1, "..."), "");
}

TEST(Cells, Fills) {
  EXPECT_EQ(fill_cells("ab", 4), "ab  ");
  EXPECT_EQ(fill_cells_left("ab", 4), "  ab");
  EXPECT_EQ(fill_cells("訓練", 3), "訓 ");
  EXPECT_EQ(fill_cells("ab", 0), "");
}

TEST(Cells, WrapsAtSpaces) {
  EXPECT_EQ(wrap_cells("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrap_cells("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrap_cells("abcdefgh", 3), "abc\ndef\ngh");
  EXPECT_EQ(wrap_cells("a\n\nb", 3), "a\n\nb");
  EXPECT_EQ(wrap_cells("訓練訓練", 5), "訓練\n訓練");
  EXPECT_EQ(wrap_cells("訓", 1), "訓");
  EXPECT_EQ(wrap_cells("  indented words", 10), "  indented\nwords");
  EXPECT_EQ(wrap_cells("", 5), "");
}

TEST(Cells, CutsAfterTheMarksOfACharacter) {
  EXPECT_EQ(cut_cells("e\xcc\x81"
                      "a",
                      1),
            "e\xcc\x81");
}

TEST(Cells, PadsWithoutCutting) {
  EXPECT_EQ(pad_cells("訓練", 6), "訓練  ");
  EXPECT_EQ(pad_cells_left("訓練", 6), "  訓練");
  EXPECT_EQ(pad_cells("訓練", 3), "訓練");
}

TEST(Cells, HangsTextBelowItsFirstWord) {
  EXPECT_EQ(hang_cells("seen: ", "one two three", 13), "seen: one two\n      three\n");
  EXPECT_EQ(hang_cells("訓: ", "訓練 訓練 ab", 9), "訓: 訓練\n    訓練\n    ab\n");
  EXPECT_EQ(hang_cells("- ", "unbreakable", 5), "- unbreakable\n");
  EXPECT_EQ(hang_cells("- ", "", 5), "- \n");
}

}  // namespace
}  // namespace lockstep
