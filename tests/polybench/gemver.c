// PolyBench/C 4.2, linear-algebra/blas/gemver: two rank-one updates of a matrix and two products with vectors.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

static double A[N][N], u1[N], v1[N], u2[N], v2[N], w[N], x[N], y[N], z[N];

KERNEL kernel_gemver(int n, double alpha, double beta, double A[N][N], double u1[N], double v1[N], double u2[N],
                     double v2[N], double w[N], double x[N], double y[N], double z[N]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x[i] = x[i] + beta * A[j][i] * y[j];
    for (int i = 0; i < n; i++) x[i] = x[i] + z[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w[i] = w[i] + alpha * A[i][j] * x[j];
}

static void initialise(void) {
    for (int i = 0; i < N; i++) {
        double part = (i + 1) / (double)N;
        u1[i] = i;
        u2[i] = part / 2.0;
        v1[i] = part / 4.0;
        v2[i] = part / 6.0;
        y[i] = part / 8.0;
        z[i] = part / 9.0;
        x[i] = 0;
        w[i] = 0;
        for (int j = 0; j < N; j++) A[i][j] = (double)(i * j % N) / N;
    }
}

static void run(void) { kernel_gemver(N, 1.5, 1.2, A, u1, v1, u2, v2, w, x, y, z); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, w); }
