// Kernels of linear algebra, stencils and dynamic programming, for `scripts/wasm.sh`: loops as programs have them.
// `call_` fills what a kernel reads, calls it, and returns a number made of what it leaves.

#include "calls.h"

#define N 40

typedef double Matrix[N][N];

void gemm(double alpha, double beta, Matrix c, Matrix a, Matrix b) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) c[i][j] *= beta;
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

void atax(int m, int n, Matrix a, double *x, double *y, double *tmp) {
    for (int i = 0; i < n; i++) y[i] = 0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0;
        for (int j = 0; j < n; j++) tmp[i] += a[i][j] * x[j];
        for (int j = 0; j < n; j++) y[j] += a[i][j] * tmp[i];
    }
}

void mvt(int n, double *x1, double *x2, double *y1, double *y2, Matrix a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x1[i] += a[i][j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x2[i] += a[j][i] * y2[j];
}

void syrk(int n, int m, double alpha, double beta, Matrix c, Matrix a) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) c[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++) c[i][j] += alpha * a[i][k] * a[j][k];
    }
}

void trisolv(int n, Matrix l, double *x, double *b) {
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= l[i][j] * x[j];
        x[i] = x[i] / l[i][i];
    }
}

void lu(int n, Matrix a) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j];
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j];
    }
}

void jacobi_1d(int steps, int n, double *a, double *b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
    }
}

void jacobi_2d(int steps, int n, Matrix a, Matrix b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][1 + j] + a[1 + i][j] + a[i - 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][1 + j] + b[1 + i][j] + b[i - 1][j]);
    }
}

void seidel_2d(int steps, int n, Matrix a) {
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] +
                           a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
}

void floyd_warshall(int n, int path[N][N]) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int through = path[i][k] + path[k][j];
                path[i][j] = path[i][j] < through ? path[i][j] : through;
            }
}

void nussinov(int n, const unsigned char *seq, int table[N][N]) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            int best = table[i][j];
            if (j - 1 >= 0 && table[i][j - 1] > best) best = table[i][j - 1];
            if (i + 1 < n && table[i + 1][j] > best) best = table[i + 1][j];
            if (j - 1 >= 0 && i + 1 < n) {
                int pair = table[i + 1][j - 1] + (i < j - 1 && seq[i] + seq[j] == 3);
                if (pair > best) best = pair;
            }
            for (int k = i + 1; k < j; k++)
                if (table[i][k] + table[k + 1][j] > best) best = table[i][k] + table[k + 1][j];
            table[i][j] = best;
        }
}

static Matrix a, b, c;
static double x[N], y[N], z[N], w[N], v[N];
static int paths[N][N];
static unsigned char bases[N];

#define SUM(array) sum((const double *)(array), sizeof(array) / sizeof(double))

static void fill_all(void) {
    fill(a[0], N * N), fill(b[0], N * N), fill(c[0], N * N);
    fill(x, N), fill(y, N), fill(z, N), fill(w, N), fill(v, N);
    for (int i = 0; i < N; i++) {
        bases[i] = i * 7 % 4;
        for (int j = 0; j < N; j++) paths[i][j] = (i * 13 + j * 7) % 97 + 1;
    }
}

static double sum_of_paths(void) {
    double total = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) total += paths[i][j] * (j + 1);
    return total;
}

CALL(gemm, fill_all(), gemm(1.5, 1.2, c, a, b), SUM(c))
CALL(atax, fill_all(), atax(N, N - 1, a, x, y, z), SUM(y))
CALL(mvt, fill_all(), mvt(N, x, y, z, w, a), SUM(x) + SUM(y))
CALL(syrk, fill_all(), syrk(N, N - 3, 1.5, 1.2, c, a), SUM(c))
CALL(trisolv, fill_all(), trisolv(N, a, x, y), SUM(x))
CALL(lu, fill_all(), lu(N, a), SUM(a))
CALL(jacobi_1d, fill_all(), jacobi_1d(20, N, x, y), SUM(x))
CALL(jacobi_2d, fill_all(), jacobi_2d(5, N, a, b), SUM(a))
CALL(seidel_2d, fill_all(), seidel_2d(5, N, a), SUM(a))
CALL(floyd_warshall, fill_all(), floyd_warshall(N, paths), sum_of_paths())
CALL(nussinov, fill_all(), nussinov(N, bases, paths), sum_of_paths())
