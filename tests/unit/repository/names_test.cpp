// Sources of a folder are compiled in groups, which other versions of CMake cut elsewhere: names in
// anonymous namespaces must differ within a folder.
#include "base/files.h"
#include "base/text.h"
#include "checkout.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

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

// The types of parameters, without blanks: "const Chunk& a, int b = 1" is "const Chunk&,int".
std::string types_of(std::string_view parameters) {
  std::string types;
  int depth = 0;
  for (std::size_t begin = 0, i = 0; i <= parameters.size(); ++i) {
    const char c = i < parameters.size() ? parameters[i] : ',';
    depth += std::string_view("<({[").find(c) != std::string_view::npos;
    depth -= std::string_view(">)}]").find(c) != std::string_view::npos;
    if (c != ',' || (depth > 0 && i < parameters.size())) continue;
    std::string one(parameters.substr(begin, i - begin));
    one = trim(one.substr(0, one.find('=')));
    const std::string name = last_name(one);
    if (one.ends_with(name) && one.size() > name.size()) one.resize(one.size() - name.size());
    std::erase(one, ' ');
    types += one + ",";
    begin = i + 1;
  }
  return types;
}

// What a declaration that begins a line makes known: its name, and for a function the types of its
// parameters too. Nothing for aliases, which may be repeated, and for members.
struct Known {
  std::string name, types;
};
std::optional<Known> known_by(const std::string& text) {
  if (text.starts_with("using ") || text.starts_with("namespace ") || text.starts_with("TEST") ||
      text.starts_with("INSTANTIATE"))
    return std::nullopt;
  for (const char* kind : {"struct ", "class ", "enum class "})
    if (text.starts_with(kind)) {
      std::string name = text.substr(std::string(kind).size());
      name = name.substr(0, name.find_first_of(" ;{:<"));
      return Known{name, ""};
    }
  const std::size_t end = text.find_first_of("(={;");
  if (end == std::string::npos) return std::nullopt;
  const std::string before = text.substr(0, end), name = last_name(before);
  if (before.find("operator") != before.npos || before.ends_with("::" + name)) return std::nullopt;
  if (text[end] != '(') return Known{name, ""};
  int depth = 0;
  for (std::size_t i = end; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0) return Known{name, "(" + types_of(text.substr(end + 1, i - end - 1)) + ")"};
  }
  return std::nullopt;
}

// Those of a file's anonymous namespaces.
std::vector<Known> unnamed_of(const std::string& text) {
  std::vector<Known> all;
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
    if (const auto known = known_by(trim(open)); known && !known->name.empty())
      all.push_back(*known);
    open.clear();
  }
  return all;
}

// Names that two files have, of which one is no function or both are and take the same.
std::vector<std::string> twice_in(const fs::path& folder) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> files;  // [name][types]
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    for (const Known& known : unnamed_of(read_file(entry.path())))
      files[known.name][known.types].insert(entry.path().filename());
  }
  std::vector<std::string> twice;
  for (const auto& [name, by_types] : files)
    for (const auto& [types, in] : by_types) {
      std::set<std::string> clash = in;
      if (types.empty())
        for (const auto& [other, others] : by_types) clash.insert(others.begin(), others.end());
      if (clash.size() > 1)
        twice.push_back(cat(folder.lexically_relative(root).string(), ": ", name, types, " in ",
                            join(std::vector<std::string>(clash.begin(), clash.end()), " and ")));
    }
  return twice;
}

TEST(Names, TellWhatADeclarationMakesKnown) {
  const auto names = [](const std::string& text) {
    std::string all;
    for (const Known& known : unnamed_of("namespace {\n" + text + "\n}  // namespace\nint out;"))
      all += known.name + known.types + " ";
    return all;
  };
  EXPECT_EQ(names("constexpr double gib = 1.0 / (1 << 30);"), "gib ");
  EXPECT_EQ(names("struct Column {\n  int width;\n};"), "Column ");
  EXPECT_EQ(names("std::string percent(double share) {\n  return text(share);\n}"),
            "percent(double,) ");
  EXPECT_EQ(names("void tell(const std::map<int, int>& a,\n          int b = 1) {"),
            "tell(conststd::map<int,int>&,int,) ");
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
