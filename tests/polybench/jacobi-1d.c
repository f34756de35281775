// PolyBench/C 4.2, stencils/jacobi-1d: means of three neighbours in one dimension.

#include "polybench.h"

enum { TSTEPS = SIZE(20, 40, 100), N = SIZE(30, 120, 400) };

static double A[N], B[N];

KERNEL kernel_jacobi_1d(int tsteps, int n, double A[N], double B[N]) {
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < n - 1; i++) A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++) {
        A[i] = ((double)i + 2) / N;
        B[i] = ((double)i + 3) / N;
    }
}

static void run(void) { kernel_jacobi_1d(TSTEPS, N, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
