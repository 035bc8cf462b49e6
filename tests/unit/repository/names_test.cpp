// Sources of a folder are compiled in groups, and each version of CMake forms other groups. So
// names in anonymous namespaces must differ within a folder: a name that two sources define is an
// error of the compiler, or makes overloads, and a call may take the other source's function.
#include "base/files.h"
#include "base/text.h"
#include "checkout.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

bool is_part_of_a_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

std::string last_name(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_part_of_a_name(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_part_of_a_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

// The name that a declaration defines; empty for aliases, which may be repeated, and for members.
std::string known_by(const std::string& text) {
  for (const char* kind : {"using ", "namespace ", "static_assert", "TEST", "INSTANTIATE"})
    if (text.starts_with(kind)) return "";
  for (const char* kind : {"struct ", "class ", "enum class "})
    if (text.starts_with(kind)) {
      const std::string name = text.substr(std::string(kind).size());
      return name.substr(0, name.find_first_of(" ;{:<"));
    }
  const std::string before = text.substr(0, text.find_first_of("(={;"));
  const std::string name = last_name(before);
  const bool is_member = before.ends_with("::" + name);
  return is_member || before.find("operator") != before.npos || name == "enum" ? "" : name;
}

// Those of a file's anonymous namespaces.
std::set<std::string> unnamed_of(const std::string& text) {
  std::set<std::string> all;
  bool inside = false;
  std::string open;  // a declaration that goes on in the next line
  for (const std::string& line : split(text, '\n')) {
    if (line == "namespace {") inside = true;
    if (line == "}  // namespace") inside = false;
    const std::string code = line.substr(0, line.find("//"));
    if (!inside || line == "namespace {" || code.empty()) continue;
    if (open.empty() && (!is_part_of_a_name(code[0]) || code.starts_with("template"))) continue;
    open += " " + trim(code);
    if (code.find_first_of(";{") == std::string::npos && open.size() < 600) continue;
    all.insert(known_by(trim(open)));
    open.clear();
  }
  all.erase("");
  return all;
}

// Names that two files have.
std::vector<std::string> twice_in(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> files;  // by name
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cpp")
      for (const std::string& name : unnamed_of(read_file(entry.path())))
        files[name].push_back(entry.path().filename());
  std::vector<std::string> twice;
  for (const auto& [name, in] : files)
    if (in.size() > 1)
      twice.push_back(
          cat(folder.lexically_relative(root).string(), ": ", name, " in ", join(in, " and ")));
  return twice;
}

TEST(Names, TellWhatADeclarationMakesKnown) {
  const auto names = [](const std::string& text) {
    const auto all = unnamed_of("namespace {\n" + text + "\n}  // namespace\nint out;");
    return join(std::vector<std::string>(all.begin(), all.end()), " ");
  };
  EXPECT_EQ(names("constexpr double gib = 1.0 / (1 << 30);"), "gib");
  EXPECT_EQ(names("struct Column {\n  int width;\n};"), "Column");
  EXPECT_EQ(names("std::string percent(double share) {\n  return text(share);\n}"), "percent");
  EXPECT_EQ(names("void tell(const std::map<int, int>& a,\n          int b = 1) {"), "tell");
  EXPECT_EQ(names("using Words = std::vector<int>;\nint Ledger::count() const {"), "");
}

TEST(Names, OfAnonymousNamespacesDifferWithinAFolder) {
  std::set<fs::path> folders;
  for (const char* top : {"src", "recipes", "tests/unit", "tests/gpu", "tests/fuzz"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top))
      if (entry.path().extension() == ".cpp") folders.insert(entry.path().parent_path());
  ASSERT_GT(folders.size(), 50U);
  for (const fs::path& folder : folders) EXPECT_EQ(join(twice_in(folder), "\n"), "");
}

}  // namespace
}  // namespace lockstep
