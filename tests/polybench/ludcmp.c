// PolyBench/C 4.2, linear-algebra/solvers/ludcmp: solves A x = b by way of A = L U.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

#include "definite.h"

static double A[N][N], b[N], x[N], y[N];

KERNEL kernel_ludcmp(int n, double A[N][N], double b[N], double x[N], double y[N]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double w = A[i][j];
            for (int k = 0; k < j; k++) w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (int j = i; j < n; j++) {
            double w = A[i][j];
            for (int k = 0; k < i; k++) w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
    for (int i = 0; i < n; i++) {
        double w = b[i];
        for (int j = 0; j < i; j++) w -= A[i][j] * y[j];
        y[i] = w;
    }
    for (int i = n - 1; i >= 0; i--) {
        double w = y[i];
        for (int j = i + 1; j < n; j++) w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
}

static void initialise(void) {
    make_definite(A);
    for (int i = 0; i < N; i++) {
        x[i] = 0;
        y[i] = 0;
        b[i] = (i + 1) / (double)N / 2.0 + 4;
    }
}

static void run(void) { kernel_ludcmp(N, A, b, x, y); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, x); }
