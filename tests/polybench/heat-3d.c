// PolyBench/C 4.2, stencils/heat-3d: heat in three dimensions.

#include "polybench.h"

enum { TSTEPS = SIZE(20, 40, 100), N = SIZE(10, 20, 40) };

static double A[N][N][N], B[N][N][N];

KERNEL kernel_heat_3d(int tsteps, int n, double A[N][N][N], double B[N][N][N]) {
    for (int t = 1; t <= tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                                 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
                                 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) +
                                 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k]) +
                                 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) A[i][j][k] = B[i][j][k] = (double)(i + j + (N - k)) * 10 / N;
}

static void run(void) { kernel_heat_3d(TSTEPS, N, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, A); }
