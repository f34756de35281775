// PolyBench/C 4.2, linear-algebra/kernels/mvt: products of a matrix and of its transpose with vectors.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

static double A[N][N], x1[N], x2[N], y_1[N], y_2[N];

KERNEL kernel_mvt(int n, double x1[N], double x2[N], double y_1[N], double y_2[N], double A[N][N]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x1[i] = x1[i] + A[i][j] * y_1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x2[i] = x2[i] + A[j][i] * y_2[j];
}

static void initialise(void) {
    for (int i = 0; i < N; i++) {
        x1[i] = (double)(i % N) / N;
        x2[i] = (double)((i + 1) % N) / N;
        y_1[i] = (double)((i + 3) % N) / N;
        y_2[i] = (double)((i + 4) % N) / N;
        for (int j = 0; j < N; j++) A[i][j] = (double)(i * j % N) / N;
    }
}

static void run(void) { kernel_mvt(N, x1, x2, y_1, y_2, A); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_DOUBLES(FOLD_START, x1), x2); }
