// PolyBench/C 4.2, stencils/jacobi-2d: means of five neighbours in two dimensions.

#include "polybench.h"

enum { TSTEPS = SIZE(20, 40, 100), N = SIZE(30, 90, 250) };

static double A[N][N], B[N][N];

KERNEL kernel_jacobi_2d(int tsteps, int n, double A[N][N], double B[N][N]) {
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = ((double)i * (j + 2) + 2) / N;
            B[i][j] = ((double)i * (j + 3) + 3) / N;
        }
}

static void run(void) { kernel_jacobi_2d(TSTEPS, N, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
