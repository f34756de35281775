// Where satellites are, how fast they are and how thick the air is there, from the elements of their orbits, as
// formulas stand in textbooks. Prints some of it to the last bit.
#include <math.h>
#include <stdio.h>

#define MU 398600.4418 // km^3/s^2, of the earth
#define EARTH 6378.137 // km

typedef struct {
    double axis, eccentricity, inclination, node, perigee, anomaly;
} Orbit;

typedef struct {
    double x, y, z, speed, density;
} Place;

// Kepler's equation, by Newton's method.
static double eccentric_anomaly(double mean, double e) {
    double at = mean;
    for (int step = 0; step < 4; step++) at -= (at - e * sin(at) - mean) / (1 - e * cos(at));
    return at;
}

static Place place(const Orbit *o, double time, double flux) {
    double e = o->eccentricity, motion = sqrt(MU / pow(o->axis, 3.0));
    double half = eccentric_anomaly(o->anomaly + motion * time, e) / 2;
    double u = o->perigee + 2 * atan(sqrt((1 + e) / (1 - e)) * (sin(half) / cos(half)));
    double r = o->axis * (1 - e * e) / (1 + e * cos(u - o->perigee)), node = o->node, i = o->inclination;
    return (Place){
        .x = r * (cos(node) * cos(u) - sin(node) * sin(u) * cos(i)),
        .y = r * (sin(node) * cos(u) + cos(node) * sin(u) * cos(i)),
        .z = r * sin(u) * sin(i),
        .speed = pow(MU * (2 / r - 1 / o->axis), 0.5),
        .density = 0.28 * exp((EARTH + 150 - r) / 60) * exp((flux - 150) * 0.01),
    };
}

int main(void) {
    double x = 0, y = 0, z = 0, speed = 0, density = 0;
    for (int i = 0; i < 400000; i++) {
        Orbit o = {6700 + i % 97, 0.001 + i % 31 * 1e-4, 0.9 + i % 13 * 0.01, i % 61 * 0.1, i % 17 * 0.3, i % 7};
        Place p = place(&o, i % 5400, 100 + i % 100);
        x += fabs(p.x), y += fabs(p.y), z += fabs(p.z), speed += p.speed, density += p.density;
        if (i % 40000 == 0) printf("%.17g %.17g %.17g %.17g %.17g\n", x, y, z, speed, density);
    }
    printf("%.17g %.17g %.17g %.17g %.17g\n", x, y, z, speed, density);
    return 0;
}
