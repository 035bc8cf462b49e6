// Scripts of Python where a command or a recipe stands.
#include "tools/cli/words/script_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

std::string answer(const std::vector<std::string>& words) {
  return error_if_any([&] { check_no_script(words); });
}

TEST(ScriptCommand, IsAnsweredWithTheLineThatRunsItOncePerDevice) {
  EXPECT_EQ(answer({"train", "train.py", "--device", "cuda", "--num_episodes", "1000"}),
            "lockstep train takes a recipe or a plugin, but train.py is a script | to run a script "
            "once per GPU: lockstep launch python3 train.py --device cuda --num_episodes 1000");
  EXPECT_EQ(answer({"train.py", "--name", "a b"}),
            "there is no command train.py | to run a script once per GPU: lockstep launch python3 "
            "train.py --name 'a b'");
  EXPECT_THAT(answer({"python", "-m", "tools.train"}), HasSubstr("launch python3 -m tools.train"));
  EXPECT_THAT(answer({"train", "python3", "run.py"}), HasSubstr("launch python3 run.py"));
  EXPECT_THAT(answer({"torchrun", "--nproc_per_node", "2", "run.py", "--lr", "1"}),
              HasSubstr("launch python3 run.py --lr 1"));
}

TEST(ScriptCommand, AProgramThatWatchesGpusIsAnsweredWithMonitor) {
  const auto said = [](const std::vector<std::string>& words) {
    return error_if_any([&] { check_no_monitor(words); });
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"nvidia-smi", "-l", "1"},
                                                {"dmon"},
                                                {"watch", "nvidia-smi"},
                                                {"watch", "-n", "1", "nvidia-smi"},
                                                {"watch"}})
    EXPECT_THAT(said(words), HasSubstr(words[0] + " | lockstep monitor shows every GPU"));
  EXPECT_EQ(said({"watch", "ls"}), "");
  EXPECT_EQ(said({"monitor"}), "");
}

TEST(ScriptCommand, DevicesOfOurCommandAreThoseOfLaunch) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"train", "train.py", "--devices", "cpu:1", "--lr", "3"},
        {"train", "--devices", "cpu:1", "train.py", "--lr", "3"},
        {"train", "train.py", "--lr", "3", "--devices=cpu:1"}})
    EXPECT_THAT(answer(words),
                HasSubstr(": lockstep launch --devices cpu:1 python3 train.py --lr 3"));
  EXPECT_THAT(answer({"bench", "run.py", "--devices", "cpu:2"}),
              HasSubstr("launch --devices cpu:2 python3 run.py"));
  for (const char* devices : {"2xT4", "2", "1,2"})
    for (const char* command : {"plan", "bench"})
      EXPECT_THAT(answer({command, "run.py", "--devices", devices, "--lr", "1"}),
                  HasSubstr(": lockstep launch python3 run.py --lr 1"));
  EXPECT_THAT(answer({"run.py", "--devices", "2"}),
              HasSubstr(": lockstep launch python3 run.py --devices 2"))
      << "the script's own";
  EXPECT_THAT(answer({"train", "--devices", "0,1", "train.py", "--devices", "4"}),
              HasSubstr(": lockstep launch --devices 0,1 python3 train.py --devices 4"));
}

TEST(ScriptCommand, ANotebookIsMadeAScriptFirst) {
  EXPECT_EQ(answer({"train", "my run.ipynb", "--devices", "cpu:2"}),
            "lockstep train takes a recipe or a plugin, but my run.ipynb is a notebook | make a "
            "script of it, and run that once per GPU: jupyter nbconvert --to script 'my run.ipynb' "
            "&& lockstep launch --devices cpu:2 python3 'my run.py' (lockstep help notebook)");
  const auto launched = [](const std::vector<std::string>& program, const std::string& devices) {
    return error_if_any([&] { check_no_notebook(program, devices); });
  };
  EXPECT_EQ(launched({"a.ipynb"}, "cpu:2"),
            "a.ipynb is a notebook, which runs in a kernel and not as a program | make a script of "
            "it, and start that: jupyter nbconvert --to script a.ipynb && lockstep launch "
            "--devices cpu:2 python3 a.py (lockstep help notebook)");
  EXPECT_THAT(launched({"python3", "-u", "a.ipynb", "--lr", "1"}, ""),
              HasSubstr("&& lockstep launch python3 -u a.py --lr 1 ("));
  EXPECT_EQ(launched({"python3", "a.py", "b.ipynb"}, ""), "");
  EXPECT_EQ(launched({"papermill", "b.ipynb"}, ""), "");
  EXPECT_EQ(launched({"python3"}, ""), "");
}

TEST(ScriptCommand, LinesThatOnlyAKernelRunsAreTakenOut) {
  const TemporaryDirectory folder;
  const std::string notebook = folder.path() / "a.ipynb", script = folder.path() / "a.py";
  const auto hint = [&](const std::string& cells) {
    write_file_atomic(notebook, cat("{\"cells\": [", cells, "], \"nbformat\": 4}"));
    return answer({"train", notebook});
  };
  const std::string chain =
      cat("jupyter nbconvert --to script ", notebook, " && lockstep launch python3 ", script, " (");
  EXPECT_THAT(hint(R"({"cell_type": "code", "source": "x = 7 % 2\ny = not x"},
                      {"cell_type": "markdown", "source": "!ls"})"),
              HasSubstr(chain));
  EXPECT_THAT(
      hint(R"({"cell_type": "code", "source": ["import os\n", "  !pip install timm\n", "!ls"]},
              {"cell_type": "code", "source": "%matplotlib inline"})"),
      HasSubstr(cat("jupyter nbconvert --to script ", notebook,
                    "; take its calls of get_ipython() out, which stand for 3 lines that only a "
                    "kernel runs (first: !pip install timm); then lockstep launch python3 ",
                    script, " (lockstep help notebook)")));
  EXPECT_THAT(hint(R"~({"cell_type": "code", "source": "print('%d'\n  % (1))\nok = (1\n!= 2)"},
                       {"cell_type": "code", "source": "print('x=!', f(a=1))\ny = x"})~"),
              HasSubstr(chain))
      << "Python";
  EXPECT_THAT(hint(R"({"cell_type": "code", "source": "gpus = !nvidia-smi -L\n%%bash\nls"})"),
              HasSubstr("for 2 lines that only a kernel runs (first: gpus = !nvidia-smi -L)"));
  for (const char* odd : {"7", "[]", R"({"cell_type": 7})", R"({"cell_type": "code"})",
                          R"({"cell_type": "code", "source": {}})", "{"})
    EXPECT_THAT(hint(odd), HasSubstr(chain)) << odd;
  write_file_atomic(notebook, R"({"cells": 7})");
  EXPECT_THAT(answer({"train", notebook}), HasSubstr(chain));
}

TEST(ScriptCommand, OtherLinesAreLeftAlone) {
  EXPECT_EQ(answer({"launch", "python3", "train.py"}), "");
  EXPECT_EQ(answer({"train", "textgen", "data.path=a.py"}), "");
  EXPECT_EQ(answer({"batch", "run", "train.py"}), "");
  EXPECT_EQ(answer({"torchrun"}), "");
}

}  // namespace
}  // namespace lockstep::cli
