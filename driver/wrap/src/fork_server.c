// A program that waits right before its `main` and runs it in a copy of itself for each caller.
//
// Loaded before everything else (`LD_PRELOAD`), this takes the place of the C library's `__libc_start_main`. By then the
// program is linked and its static objects are made, which for clang and `opt` is most of what a small file costs. It is
// C since nothing else can be loaded into a program in that place without a runtime of its own.
//
// Standard input is the socket to listen on. Standard output is a pipe: when no process holds its other end any more,
// the program ends. A request is a list of words, each ended by a zero byte: the folder to run in, a file for standard
// error,
// the arguments, an empty word, the environment, an empty word. The answer is the status as `wait` gives it, 4 bytes.
//
// Invariant: a copy that could not be brought into the state that was asked for dies by a signal before `main`, so a
// program's own exit code is an answer and everything else is no answer (`fork_server.rs`).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Main(int, char **, char **);

static Main *program;

// Which caller waits for which copy.
static struct {
  pid_t pid;
  int caller;
} *running;
static size_t running_count;

static void *or_die(void *memory) {
  if (!memory) abort();
  return memory;
}

static char *read_request(int caller, char **end) {
  size_t size = 1 << 16, used = 0;
  char *text = or_die(malloc(size));
  for (;;) {
    ssize_t got = read(caller, text + used, size - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) abort();
    if (got == 0) break;
    used += (size_t)got;
    if (used == size) text = or_die(realloc(text, size *= 2));
  }
  *end = text + used;
  return text;
}

static char *word(char **at, char *end) {
  char *zero = memchr(*at, 0, (size_t)(end - *at)), *start = *at;
  // The caller went away in the middle of a request.
  if (!zero) abort();
  *at = zero + 1;
  return start;
}

static char **words(char **at, char *end, int *count) {
  size_t size = 64, used = 0;
  char **list = or_die(malloc(size * sizeof *list));
  while (*(list[used] = word(at, end)))
    if (++used == size) list = or_die(realloc(list, (size *= 2) * sizeof *list));
  list[used] = NULL;
  if (count) *count = (int)used;
  return list;
}

// In the copy.
static int run(int caller) {
  int count;
  char *end, *at = read_request(caller, &end);
  const char *folder = word(&at, end), *said = word(&at, end);
  char **arguments = words(&at, end, &count);
  environ = words(&at, end, NULL);
  close(caller);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC), error = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (null < 0 || error < 0 || chdir(folder)) abort();
  if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(error, 2) < 0) abort();
  close(null);
  close(error);
  return program(count, arguments, environ);
}

static void answer_those_that_ended(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    size_t i = 0;
    while (i < running_count && running[i].pid != pid) i++;
    if (i == running_count) continue;
    int32_t answer = status;
    // The caller may have gone; the answer is then unused.
    send(running[i].caller, &answer, sizeof answer, MSG_NOSIGNAL);
    close(running[i].caller);
    running[i] = running[--running_count];
  }
}

static void wake(int signal) { (void)signal; }

static int serve(int argc, char **argv, char **env) {
  (void)argc, (void)argv, (void)env;
  // A copy that ends interrupts waiting, and nothing else.
  sigset_t ended, usual;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, &usual);
  signal(SIGCHLD, wake);
  for (;;) {
    struct pollfd sources[2] = {{.fd = 0, .events = POLLIN}, {.fd = 1}};
    int ready = ppoll(sources, 2, NULL, &usual);
    answer_those_that_ended();
    if (ready <= 0) continue;
    if (sources[1].revents) return 0;
    int caller = accept4(0, NULL, NULL, SOCK_CLOEXEC);
    if (caller < 0) continue;
    running = or_die(realloc(running, (running_count + 1) * sizeof *running));
    pid_t pid = fork();
    if (pid == 0) {
      signal(SIGCHLD, SIG_DFL);
      sigprocmask(SIG_SETMASK, &usual, NULL);
      for (size_t i = 0; i < running_count; i++) close(running[i].caller);
      return run(caller);
    }
    if (pid < 0) {
      close(caller);
      continue;
    }
    running[running_count].pid = pid;
    running[running_count++].caller = caller;
  }
}

typedef int Start(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

int __libc_start_main(Main *its, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*loader)(void),
                      void *stack) {
  Start *start = (Start *)dlsym(RTLD_NEXT, "__libc_start_main");
  if (!start) abort();
  program = its;
  return start(serve, argc, argv, init, fini, loader, stack);
}
