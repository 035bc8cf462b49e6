// Sources of a target are compiled in groups, and each version of CMake forms other groups. So
// names in anonymous namespaces must differ within a target: a name that two sources define is an
// error of the compiler, or makes overloads, and a call may take the other source's function.
#include "checkout.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
      std::string name = text.substr(std::string(kind).size());
      if (name.starts_with("alignas(")) name = trim(name.substr(name.find(") ") + 1));
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

// The folder whose CMakeLists.txt compiles the sources of this one, in the same groups as its own.
fs::path target_of(fs::path folder) {
  while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
  return folder;
}

// Names that two files have.
std::vector<std::string> twice_in(const fs::path& folder, const std::vector<fs::path>& sources) {
  std::map<std::string, std::vector<std::string>> files;  // by name
  for (const fs::path& source : sources)
    for (const std::string& name : unnamed_of(read_file(source)))
      files[name].push_back(source.lexically_relative(folder));
  std::vector<std::string> twice;
  for (const auto& [name, in] : files)
    if (in.size() > 1)
      twice.push_back(
          cat(folder.lexically_relative(root).string(), ": ", name, " in ", join(in, " and ")));
  return twice;
}

// The types, specializations and members left out, that a file defines where others can see them:
// with their namespaces.
std::set<std::string> types_of(const std::string& text) {
  std::set<std::string> all;
  std::vector<std::string> inside;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("namespace ") && line.ends_with("{"))
      inside.push_back(trim(line.substr(10, line.size() - 11)));
    if (line.starts_with("}  // namespace") && !inside.empty()) inside.pop_back();
    if (std::count(inside.begin(), inside.end(), "") > 0) continue;
    const bool is_declared_alone = line.ends_with(";") && line.find('{') == line.npos;
    const bool is_type = line.starts_with("struct ") || line.starts_with("class ") ||
                         line.starts_with("enum class ");
    const std::string name = is_type && !is_declared_alone ? known_by(line) : "";
    if (!name.empty() && line.find(name + "<") == line.npos && line.find(name + "::") == line.npos)
      all.insert(join(inside, "::") + "::" + name);
  }
  return all;
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

TEST(Names, OfAnonymousNamespacesDifferWithinATarget) {
  std::map<fs::path, std::vector<fs::path>> folders;
  for (const char* top : {"src", "recipes", "tests/unit", "tests/gpu", "tests/fuzz"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top))
      if (entry.path().extension() == ".cpp")
        folders[target_of(entry.path().parent_path())].push_back(entry.path());
  ASSERT_GT(folders.size(), 50U);
  for (const auto& [folder, sources] : folders)
    EXPECT_EQ(join(twice_in(folder, sources), "\n"), "");
}

TEST(Names, TellTheTypesThatAFileDefines) {
  const auto types = types_of(
      "namespace lockstep::cli {\nstruct Later;\nstruct One {};\nclass Two final : public A,\n    "
      "B {\n  struct Inner "
      "{};\n};\n"
      "template <>\nstruct Names<int> {\n};\nstruct Two::Member {\n};\nnamespace {\nenum class "
      "Hidden { a };\n}  // "
      "namespace\nenum class Three "
      "{ a };\n}  // namespace lockstep::cli");
  EXPECT_THAT(types, ::testing::ElementsAre("lockstep::cli::One", "lockstep::cli::Three",
                                            "lockstep::cli::Two"));
}

// Of two that differ the linker keeps the inline functions of one: without optimization a
// destructor then takes the other's members for its own.
TEST(Names, OfTypesDifferInAllOfANamespace) {
  std::map<std::string, std::vector<std::string>> files;
  for (const char* top : {"src", "recipes", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top))
      if (const fs::path kind = entry.path().extension();
          kind == ".h" || kind == ".cpp" || kind == ".cuh" || kind == ".cu")
        for (const std::string& name : types_of(read_file(entry.path())))
          files[name].push_back(entry.path().lexically_relative(root));
  ASSERT_GT(files.size(), 500U);
  for (const auto& [name, in] : files)
    EXPECT_EQ(in.size(), 1U) << name << " in " << join(in, " and ");
}

}  // namespace
}  // namespace lockstep
