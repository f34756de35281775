// PolyBench/C 4.2, linear-algebra/solvers/trisolv: solves L x = b with a lower triangle L.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

static double L[N][N], x[N], b[N];

KERNEL kernel_trisolv(int n, double L[N][N], double x[N], double b[N]) {
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++) {
        x[i] = -999;
        b[i] = i;
        for (int j = 0; j <= i; j++) L[i][j] = (double)(i + N - j + 1) * 2 / N;
    }
}

static void run(void) { kernel_trisolv(N, L, x, b); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, x); }
