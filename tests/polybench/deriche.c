// PolyBench/C 4.2, medley/deriche: a recursive filter that finds edges, over rows and columns in both directions.

#include "polybench.h"

enum { W = SIZE(64, 192, 720), H = SIZE(64, 128, 480) };

static float imgIn[W][H], imgOut[W][H], y1[W][H], y2[W][H];

// In place of `expf` and `powf`, because WebAssembly has no library: the series, for small numbers.
static float exponential(float x) {
    float sum = 1, term = 1;
    for (int n = 1; n < 12; n++) {
        term = term * x / n;
        sum += term;
    }
    return sum;
}

KERNEL kernel_deriche(int w, int h, float alpha, float imgIn[W][H], float imgOut[W][H], float y1[W][H],
                      float y2[W][H]) {
    float k = (1 - exponential(-alpha)) * (1 - exponential(-alpha)) /
              (1 + 2 * alpha * exponential(-alpha) - exponential(2 * alpha));
    float a1 = k, a5 = k;
    float a2 = k * exponential(-alpha) * (alpha - 1), a6 = a2;
    float a3 = k * exponential(-alpha) * (alpha + 1), a7 = a3;
    float a4 = -k * exponential(-2 * alpha), a8 = a4;
    float b1 = exponential(-alpha * 0.69314718f);
    float b2 = -exponential(-2 * alpha);
    float c1 = 1, c2 = 1;

    for (int i = 0; i < w; i++) {
        float ym1 = 0, ym2 = 0, xm1 = 0;
        for (int j = 0; j < h; j++) {
            y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = imgIn[i][j];
            ym2 = ym1;
            ym1 = y1[i][j];
        }
    }
    for (int i = 0; i < w; i++) {
        float yp1 = 0, yp2 = 0, xp1 = 0, xp2 = 0;
        for (int j = h - 1; j >= 0; j--) {
            y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = imgIn[i][j];
            yp2 = yp1;
            yp1 = y2[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++) imgOut[i][j] = c1 * (y1[i][j] + y2[i][j]);
    for (int j = 0; j < h; j++) {
        float tm1 = 0, ym1 = 0, ym2 = 0;
        for (int i = 0; i < w; i++) {
            y1[i][j] = a5 * imgOut[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2;
            tm1 = imgOut[i][j];
            ym2 = ym1;
            ym1 = y1[i][j];
        }
    }
    for (int j = 0; j < h; j++) {
        float tp1 = 0, tp2 = 0, yp1 = 0, yp2 = 0;
        for (int i = w - 1; i >= 0; i--) {
            y2[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
            tp2 = tp1;
            tp1 = imgOut[i][j];
            yp2 = yp1;
            yp1 = y2[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++) imgOut[i][j] = c2 * (y1[i][j] + y2[i][j]);
}

static void initialise(void) {
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++) imgIn[i][j] = (float)((313 * i + 991 * j) % 65536) / 65535.0f;
}

static void run(void) { kernel_deriche(W, H, 0.25f, imgIn, imgOut, y1, y2); }

static uint64_t checksum(void) { return FOLD_FLOATS(FOLD_START, imgOut); }
