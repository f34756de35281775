// PolyBench/C 4.2, stencils/seidel-2d: means of nine neighbours in two dimensions, in place.

#include "polybench.h"

enum { TSTEPS = SIZE(20, 40, 100), N = SIZE(40, 120, 400) };

static double A[N][N];

KERNEL kernel_seidel_2d(int tsteps, int n, double A[N][N]) {
    for (int t = 0; t <= tsteps - 1; t++)
        for (int i = 1; i <= n - 2; i++)
            for (int j = 1; j <= n - 2; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                           A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i][j] = ((double)i * (j + 2) + 2) / N;
}

static void run(void) { kernel_seidel_2d(TSTEPS, N, A); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
