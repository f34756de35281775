// PolyBench/C 4.2, linear-algebra/blas/syr2k: C := alpha (A B^T + B A^T) + beta C, lower triangle.

#include "polybench.h"

enum { M = SIZE(20, 60, 200), N = SIZE(30, 80, 240) };

static double A[N][M], B[N][M], C[N][N];

KERNEL kernel_syr2k(int n, int m, double alpha, double beta, double C[N][N], double A[N][M], double B[N][M]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) C[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++) C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            A[i][j] = (double)((i * j + 1) % N) / N;
            B[i][j] = (double)((i * j + 2) % M) / M;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) C[i][j] = (double)((i * j + 3) % N) / M;
}

static void run(void) { kernel_syr2k(N, M, 1.5, 1.2, C, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, C); }
