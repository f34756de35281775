/* Runs two versions of functions on the same inputs and says what each did.
 *
 * Linked with a module that `compiled/text.rs` writes, which has the functions, a table of them and of the variables that
 * they may change, and what stands for everything that they call: it comes back here (`outside_*`).
 *
 * Each run is a process of its own, forked from this one: so both versions meet the same memory at the same addresses,
 * and one that crashes takes nothing along. Memory is there wherever a run reaches, except for the lowest addresses: a
 * page that is not there is made up from the seed and its address. The stack of a run begins as zeros; what points there
 * counts as one value, since the two versions lay it out in their own ways.
 *
 * A run that has begun may take memory and end, and is refused every other system call: the functions, and what they
 * really call, open no file, start no process and do not communicate. Where the system cannot promise that, nothing
 * runs.
 *
 * A run is read from standard input, two outcomes are written to standard output. BASE, PAGES and PAGE are where
 * pointers lead: PAGES pages of PAGE bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum status { RETURNED, LEFT, STEPS, MEMORY, MISSING, CRASHED, TIMED_OUT, UNCONFINED };

struct outcome {
    uint32_t status, signal;
    uint64_t memory, told;
    uint8_t result[64];
};

struct variable {
    void *at;
    uint64_t size;
};

typedef void version(const uint8_t *in, uint8_t *out);
extern version *const outside_versions[];
extern const struct variable outside_variables[];
extern const uint64_t outside_variables_count;

/* The operating system's, where accesses fault. */
#define MACHINE_PAGE 4096ull
#define LOWEST 65536ull
#define STACK 0x2000000000ull
#define STACK_SIZE (16ull << 20)
/* How much a run may reach, and how long it may take: steps are counted, seconds only end a run that makes none. */
#define REACHED 512
#define STEPS_BEFORE 100000
#define SECONDS 10
/* Processor time of all runs of a function together, beyond which no other one begins. */
#define ALL_SECONDS 20
#define TIME_IS_OVER 2
#define PRIVATE_MEMORY (4ull << 30)

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

static struct outcome *outcome;
static uint64_t seed, steps;
static uint64_t reached[REACHED];
static int reached_count;
static const uint8_t *in;
static version *running;

static uint64_t mix(uint64_t n) {
    n += 0x9e3779b97f4a7c15ull;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
    n = (n ^ n >> 27) * 0x94d049bb133111ebull;
    return n ^ n >> 31;
}

/* With bytes left before and behind. */
static uint64_t pointer(uint64_t n) { return BASE + n % PAGES * PAGE + PAGE / 4; }

/* A word of memory: a pointer, a small number, two of them, or anything. */
static uint64_t word(uint64_t n) {
    uint64_t rest = n >> 2;
    switch (n & 3) {
    case 0: return pointer(rest);
    case 1: return rest & 7;
    case 2: return (rest & 7) << 32 | (rest >> 3 & 7);
    default: return mix(n);
    }
}

static void fill(uint8_t *bytes, uint64_t size, uint64_t at) {
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t value = word(mix(seed ^ mix(at + i)));
        memcpy(bytes + i, &value, size - i < 8 ? size - i : 8);
    }
}

static int in_stack(uint64_t n) { return n - STACK < STACK_SIZE; }

static uint64_t digest(const uint8_t *bytes, uint64_t size) {
    uint64_t sum = mix(size);
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t value = 0;
        memcpy(&value, bytes + i, size - i < 8 ? size - i : 8);
        sum = mix(sum ^ (in_stack(value) ? STACK : value));
    }
    return sum;
}

/* Ends the run. Memory that it has reached and left as it was does not count. */
static void finish(enum status status) {
    static uint8_t original[MACHINE_PAGE];
    outcome->status = status;
    outcome->memory = 0;
    for (int i = 0; i < reached_count; i++) {
        fill(original, MACHINE_PAGE, reached[i]);
        uint64_t now = digest((const uint8_t *)reached[i], MACHINE_PAGE);
        if (now != digest(original, MACHINE_PAGE)) outcome->memory += mix(now ^ reached[i]);
    }
    for (uint64_t i = 0; i < outside_variables_count; i++)
        outcome->memory += mix(i ^ digest(outside_variables[i].at, outside_variables[i].size));
    _exit(0);
}

static void reach(int number, siginfo_t *info, void *context) {
    uint64_t at = (uint64_t)info->si_addr & -MACHINE_PAGE;
    (void)context;
    if (reached_count == REACHED) finish(MEMORY);
    int writes = PROT_READ | PROT_WRITE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (at < LOWEST || in_stack(at) || mmap((void *)at, MACHINE_PAGE, writes, flags, -1, 0) != (void *)at) {
        /* The access is tried again, and is the end. */
        signal(number, SIG_DFL);
        return;
    }
    fill((uint8_t *)at, MACHINE_PAGE, at);
    reached[reached_count++] = at;
}

/* The function of the call that is being described, what is known of it, and what it was given. */
static uint64_t call, kind, targets[8];
static int targets_count;

enum { WRITES = 1, OBSERVES = 2, ENDS = 4 };
enum { INTEGER, TRUTH, POINTER, FLOAT, DOUBLE };

void outside_step(void) {
    if (steps-- == 0) finish(STEPS);
}

void outside_missing(void) { finish(MISSING); }

void outside_begin(uint64_t callee, uint64_t what) {
    kind = what;
    call = mix(callee);
    targets_count = 0;
    if (kind & (WRITES | OBSERVES)) call = mix(call ^ outcome->told);
}

void outside_argument(const uint8_t *at, uint64_t size, uint64_t class) {
    uint64_t value = 0;
    memcpy(&value, at, size < 8 ? size : 8);
    if (class == POINTER && in_stack(value)) value = STACK;
    /* Which NaN arithmetic gives is open. */
    if (class == FLOAT && (value & 0x7fffffff) > 0x7f800000) value = 0x7fc00000;
    if (class == DOUBLE && (value & ~(1ull << 63)) > 0x7ffull << 52) value = 0x7ff8ull << 48;
    if (class == POINTER && value - BASE < PAGES * PAGE && targets_count < 8) targets[targets_count++] = value;
    call = mix(call ^ value);
    if (size > 8) call = mix(call ^ digest(at + 8, size - 8));
}

/* All arguments are there: what may write is told, and changes a byte behind each pointer that it was given. */
void outside_called(void) {
    if (kind & WRITES) {
        outcome->told = mix(outcome->told ^ call);
        for (int i = 0; i < targets_count; i++) *(uint8_t *)targets[i] = mix(call + i) & 7;
    }
    if (kind & ENDS) finish(LEFT);
}

void outside_result(uint8_t *to, uint64_t size, uint64_t class) {
    uint64_t n = call = mix(call + 1);
    uint64_t value = class == TRUTH ? n & 1 : class == POINTER ? pointer(n) : n & 1 ? n >> 1 & 15 : mix(n);
    double number = (int64_t)(n >> 8) % 1000 / 8.0;
    float single = number;
    if (class == DOUBLE) memcpy(&value, &number, 8);
    if (class == FLOAT) memcpy(&value, &single, 4);
    memset(to, 0, size);
    memcpy(to, &value, size < 8 ? size : 8);
}

static void begin(void) {
    running(in, outcome->result);
    finish(RETURNED);
}

#define ALLOW(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Gives up everything but memory, signals of its own, and the end. */
static int confine(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_brk),
        ALLOW(SYS_rt_sigaction), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_exit), ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    struct rlimit none = {0, 0}, memory = {PRIVATE_MEMORY, PRIVATE_MEMORY};
    return setrlimit(RLIMIT_CORE, &none) == 0 && setrlimit(RLIMIT_DATA, &memory) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void run(const uint8_t *arguments, version *function, uint64_t most) {
    static uint8_t apart[65536];
    static ucontext_t context, here;
    stack_t signals = {.ss_sp = apart, .ss_size = sizeof apart};
    struct sigaction on_fault = {.sa_sigaction = reach, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&signals, NULL);
    sigaction(SIGSEGV, &on_fault, NULL);
    sigaction(SIGBUS, &on_fault, NULL);
    alarm(SECONDS);
    in = arguments, running = function, steps = most;
    /* In half of the runs variables hold anything. */
    for (uint64_t i = 0; seed & 1 && i < outside_variables_count; i++)
        fill(outside_variables[i].at, outside_variables[i].size, i << 48);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE;
    if (mmap((void *)STACK, STACK_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) != (void *)STACK) _exit(1);
    getcontext(&context);
    context.uc_stack.ss_sp = (void *)STACK;
    context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&context, begin, 0);
    if (!confine()) {
        outcome->status = UNCONFINED;
        _exit(0);
    }
    swapcontext(&here, &context);
}

static int time_is_over(void) {
    struct rusage used;
    return getrusage(RUSAGE_CHILDREN, &used) == 0 && used.ru_utime.tv_sec + used.ru_stime.tv_sec >= ALL_SECONDS;
}

int main(void) {
    struct { uint32_t function, size; uint64_t seed; } head;
    static uint8_t arguments[65536] __attribute__((aligned(64)));
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED) return 1;
    while (!time_is_over() && fread(&head, sizeof head, 1, stdin) == 1) {
        if (head.size > sizeof arguments || fread(arguments, 1, head.size, stdin) != head.size) return 1;
        seed = head.seed;
        for (int version = 0; version < 2; version++) {
            memset(outcome, 0, sizeof *outcome);
            pid_t child = fork();
            if (child < 0) return 1;
            if (child == 0) run(arguments, outside_versions[2 * head.function + version], STEPS_BEFORE << 2 * version);
            int status;
            if (waitpid(child, &status, 0) < 0) return 1;
            if (WIFSIGNALED(status)) {
                outcome->signal = WTERMSIG(status);
                outcome->status = outcome->signal == SIGALRM ? TIMED_OUT : CRASHED;
            } else if (WEXITSTATUS(status) != 0) {
                return 1;
            }
            fwrite(outcome, sizeof *outcome, 1, stdout);
            /* stdout must hold nothing that a child would write again. */
            fflush(stdout);
        }
    }
    return time_is_over() ? TIME_IS_OVER : 0;
}
