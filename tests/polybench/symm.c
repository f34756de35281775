// PolyBench/C 4.2, linear-algebra/blas/symm: C := alpha A B + beta C, A symmetric; its lower triangle is read.

#include "polybench.h"

enum { M = SIZE(20, 60, 200), N = SIZE(30, 80, 240) };

static double A[M][M], B[M][N], C[M][N];

KERNEL kernel_symm(int m, int n, double alpha, double beta, double C[M][N], double A[M][M], double B[M][N]) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double temp2 = 0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp2 += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
        }
}

static void initialise(void) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] = (double)((i + j) % 100) / M;
            B[i][j] = (double)((N + i - j) % 100) / M;
        }
    for (int i = 0; i < M; i++) {
        for (int j = 0; j <= i; j++) A[i][j] = (double)((i + j) % 100) / M;
        // What must not be read.
        for (int j = i + 1; j < M; j++) A[i][j] = -999;
    }
}

static void run(void) { kernel_symm(M, N, 1.5, 1.2, C, A, B); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, C); }
