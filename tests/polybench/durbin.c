// PolyBench/C 4.2, linear-algebra/solvers/durbin: solves the Yule-Walker equations of a Toeplitz matrix.

#include "polybench.h"

enum { N = SIZE(40, 120, 400) };

static double r[N], y[N];

KERNEL kernel_durbin(int n, double r[N], double y[N]) {
    double z[N];
    y[0] = -r[0];
    double beta = 1, alpha = -r[0];
    for (int k = 1; k < n; k++) {
        beta = (1 - alpha * alpha) * beta;
        double sum = 0;
        for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
}

static void initialise(void) {
    for (int i = 0; i < N; i++) r[i] = N + 1 - i;
}

static void run(void) { kernel_durbin(N, r, y); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, y); }
