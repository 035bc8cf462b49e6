// Two tables with an option of every type, as the engine and a recipe would have, and helpers.
#pragma once

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "core/config/options.h"
#include "fakes/error_of.h"

namespace lockstep {

enum class Color { red, green, blue };
template <>
struct EnumNames<Color> {
  static constexpr std::pair<Color, const char*> value[] = {
      {Color::red, "red"}, {Color::green, "green"}, {Color::blue, "blue"}};
};

struct EngineOptions {
  std::int64_t seed = 42, global = 8;
  double lr = 1e-3, beta = 0.9;
  bool exact = false;
  Duration after{}, every{1800};
  Color color = Color::red;
  std::string root = "runs", preset;
  OptionTable table;

  EngineOptions() {
    table.add("seed", seed, {.meaning = "fixes all randomness"});
    table.add("preset", preset, {.meaning = "named values"});
    table.add("batch.global", global,
              {.meaning = "in one step", .unit = "samples", .min = 1, .max = 1000000});
    table.add("optimizer.lr", lr, {.meaning = "learning rate", .min = 0});
    table.add("optimizer.beta", beta, {.meaning = "decay", .min = 0, .max = 0.999});
    table.add("exact", exact, {.meaning = "bitwise equality"});
    table.add("stop.after", after, {.meaning = "time for this start", .unit = "s"});
    table.add("stop.every", every, {.meaning = "between saves", .unit = "s", .min = 10});
    table.add("color", color, {.meaning = "of the bar"});
    table.add("run.root", root, {.meaning = "folder of runs"});
  }
};

struct ToyOptions {
  std::vector<std::string> paths{"a.txt"};
  std::string mode = "fast";
  std::int64_t width = 128;
  OptionTable table;

  ToyOptions() {
    table.add("data.path", paths, {.meaning = "files to read"});
    table.add("data.mode", mode, {.meaning = "how to read", .choices = {"fast", "safe"}});
    table.add("model.width", width, {.meaning = "of the model", .min = 1});
    table.add_preset({"small", "for a laptop", {{"model.width", "64"}, {"optimizer.lr", "0.01"}}});
    table.add_preset({"large", "for a server", {{"model.width", "4096"}, {"batch.global", "512"}}});
  }
};

struct Both {
  EngineOptions engine;
  ToyOptions toy;
  std::vector<OptionTable*> tables{&engine.table, &toy.table};

  void apply(const std::vector<std::string>& assignments,
             const std::vector<std::filesystem::path>& files = {}) {
    apply_config(tables, files, assignments);
  }
};

// A TOML file that is gone when the test ends.
class TomlFile {
 public:
  explicit TomlFile(const std::string& text) : path_(folder_.path() / "my.toml") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryDirectory folder_;
  std::filesystem::path path_;
};

}  // namespace lockstep
