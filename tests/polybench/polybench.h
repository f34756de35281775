// The common part of the kernels of PolyBench/C 4.2 (https://polybench.sourceforge.net), for `scripts/polybench.py` and
// `scripts/wasm.sh`. They are written from the published kernels: the same loops and statements on the same sizes and
// initial values, with static arrays. A kernel is a function of its own, which is not inlined and takes sizes and
// arrays as parameters.
//
// The program prints a checksum of all bits of the results: `gemm`, or `gemm 20` to run it 20 times, each time from the
// initial values, and to print the nanoseconds of processor time in the kernel to stderr. As WebAssembly, where there
// is no library, it exports functions without parameters that give the checksum: `call_all`, and `call_rest`, which
// does not call the kernel; and `repeat_kernel`, which does nothing else, on what is in the arrays.

#include <stdint.h>

// The published size of that name; MINI, SMALL or MEDIUM is defined on the command line.
#if defined MINI
#define SIZE(mini, small, medium) mini
#elif defined MEDIUM
#define SIZE(mini, small, medium) medium
#else
#define SIZE(mini, small, medium) small
#endif

#define ALONE __attribute__((noinline))
#define KERNEL ALONE void
#define square_root __builtin_elementwise_sqrt

// What each file defines: gives the arrays their initial values, calls the kernel, and folds the results.
ALONE static void initialise(void);
static void run(void);
ALONE static uint64_t checksum(void);

// FNV-1a, word by word.
#define FOLD_START 0xcbf29ce484222325
#define FOLD(hash, word) (((hash) ^ (word)) * 0x100000001b3)

static inline uint64_t fold_doubles(uint64_t hash, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        __builtin_memcpy(&bits, &values[i], sizeof bits);
        hash = FOLD(hash, bits);
    }
    return hash;
}

static inline uint64_t fold_floats(uint64_t hash, const float *values, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        __builtin_memcpy(&bits, &values[i], sizeof bits);
        hash = FOLD(hash, bits);
    }
    return hash;
}

static inline uint64_t fold_ints(uint64_t hash, const int *values, int count) {
    for (int i = 0; i < count; i++) hash = FOLD(hash, (uint32_t)values[i]);
    return hash;
}

// Of all elements of an array, whatever its rank.
#define FOLD_ALL(fold, type, hash, array) fold(hash, (const type *)(array), sizeof(array) / sizeof(type))
#define FOLD_DOUBLES(hash, array) FOLD_ALL(fold_doubles, double, hash, array)
#define FOLD_FLOATS(hash, array) FOLD_ALL(fold_floats, float, hash, array)
#define FOLD_INTS(hash, array) FOLD_ALL(fold_ints, int, hash, array)

#ifdef __wasm__

// clang makes calls of these of some loops.
__attribute__((no_builtin)) void *memset(void *to, int byte, unsigned long count) {
    for (unsigned char *p = to; count--; p++) *p = byte;
    return to;
}
__attribute__((no_builtin)) void *memcpy(void *to, const void *from, unsigned long count) {
    for (unsigned char *p = to; count--;) *p++ = *(const unsigned char *)from++;
    return to;
}

__attribute__((export_name("call_all"))) uint64_t call_all(void) {
    initialise();
    run();
    return checksum();
}

__attribute__((export_name("call_rest"))) uint64_t call_rest(void) {
    initialise();
    return checksum();
}

__attribute__((export_name("repeat_kernel"))) void repeat_kernel(int times) {
    while (times-- > 0) run();
}

#else

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv) {
    long long spent = 0;
    for (int repeats = argc > 1 ? atoi(argv[1]) : 1; repeats > 0; repeats--) {
        initialise();
        long long start = nanoseconds();
        run();
        spent += nanoseconds() - start;
    }
    printf("%016llx\n", (unsigned long long)checksum());
    if (argc > 1) fprintf(stderr, "%lld\n", spent);
    return 0;
}

#endif
