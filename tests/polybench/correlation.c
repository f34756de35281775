// PolyBench/C 4.2, datamining/correlation: the correlation matrix of the columns of a table.

#include "polybench.h"

enum { M = SIZE(28, 80, 240), N = SIZE(32, 100, 260) };

static double data[N][M], corr[M][M], mean[M], stddev[M];

KERNEL kernel_correlation(int m, int n, double float_n, double data[N][M], double corr[M][M], double mean[M],
                          double stddev[M]) {
    double eps = 0.1;
    for (int j = 0; j < m; j++) {
        mean[j] = 0;
        for (int i = 0; i < n; i++) mean[j] += data[i][j];
        mean[j] /= float_n;
    }
    for (int j = 0; j < m; j++) {
        stddev[j] = 0;
        for (int i = 0; i < n; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= float_n;
        stddev[j] = square_root(stddev[j]);
        // A deviation near zero would be divided by.
        stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= square_root(float_n) * stddev[j];
        }
    for (int i = 0; i < m - 1; i++) {
        corr[i][i] = 1;
        for (int j = i + 1; j < m; j++) {
            corr[i][j] = 0;
            for (int k = 0; k < n; k++) corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1;
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) data[i][j] = (double)(i * j) / M + i;
}

static void run(void) { kernel_correlation(M, N, N, data, corr, mean, stddev); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, corr); }
