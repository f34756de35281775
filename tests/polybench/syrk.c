// PolyBench/C 4.2, linear-algebra/blas/syrk: C := alpha A A^T + beta C, lower triangle.

#include "polybench.h"

enum { M = SIZE(20, 60, 200), N = SIZE(30, 80, 240) };

static double A[N][M], C[N][N];

KERNEL kernel_syrk(int n, int m, double alpha, double beta, double C[N][N], double A[N][M]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) C[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k];
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) A[i][j] = (double)((i * j + 1) % N) / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) C[i][j] = (double)((i * j + 2) % M) / M;
}

static void run(void) { kernel_syrk(N, M, 1.5, 1.2, C, A); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, C); }
