// PolyBench/C 4.2, linear-algebra/blas/gesummv: y := alpha A x + beta B x.

#include "polybench.h"

enum { N = SIZE(30, 90, 250) };

static double A[N][N], B[N][N], tmp[N], x[N], y[N];

KERNEL kernel_gesummv(int n, double alpha, double beta, double A[N][N], double B[N][N], double tmp[N], double x[N],
                      double y[N]) {
    for (int i = 0; i < n; i++) {
        tmp[i] = 0;
        y[i] = 0;
        for (int j = 0; j < n; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++) {
        x[i] = (double)(i % N) / N;
        for (int j = 0; j < N; j++) {
            A[i][j] = (double)((i * j + 1) % N) / N;
            B[i][j] = (double)((i * j + 2) % N) / N;
        }
    }
}

static void run(void) { kernel_gesummv(N, 1.5, 1.2, A, B, tmp, x, y); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, y); }
