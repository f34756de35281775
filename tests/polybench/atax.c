// PolyBench/C 4.2, linear-algebra/kernels/atax: y := A^T (A x).

#include "polybench.h"

enum { M = SIZE(38, 116, 390), N = SIZE(42, 124, 410) };

static double A[M][N], x[N], y[N], tmp[M];

KERNEL kernel_atax(int m, int n, double A[M][N], double x[N], double y[N], double tmp[M]) {
    for (int i = 0; i < n; i++) y[i] = 0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0;
        for (int j = 0; j < n; j++) tmp[i] = tmp[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++) y[j] = y[j] + A[i][j] * tmp[i];
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++) x[i] = 1 + i / (double)N;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) A[i][j] = (double)((i + j) % N) / (5 * M);
}

static void run(void) { kernel_atax(M, N, A, x, y, tmp); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, y); }
