/* Immutable polygons: every operation makes a new one. The last few are kept; older ones are freed. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    int64_t corners;
    double (*at)[2];
} shape;

enum { KEPT = 16 };
static shape *kept[KEPT];
static int64_t made;

static shape *new_shape(int64_t corners) {
    shape **slot = &kept[made++ % KEPT];
    if (*slot) free((*slot)->at), free(*slot);
    shape *s = *slot = malloc(sizeof *s);
    s->corners = corners;
    s->at = malloc(sizeof(double[2]) * corners);
    return s;
}

shape *polygon(int64_t corners) {
    shape *s = new_shape(corners);
    for (int64_t i = 0; i < corners; i++) {
        double angle = 2 * M_PI * (double)i / (double)corners;
        s->at[i][0] = cos(angle), s->at[i][1] = sin(angle);
    }
    return s;
}

shape *translate(const shape *s, double dx, double dy) {
    shape *t = new_shape(s->corners);
    for (int64_t i = 0; i < s->corners; i++)
        t->at[i][0] = s->at[i][0] + dx, t->at[i][1] = s->at[i][1] + dy;
    return t;
}

shape *rotate(const shape *s, double angle) {
    shape *t = new_shape(s->corners);
    double c = cos(angle), n = sin(angle);
    for (int64_t i = 0; i < s->corners; i++) {
        double x = s->at[i][0], y = s->at[i][1];
        t->at[i][0] = c * x - n * y, t->at[i][1] = n * x + c * y;
    }
    return t;
}

double distance(const shape *a, const shape *b) {
    double most = 0;
    for (int64_t i = 0; i < a->corners; i++)
        most = fmax(most, hypot(a->at[i][0] - b->at[i][0], a->at[i][1] - b->at[i][1]));
    return most;
}

int64_t shapes_made(void) { return made; }
