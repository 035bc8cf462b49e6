// Several hosts on one machine: network namespaces with names of their own, joined by a switch.
// They belong to processes that end with the test, and nothing of them has a name outside.
#pragma once

#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::testing {

class Network {
 public:
  // Hosts get 10.77.0.1, 10.77.0.2, … on eth0. Throws std::runtime_error where that is not allowed.
  explicit Network(const std::vector<std::string>& hosts) : names_(hosts) {
    try {
      switch_ = hold("", -1);
      run(inside(switch_, {"ip", "link", "add", "br0", "type", "bridge"}));
      run(inside(switch_, {"ip", "link", "set", "br0", "up"}));
      for (std::size_t i = 0; i < hosts.size(); ++i) add_host(i);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Network() { release(); }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  static std::string address(std::size_t host) { return cat("10.77.0.", host + 1); }
  // The words that run `words` on a host; the process started ends with this one.
  std::vector<std::string> on(std::size_t host, const std::vector<std::string>& words) const {
    std::vector<std::string> all{"setpriv", "--pdeathsig", "KILL"};
    all.insert(all.end(), words.begin(), words.end());
    return inside(hosts_.at(host), all);
  }
  // What is sent to the host or by it is lost, and nobody is told.
  void unplug(std::size_t host) const {
    run(inside(switch_, {"ip", "link", "set", port(host), "nomaster"}));
  }
  // As if its cable were pulled out: the host itself notices.
  void link_down(std::size_t host) const {
    run(inside(switch_, {"ip", "link", "set", port(host), "down"}));
  }

 private:
  static std::string port(std::size_t host) { return cat("port", host); }

  static void run(const std::vector<std::string>& words) {
    std::vector<std::string> shell{"/bin/sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; \"$@\" 2>&1",
                                   "sh"};
    shell.insert(shell.end(), words.begin(), words.end());
    const ChildOutput result = child_output(shell);
    if (result.code != 0)
      throw std::runtime_error(cat("cannot run ", join(words, " "), ": ", trim(result.out)));
  }

  // `words` in the namespaces of a process.
  std::vector<std::string> inside(pid_t process, const std::vector<std::string>& words) const {
    std::vector<std::string> all{"nsenter", "-t", std::to_string(process), "-n", "-u"};
    if (geteuid() != 0) all.insert(all.end(), {"-U", "--preserve-credentials"});
    all.emplace_back("--");
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  void add_host(std::size_t i) {
    hosts_.push_back(hold(names_[i], switch_));
    run(inside(switch_, {"ip", "link", "add", port(i), "type", "veth", "peer", "name", "eth0",
                         "netns", std::to_string(hosts_[i])}));
    run(inside(switch_, {"ip", "link", "set", port(i), "master", "br0", "up"}));
    run(inside(hosts_[i], {"ip", "addr", "add", address(i) + "/24", "dev", "eth0"}));
    run(inside(hosts_[i], {"ip", "link", "set", "eth0", "up"}));
    run(inside(hosts_[i], {"ip", "link", "set", "lo", "up"}));
  }

  // A process that does nothing but hold new namespaces. Whoever is not root needs a namespace of
  // users in which it is: that of `of`, or a new one.
  static pid_t hold(const std::string& name, pid_t of) {
    const Pipe ready = make_pipe();
    const uid_t user = geteuid();
    const gid_t group = getegid();
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      int kinds = CLONE_NEWNET | CLONE_NEWUTS;
      bool good = true;
      if (user != 0 && of > 0) {
        const UniqueFd users(open(cat("/proc/", of, "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
        good = setns(users.get(), CLONE_NEWUSER) == 0;
      } else if (user != 0) {
        kinds |= CLONE_NEWUSER;
      }
      good = good && unshare(kinds) == 0;
      if (good && (kinds & CLONE_NEWUSER) != 0) {
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
        std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
      }
      if (good && !name.empty()) good = sethostname(name.c_str(), name.size()) == 0;
      const char answer = good ? 'y' : 'n';
      if (write(ready.write.get(), &answer, 1) != 1) _exit(1);
      while (true) pause();
    }
    char answer = 'n';
    if (pid < 0 || read(ready.read.get(), &answer, 1) != 1 || answer != 'y') {
      if (pid > 0) end(pid);
      throw std::runtime_error("this user may not make network namespaces");
    }
    return pid;
  }

  static void end(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  void release() {
    for (const pid_t host : hosts_) end(host);
    if (switch_ > 0) end(switch_);
  }

  std::vector<std::string> names_;
  pid_t switch_ = -1;
  std::vector<pid_t> hosts_;
};

}  // namespace lockstep::testing
