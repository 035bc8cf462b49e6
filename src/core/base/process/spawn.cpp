// Starts a child: fork, descriptors and exec. Reports the step that failed.
#include "core/base/process/spawn.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Sanitizers would mistake a child that shares our memory for a thread.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool shares_memory = false;
#else
constexpr bool shares_memory = true;
#endif
constexpr std::size_t most_of_a_stack = std::size_t{64} * 1024;

enum class Stage : int { descriptors, folder, exec };
struct Failure {
  Stage stage;
  int error;
};

// Everything that the child needs. It is prepared before fork, because only async-signal-safe calls
// are allowed after fork.
struct Prepared {
  std::vector<char*> argv, environment;  // if `environment` is empty, the child gets ours
  const SpawnSpec* spec;
  cpu_set_t cores;
  pid_t parent;
  int failure_fd;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

cpu_set_t core_set(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  return set;
}

bool place(int from, int to) { return from == to || ::dup2(from, to) == to; }

// Opens /dev/null under a number above those of stdin, stdout and stderr. Returns -1 on an error.
int open_nothing() {
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  return fd < 0 || fd > STDERR_FILENO ? fd : ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

bool arrange_descriptors(const Prepared& prepared) {
  const SpawnSpec& spec = *prepared.spec;
  if (!spec.inherits_all) close_on_exec_above_stderr();
  const int nothing = open_nothing();
  if (nothing < 0) return false;
  const int sources[] = {spec.stdin_fd, spec.stdout_fd, spec.stderr_fd};
  for (int to = STDIN_FILENO; to <= STDERR_FILENO; ++to) {
    if (!place(sources[to] < 0 ? nothing : sources[to], to)) return false;
    ::fcntl(to, F_SETFD, 0);
  }
  for (const int fd : spec.inherited) {
    if (::fcntl(fd, F_SETFD, 0) != 0) return false;
  }
  return true;
}

void reset_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE, SIGCHLD, SIGXFSZ}) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    // nohup ignores SIGHUP, and a shell ignores SIGINT for background commands.
    if ((number == SIGHUP || number == SIGINT) && current.sa_handler == SIG_IGN) continue;
    ::signal(number, SIG_IGN);  // discards a pending signal
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void report(const Prepared& prepared, Stage stage) {
  const Failure failure{stage, errno};
  [[maybe_unused]] const ssize_t written = ::write(prepared.failure_fd, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void run_child(const Prepared& prepared) {
  const SpawnSpec& spec = *prepared.spec;
  if (spec.own_group || spec.own_session) {
    if (spec.own_session)
      ::setsid();
    else
      ::setpgid(0, 0);
    if (!spec.outlives_us) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != prepared.parent) ::_exit(127);  // the parent ended before prctl
    }
  }
  const pid_t self = ::getpid();
  if (spec.announce_fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(spec.announce_fd, &self, sizeof self);
  }
  // Cores that are gone or forbidden do not prevent the start.
  if (!spec.cores.empty()) ::sched_setaffinity(0, sizeof prepared.cores, &prepared.cores);
  if (!spec.folder.empty() && ::chdir(spec.folder.c_str()) != 0) report(prepared, Stage::folder);
  if (!arrange_descriptors(prepared)) report(prepared, Stage::descriptors);
  reset_signals();
  restore_open_files_limit();
  char* const* environment = prepared.environment.empty() ? ::environ : prepared.environment.data();
  ::execvpe(prepared.argv[0], prepared.argv.data(), environment);
  report(prepared, Stage::exec);
}

[[noreturn]] void throw_failure(const std::string& program, const std::string& folder,
                                const Failure& failure) {
  const std::string reason = errno_text(failure.error);
  if (is_shortage(failure.error))
    throw ShortOfResources(cat("cannot start \"", program, "\": ", reason),
                           "see ulimit -n for open files and ulimit -u for processes");
  if (failure.stage == Stage::descriptors)
    throw Error(cat("cannot start \"", program, "\": its descriptors: ", reason));
  if (failure.stage == Stage::folder)
    throw Error(cat("cannot start \"", program, "\" in the folder ", folder, ": ", reason));
  std::string hint;
  if (failure.error == ENOENT) {
    hint = program.find('/') == program.npos
               ? "is it installed and in PATH? A program in the current folder needs ./"
               : "check the path, and the interpreter named in the file's first line";
  } else if (failure.error == EACCES) {
    hint = "make it executable (chmod +x), or put its interpreter first, as in python3 train.py";
  }
  throw Error(cat("cannot start \"", program, "\": ", reason), hint);
}

int run_prepared(void* prepared) { run_child(*static_cast<const Prepared*>(prepared)); }

#if defined(CLONE_INTO_CGROUP) && defined(__x86_64__)
// Calls clone3 with a stack for the child. The child calls `run` on it, which never returns. The C
// library has no wrapper that does this.
pid_t clone3_with_stack(clone_args& arguments, int (*run)(void*), void* argument) {
  long result = SYS_clone3;
  register int (*child)(void*) asm("r12") = run;
  register void* of_child asm("r13") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(child), "r"(of_child)
      : "rcx", "r11", "memory");
  if (result < 0) errno = static_cast<int>(-result);
  return result < 0 ? -1 : static_cast<pid_t>(result);
}
#endif

// Like fork(), but without the cost of copying this process's page tables. The child uses our
// memory with its own stack, and the calling thread waits until the child has called exec. Signals
// are blocked. Returns -1 and sets errno on failure.
pid_t clone_prepared(Prepared& prepared) {
  constexpr std::size_t alignment = 16;
  // Sized as in execvpe.
  std::vector<char> room(most_of_a_stack + prepared.argv.size() * sizeof(char*));
  const auto begin = reinterpret_cast<std::uintptr_t>(room.data());
  const std::size_t size = room.size() - (begin + room.size()) % alignment;
#if defined(CLONE_INTO_CGROUP) && defined(__x86_64__)
  if (prepared.spec->cgroup_fd >= 0) {
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP | CLONE_VM | CLONE_VFORK;
    arguments.exit_signal = SIGCHLD;
    arguments.stack = begin;
    arguments.stack_size = size;
    arguments.cgroup = static_cast<std::uint64_t>(prepared.spec->cgroup_fd);
    const pid_t pid = clone3_with_stack(arguments, run_prepared, &prepared);
    if (pid > 0) return pid;  // if it failed, this kernel or container does not allow it
  }
#endif
  return ::clone(run_prepared, room.data() + size, CLONE_VM | CLONE_VFORK | SIGCHLD, &prepared);
}

// Works only with some kernels and containers. The child must allocate nothing before exec, because
// the C library's repairs after fork() are skipped.
pid_t fork_into(int cgroup_fd) {
#ifdef CLONE_INTO_CGROUP
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(cgroup_fd);
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
#else
  return -1;
#endif
}

pid_t fork_or_into(int cgroup_fd) {
  const pid_t pid = cgroup_fd < 0 ? -1 : fork_into(cgroup_fd);
  return pid < 0 ? ::fork() : pid;
}

// Calls `start` with all signals blocked. Returns its result in the parent. Signals stay blocked in
// the child.
template <class Start>
pid_t with_signals_blocked(const Start& start) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = start();
  if (pid == 0) return 0;
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    throw ShortOfResources(cat("cannot start a process: ", errno_text(error)),
                           "is the limit of processes (ulimit -u) or memory used up?");
  }
  return pid;
}

}  // namespace

pid_t fork_with_signals_blocked(int cgroup_fd) {
  return with_signals_blocked([&] { return fork_or_into(cgroup_fd); });
}

void ignore_file_size_signal() { ::signal(SIGXFSZ, SIG_IGN); }

pid_t spawn(const SpawnSpec& spec) {
  Pipe failures = make_pipe();  // exec closes it if it succeeds
  Prepared prepared{
      .argv = pointers(spec.argv),
      .environment = spec.environment ? pointers(*spec.environment) : std::vector<char*>{},
      .spec = &spec,
      .cores = core_set(spec.cores),
      .parent = ::getpid(),
      .failure_fd = failures.write.get()};
  const pid_t pid = with_signals_blocked([&] {
    if (shares_memory) return clone_prepared(prepared);
    const pid_t child = fork_or_into(spec.cgroup_fd);
    if (child == 0) run_child(prepared);
    return child;
  });
  // The child does the same, because either may run first.
  if (spec.own_group && !spec.own_session) ::setpgid(pid, pid);
  failures.write.reset();

  Failure failure{};
  ssize_t got = 0;
  do {
    got = ::read(failures.read.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof failure)) {
    wait_for_exit(pid);
    throw_failure(spec.argv[0], spec.folder, failure);
  }
  return pid;
}

int exit_code(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

int wait_for_exit(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return exit_code(status);
}

}  // namespace lockstep
