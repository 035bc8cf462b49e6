// What command lines say of how many GPUs a program takes.
#include "tools/doctor/launcher.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

struct Case {
  const char *command, *name, *given;
  int gpus;                      // 0: no number
  const char *option, *changed;  // for 4 GPUs; "": it lists them; nothing limits it
};

TEST(Launcher, IsKnownByItsCommandWithTheOptionToChange) {
  const Case cases[] = {
      {"python3 -m torch.distributed.run --nproc-per-node=1 train.py --lr 1", "torchrun",
       "--nproc-per-node=1", 1, "--nproc-per-node=4",
       "python3 -m torch.distributed.run --nproc-per-node=4 train.py --lr 1"},
      {"/usr/bin/python /usr/bin/torchrun --nproc_per_node 2 t.py", "torchrun",
       "--nproc_per_node 2", 2, "--nproc_per_node 4",
       "python /usr/bin/torchrun --nproc_per_node 4 t.py"},
      {"torchrun train.py", "torchrun", "", 1, "--nproc-per-node=4",
       "torchrun --nproc-per-node=4 train.py"},
      {"torchrun --nproc-per-node=gpu train.py", "torchrun", "--nproc-per-node=gpu", 0,
       "--nproc-per-node=4", "torchrun --nproc-per-node=4 train.py"},
      {"python /x/bin/accelerate launch --num_processes 1 t.py", "accelerate", "--num_processes 1",
       1, "--num_processes 4", "python /x/bin/accelerate launch --num_processes 4 t.py"},
      {"accelerate launch t.py", "accelerate", "", 0, "--num_processes=4",
       "accelerate launch --num_processes=4 t.py"},
      {"python3 /x/deepspeed --num_gpus=2 t.py", "DeepSpeed", "--num_gpus=2", 2, "--num_gpus=4",
       "python3 /x/deepspeed --num_gpus=4 t.py"},
      {"deepspeed --include localhost:0,1 t.py", "DeepSpeed", "--include localhost:0,1", 0, "",
       "deepspeed t.py"},
      {"deepspeed t.py", "DeepSpeed", "", 0, "", ""},
      {"/usr/bin/mpirun -np 2 python3 t.py -n 7", "mpirun", "-np 2", 2, "-np 4",
       "mpirun -np 4 python3 t.py -n 7"},
      {"vllm serve m -tp 2", "vLLM", "-tp 2", 2, "-tp 4", "vllm serve m -tp 4"},
      {"python -m vllm.entrypoints.openai.api_server --model m --tensor-parallel-size=1 -dp 2",
       "vLLM", "--tensor-parallel-size=1", 2, "--tensor-parallel-size=2",
       "python -m vllm.entrypoints.openai.api_server --model m --tensor-parallel-size=2 -dp 2"},
      {"vllm serve m", "vLLM", "", 1, "--tensor-parallel-size=4",
       "vllm serve --tensor-parallel-size=4 m"},
      {"python3 -m sglang.launch_server --tp 2", "SGLang", "--tp 2", 2, "--tp 4",
       "python3 -m sglang.launch_server --tp 4"},
      {"build/lockstep train textgen --devices 1", "Lockstep", "--devices 1", 0, "",
       "build/lockstep train textgen"},
      {"lockstep train textgen", "Lockstep", "", 0, "", ""},
      {"python3 fit.py fit --trainer.devices=1", "", "--trainer.devices=1", 1,
       "--trainer.devices=4", "python3 fit.py fit --trainer.devices=4"},
      {"python train.py --gpus 2", "", "--gpus 2", 2, "--gpus 4", "python train.py --gpus 4"},
  };
  for (const Case& one : cases) {
    const std::optional<Launcher> launcher = launcher_of(one.command);
    ASSERT_TRUE(launcher) << one.command;
    EXPECT_EQ(launcher->name, one.name) << one.command;
    EXPECT_EQ(launcher->given, one.given) << one.command;
    EXPECT_EQ(launcher->gpus.value_or(0), one.gpus) << one.command;
    EXPECT_EQ(launcher->option.empty(), *one.changed == '\0') << one.command;
    if (launcher->option.empty()) continue;
    EXPECT_EQ(launcher->lists_gpus, *one.option == '\0') << one.command;
    if (!launcher->lists_gpus) {
      EXPECT_EQ(launcher->option_for(4), one.option) << one.command;
    }
    EXPECT_EQ(launcher->command_for(4), one.changed) << one.command;
  }
}

TEST(Launcher, IsNoOtherProgram) {
  for (const char* command :
       {"", "python3", "python3 train.py", "python3 train.py --devices 0,1", "bash -c torchrun",
        "./train --gpus 2", "lockstep monitor -- x", "vllm bench m", "python3 x.py --gpus",
        "python3 train.py torchrun", "python3 -u", "python3 -m", "accelerate config"})
    EXPECT_FALSE(launcher_of(command)) << command;
}

TEST(Launcher, KnowsWhatRunsNotebooks) {
  for (const char* kernel :
       {"/usr/bin/python3 -m ipykernel_launcher -f /root/kernel-1.json",
        "/usr/bin/python3 -m colab_kernel_launcher -f /root/.local/share/kernel-1.json",
        "python -Xfrozen_modules=off -m ipykernel_launcher --f=/run/user/0/kernel-v3.json",
        "python3 -m ipykernel -f k.json", "python3 /usr/lib/ipykernel_launcher.py -f k.json"}) {
    EXPECT_TRUE(is_notebook_kernel(kernel)) << kernel;
    EXPECT_FALSE(starts_notebooks(kernel)) << kernel;
    EXPECT_FALSE(launcher_of(kernel)) << kernel;
  }
  for (const char* starter :
       {"/usr/bin/python3 /usr/local/bin/jupyter-lab --port=8888", "python3 -m jupyterlab",
        "/usr/bin/python3 /usr/local/bin/jupyter-notebook", "python /opt/bin/papermill a.ipynb b",
        "python3 /bin/jupyter-nbconvert --execute a.ipynb", "jupyter-lab"}) {
    EXPECT_TRUE(starts_notebooks(starter)) << starter;
    EXPECT_FALSE(is_notebook_kernel(starter)) << starter;
  }
  for (const char* other : {"", "python3", "python3 train.py ipykernel_launcher", "papermill.sh",
                            "python3 -m ipykernel_of_mine", "bash -c ipykernel"}) {
    EXPECT_FALSE(is_notebook_kernel(other)) << other;
    EXPECT_FALSE(starts_notebooks(other)) << other;
  }
}

TEST(Launcher, ServesOrSpansHosts) {
  EXPECT_TRUE(launcher_of("vllm serve m")->serves);
  EXPECT_FALSE(launcher_of("torchrun t.py")->serves);
  EXPECT_TRUE(launcher_of("mpirun -np 8 t")->spans_hosts);
  EXPECT_FALSE(launcher_of("torchrun --nnodes 2 t.py")->spans_hosts);
}

}  // namespace
}  // namespace lockstep
