// More kernels of the shapes that PolyBench has.

#include "calls.h"

#define N 32

typedef double Matrix[N][N];
typedef double Cube[N / 2][N / 2][N / 2];

static Matrix a, b, c, d, e, f, g;
static Cube cube, other;
static double x[N], y[N], z[N], w[N], p[N], q[N], r[N], s[N];

#define SUM(array) sum((const double *)(array), sizeof(array) / sizeof(double))
#define FILL(array) fill((double *)(array), sizeof(array) / sizeof(double))
#define sqrt __builtin_elementwise_sqrt

static void fill_all(void) {
    FILL(a), FILL(b), FILL(c), FILL(d), FILL(e), FILL(f), FILL(g), FILL(cube), FILL(other);
    FILL(x), FILL(y), FILL(z), FILL(w), FILL(p), FILL(q), FILL(r), FILL(s);
}

static void fill_definite(void) {
    fill_all();
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) a[i][j] = a[j][i];
        a[i][i] += N;
    }
}

static void times(Matrix out, Matrix left, Matrix right, double factor) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            out[i][j] = 0;
            for (int k = 0; k < N; k++) out[i][j] += factor * left[i][k] * right[k][j];
        }
}

void k2mm(double alpha, double beta) {
    times(e, a, b, alpha);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            d[i][j] *= beta;
            for (int k = 0; k < N; k++) d[i][j] += e[i][k] * c[k][j];
        }
}

void k3mm(void) {
    times(e, a, b, 1);
    times(f, c, d, 1);
    times(g, e, f, 1);
}

void bicg(int m, int n) {
    for (int i = 0; i < m; i++) x[i] = 0;
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < m; j++) {
            x[j] += z[i] * a[i][j];
            y[i] += a[i][j] * w[j];
        }
    }
}

void doitgen(int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                x[k] = 0;
                for (int l = 0; l < n; l++) x[k] += cube[i][j][l] * a[l][k];
            }
            for (int k = 0; k < n; k++) cube[i][j][k] = x[k];
        }
}

void gesummv(int n, double alpha, double beta) {
    for (int i = 0; i < n; i++) {
        x[i] = y[i] = 0;
        for (int j = 0; j < n; j++) {
            x[i] = a[i][j] * z[j] + x[i];
            y[i] = b[i][j] * z[j] + y[i];
        }
        y[i] = alpha * x[i] + beta * y[i];
    }
}

void gemver(int n, double alpha, double beta) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i][j] = a[i][j] + p[i] * q[j] + r[i] * s[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x[i] = x[i] + beta * a[j][i] * y[j];
    for (int i = 0; i < n; i++) x[i] = x[i] + z[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w[i] = w[i] + alpha * a[i][j] * x[j];
}

void symm(int m, int n, double alpha, double beta) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double total = 0;
            for (int k = 0; k < i; k++) {
                c[k][j] += alpha * b[i][j] * a[i][k];
                total += b[k][j] * a[i][k];
            }
            c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * total;
        }
}

void syr2k(int n, int m, double alpha, double beta) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) c[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++) c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
    }
}

void trmm(int m, int n, double alpha) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++) b[i][j] += a[k][i] * b[k][j];
            b[i][j] = alpha * b[i][j];
        }
}

void cholesky(int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
        for (int k = 0; k < i; k++) a[i][i] -= a[i][k] * a[i][k];
        a[i][i] = sqrt(a[i][i]);
    }
}

void durbin(int n) {
    y[0] = -x[0];
    double beta = 1, alpha = -x[0];
    for (int k = 1; k < n; k++) {
        beta = (1 - alpha * alpha) * beta;
        double total = 0;
        for (int i = 0; i < k; i++) total += x[k - i - 1] * y[i];
        alpha = -(x[k] + total) / beta;
        for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
}

void gramschmidt(int m, int n) {
    for (int k = 0; k < n; k++) {
        double norm = 0;
        for (int i = 0; i < m; i++) norm += a[i][k] * a[i][k];
        b[k][k] = sqrt(norm);
        for (int i = 0; i < m; i++) c[i][k] = a[i][k] / b[k][k];
        for (int j = k + 1; j < n; j++) {
            b[k][j] = 0;
            for (int i = 0; i < m; i++) b[k][j] += c[i][k] * a[i][j];
            for (int i = 0; i < m; i++) a[i][j] = a[i][j] - c[i][k] * b[k][j];
        }
    }
}

void ludcmp(int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double v = a[i][j];
            for (int k = 0; k < j; k++) v -= a[i][k] * a[k][j];
            a[i][j] = v / a[j][j];
        }
        for (int j = i; j < n; j++) {
            double v = a[i][j];
            for (int k = 0; k < i; k++) v -= a[i][k] * a[k][j];
            a[i][j] = v;
        }
    }
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int j = 0; j < i; j++) v -= a[i][j] * y[j];
        y[i] = v;
    }
    for (int i = n - 1; i >= 0; i--) {
        double v = y[i];
        for (int j = i + 1; j < n; j++) v -= a[i][j] * z[j];
        z[i] = v / a[i][i];
    }
}

void covariance(int m, int n) {
    for (int j = 0; j < m; j++) {
        x[j] = 0;
        for (int i = 0; i < n; i++) x[j] += a[i][j];
        x[j] /= n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i][j] -= x[j];
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            b[i][j] = 0;
            for (int k = 0; k < n; k++) b[i][j] += a[k][i] * a[k][j];
            b[i][j] /= n - 1.0;
            b[j][i] = b[i][j];
        }
}

void correlation(int m, int n) {
    for (int j = 0; j < m; j++) {
        x[j] = y[j] = 0;
        for (int i = 0; i < n; i++) x[j] += a[i][j];
        x[j] /= n;
        for (int i = 0; i < n; i++) y[j] += (a[i][j] - x[j]) * (a[i][j] - x[j]);
        y[j] = sqrt(y[j] / n);
        y[j] = y[j] <= 0.1 ? 1.0 : y[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i][j] = (a[i][j] - x[j]) / (sqrt((double)n) * y[j]);
    for (int i = 0; i < m - 1; i++) {
        b[i][i] = 1;
        for (int j = i + 1; j < m; j++) {
            b[i][j] = 0;
            for (int k = 0; k < n; k++) b[i][j] += a[k][i] * a[k][j];
            b[j][i] = b[i][j];
        }
    }
    b[m - 1][m - 1] = 1;
}

void adi(int steps, int n) {
    double one = 1.0 + 2.0 * 0.3, low = -0.3;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) {
            b[0][i] = 1, c[i][0] = 0, d[i][0] = b[0][i];
            for (int j = 1; j < n - 1; j++) {
                c[i][j] = -low / (low * c[i][j - 1] + one);
                d[i][j] = (0.3 * a[j][i - 1] + (1 - 0.6) * a[j][i] + 0.3 * a[j][i + 1] - low * d[i][j - 1]) /
                          (low * c[i][j - 1] + one);
            }
            b[n - 1][i] = 1;
            for (int j = n - 2; j >= 1; j--) b[j][i] = c[i][j] * b[j + 1][i] + d[i][j];
        }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) a[i][j] = 0.5 * (b[i][j] + a[i][j]);
    }
}

void fdtd_2d(int steps, int m, int n) {
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < n; j++) b[0][j] = x[t];
        for (int i = 1; i < m; i++)
            for (int j = 0; j < n; j++) b[i][j] -= 0.5 * (c[i][j] - c[i - 1][j]);
        for (int i = 0; i < m; i++)
            for (int j = 1; j < n; j++) a[i][j] -= 0.5 * (c[i][j] - c[i][j - 1]);
        for (int i = 0; i < m - 1; i++)
            for (int j = 0; j < n - 1; j++) c[i][j] -= 0.7 * (a[i][j + 1] - a[i][j] + b[i + 1][j] - b[i][j]);
    }
}

static void heat_step(Cube to, Cube from, int n) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                to[i][j][k] = 0.125 * (from[i + 1][j][k] - 2.0 * from[i][j][k] + from[i - 1][j][k]) +
                              0.125 * (from[i][j + 1][k] - 2.0 * from[i][j][k] + from[i][j - 1][k]) +
                              0.125 * (from[i][j][k + 1] - 2.0 * from[i][j][k] + from[i][j][k - 1]) + from[i][j][k];
}

void heat_3d(int steps, int n) {
    for (int t = 0; t < steps; t++) heat_step(other, cube, n), heat_step(cube, other, n);
}

CALL(2mm, fill_all(), k2mm(1.5, 1.2), SUM(d))
CALL(3mm, fill_all(), k3mm(), SUM(g))
CALL(bicg, fill_all(), bicg(N - 1, N), SUM(x) + SUM(y))
CALL(doitgen, fill_all(), doitgen(N / 2), SUM(cube))
CALL(gesummv, fill_all(), gesummv(N, 1.5, 1.2), SUM(y))
CALL(gemver, fill_all(), gemver(N, 1.5, 1.2), SUM(w))
CALL(symm, fill_all(), symm(N, N - 2, 1.5, 1.2), SUM(c))
CALL(syr2k, fill_all(), syr2k(N, N - 2, 1.5, 1.2), SUM(c))
CALL(trmm, fill_all(), trmm(N, N - 2, 1.5), SUM(b))
CALL(cholesky, fill_definite(), cholesky(N), SUM(a))
CALL(durbin, fill_all(), durbin(N), SUM(y))
CALL(gramschmidt, fill_definite(), gramschmidt(N, N), SUM(a) + SUM(b))
CALL(ludcmp, fill_definite(), ludcmp(N), SUM(z))
CALL(covariance, fill_all(), covariance(N, N - 2), SUM(b))
CALL(correlation, fill_all(), correlation(N, N - 2), SUM(b))
CALL(adi, fill_all(), adi(4, N), SUM(a))
CALL(fdtd_2d, fill_all(), fdtd_2d(6, N, N), SUM(c))
CALL(heat_3d, fill_all(), heat_3d(3, N / 2), SUM(cube))
