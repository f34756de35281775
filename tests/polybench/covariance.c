// PolyBench/C 4.2, datamining/covariance: the covariance matrix of the columns of a table.

#include "polybench.h"

enum { M = SIZE(28, 80, 240), N = SIZE(32, 100, 260) };

static double data[N][M], cov[M][M], mean[M];

KERNEL kernel_covariance(int m, int n, double float_n, double data[N][M], double cov[M][M], double mean[M]) {
    for (int j = 0; j < m; j++) {
        mean[j] = 0;
        for (int i = 0; i < n; i++) mean[j] += data[i][j];
        mean[j] /= float_n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) data[i][j] -= mean[j];
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            cov[i][j] = 0;
            for (int k = 0; k < n; k++) cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= float_n - 1.0;
            cov[j][i] = cov[i][j];
        }
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) data[i][j] = (double)i * j / M;
}

static void run(void) { kernel_covariance(M, N, N, data, cov, mean); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, cov); }
