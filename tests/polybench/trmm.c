// PolyBench/C 4.2, linear-algebra/blas/trmm: B := alpha A^T B with a lower triangle A of ones on the diagonal.

#include "polybench.h"

enum { M = SIZE(20, 60, 200), N = SIZE(30, 80, 240) };

static double A[M][M], B[M][N];

KERNEL kernel_trmm(int m, int n, double alpha, double A[M][M], double B[M][N]) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++) B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
}

static void initialise(void) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < i; j++) A[i][j] = (double)((i + j) % M) / M;
        A[i][i] = 1;
        for (int j = 0; j < N; j++) B[i][j] = (double)((N + (i - j)) % N) / N;
    }
}

static void run(void) { kernel_trmm(M, N, 1.5, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, B); }
