// A Slurm of one node: munged, slurmctld and slurmd in namespaces of their own (processes, network,
// host name), so that they meet no other Slurm, nothing of them listens outside, and all of them,
// with every job, end with this object or with the test.
#pragma once

#include "core/base/clock.h"
#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/text/text.h"
#include "fakes/tool.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::testing {

// Whether it became true in time.
inline bool wait_for(double at_most_s, const std::function<bool()>& what) {
  for (const double end_s = system_clock().now_s() + at_most_s; system_clock().now_s() < end_s;) {
    if (what()) return true;
    system_clock().sleep_s(0.05);
  }
  return what();
}

class SlurmNode {
 public:
  // Why there can be none on this machine, or "".
  static std::string why_not() {
    if (geteuid() != 0) return "only root can start a Slurm of its own";
    for (const char* name : {"munged", "slurmctld", "slurmd", "srun", "ip", "unshare", "nsenter"})
      if (!works(cat("command -v ", name)))
        return cat("there is no ", name, " (packages slurm-wlm, munge, iproute2)");
    if (!works("unshare --pid --fork --net --uts --mount-proc ip link set lo up"))
      return "this user may not make namespaces";
    return "";
  }
  // gpus: so many, which are files. Throws std::runtime_error with what the daemons said if it does
  // not start.
  explicit SlurmNode(int gpus = 0) {
    configure(gpus);
    std::filesystem::create_directory(folder_.path() / "out");
    outer_ = std::make_unique<ToolProcess>(
        std::vector<std::string>{"setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork",
                                 "--kill-child=KILL", "--net", "--uts", "--mount-proc", "sh",
                                 (folder_.path() / "start.sh").string()},
        folder_.path() / "out");
    const bool ready = wait_for(30, [this] {
      const std::vector<pid_t> children = children_of(outer_->pid());
      if (!children.empty()) init_ = children[0];
      return init_ > 0 && says({"sinfo", "-h", "-o", "%T"}) == "idle";
    });
    if (!ready) {
      const std::string said = outer_->err();
      end();
      throw std::runtime_error("Slurm does not start: " + said);
    }
  }
  ~SlurmNode() { end(); }
  SlurmNode(const SlurmNode&) = delete;
  SlurmNode& operator=(const SlurmNode&) = delete;

  // Whether jobs are told which GPUs they have: device files could be made.
  bool has_gpus() const { return has_gpus_; }
  // The words that run `words` on the node.
  std::vector<std::string> on(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"nsenter",
                                 "-t",
                                 std::to_string(init_),
                                 "-m",
                                 "-u",
                                 "-n",
                                 "-p",
                                 "--",
                                 "env",
                                 "SLURM_CONF=" + (folder_.path() / "slurm.conf").string()};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  // What it prints, without the space around; its errors too.
  std::string says(const std::vector<std::string>& words) const {
    std::vector<std::string> shell{"/bin/sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; \"$@\" 2>&1",
                                   "sh"};
    for (const std::string& word : on(words)) shell.push_back(word);
    return trim(child_output(shell).out);
  }

 private:
  static bool works(const std::string& line) {
    return std::system(cat("PATH=$PATH:/usr/sbin:/sbin; ", line, " >/dev/null 2>&1").c_str()) == 0;
  }
  void configure(int gpus) {
    const std::string root = folder_.path().string();
    for (const char* part : {"state", "spool", "socket", "key"})
      std::filesystem::create_directory(folder_.path() / part);
    // munged wants a way to its socket that all may go, and a key that nobody else may read.
    std::filesystem::permissions(root, std::filesystem::perms(0755));
    std::filesystem::permissions(root + "/key", std::filesystem::perms(0700));
    {
      std::random_device random;
      std::ofstream key(root + "/key/key", std::ios::binary);
      for (int i = 0; i < 128; ++i) key.put(static_cast<char>(random() & 0xff));
    }
    std::filesystem::permissions(root + "/key/key", std::filesystem::perms(0400));
    std::ofstream(root + "/slurm.conf")
        << "ClusterName=lockstep\nSlurmctldHost=localhost\nSlurmUser=root\nSlurmdUser=root\n"
        << "AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket=" << root << "/socket/munge\n"
        << "StateSaveLocation=" << root << "/state\nSlurmdSpoolDir=" << root << "/spool\n"
        << "SlurmctldPidFile=" << root << "/slurmctld.pid\nSlurmdPidFile=" << root
        << "/slurmd.pid\n"
        << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n"
        << "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nJobRequeue=1\n"
        << "ReturnToService=2\nMailProg=/bin/true\nAccountingStorageType=accounting_storage/none\n"
        << "JobAcctGatherType=jobacct_gather/none\n"
        << (gpus > 0 ? "GresTypes=gpu\n" : "")
        << "NodeName=localhost CPUs=" << sysconf(_SC_NPROCESSORS_ONLN)
        << (gpus > 0 ? " Gres=gpu:" + std::to_string(gpus) : "") << " State=UNKNOWN\n"
        << "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP "
           "OverSubscribe=FORCE\n";
    std::ofstream gres(root + "/gres.conf");
    for (int i = 0; i < gpus; ++i) {
      const std::string device = root + "/nvidia" + std::to_string(i);
      // Slurm names only devices to its jobs. This one is no driver's here.
      has_gpus_ =
          mknod(device.c_str(), S_IFCHR | 0600, makedev(195, static_cast<unsigned>(i))) == 0;
      if (!has_gpus_) std::ofstream{device};
      gres << "NodeName=localhost Name=gpu File=" << device << "\n";
    }
    // What the daemons say goes to standard error. The first process of the namespace stays.
    std::ofstream(root + "/start.sh")
        << "PATH=$PATH:/usr/sbin:/sbin\nhostname localhost\nip link set lo up\n"
        // Without another address than loopback no name is looked up.
        << "ip link add eth0 type veth peer name eth1 && ip addr add 10.78.0.1/24 dev eth0\n"
        << "ip link set eth0 up && ip link set eth1 up\n"
        << "munged --foreground --key-file=" << root << "/key/key --socket=" << root
        << "/socket/munge --pid-file=" << root << "/socket/pid --seed-file=" << root
        << "/key/seed --log-file=" << root << "/key/log &\n"
        << "until [ -S " << root << "/socket/munge ]; do sleep 0.05; done\n"
        << "slurmctld -D -f " << root << "/slurm.conf &\n"
        << "slurmd -D -f " << root << "/slurm.conf -N localhost &\nwait\n";
  }
  void end() {
    if (init_ > 0) kill(init_, SIGKILL);  // and with it all of the namespace
    if (outer_) {
      kill(outer_->pid(), SIGKILL);
      outer_->wait();
      outer_.reset();
    }
  }

  TemporaryDirectory folder_;
  bool has_gpus_ = false;
  std::unique_ptr<ToolProcess> outer_;
  pid_t init_ = -1;
};

}  // namespace lockstep::testing
