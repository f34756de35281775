#!/usr/bin/env python3
"""Pairs of datapaths of MLIR, true and false ones, and what `rewright validate` says of them.

    scripts/mlir_datapaths.py write FOLDER            write the listed pairs (tests/mlir/datapath)
    scripts/mlir_datapaths.py run REWRIGHT SEED N     N random true pairs, N random false ones: verdicts
    scripts/mlir_datapaths.py long FILE LINES [SEED [WRONG]]  a function of so many lines, FILE.{before,after}.mlir
    scripts/mlir_datapaths.py scale REWRIGHT SEED LINES ...    verdicts and processor time of such functions, also wrong ones

A pair is two expressions over x, y, z of a type T, `U` the type of twice its width, and c, d of type i1. Listed pairs
stand in a function of scalars or in a loop. Random ones are listed identities at other types, with operands that are
expressions themselves, in the middle of others. Of the random false ones each gives another value on some input, which
is computed here.
"""
import math, os, random, re, resource, struct, subprocess, sys, tempfile

INT, FLOAT = ['i8', 'i16', 'i32', 'i64'], ['f32', 'f64']
WIDE = {'i8': 'i16', 'i16': 'i32', 'i32': 'i64'}
COMPARE = {'eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge'}
FCOMPARE = {'oeq', 'ogt', 'oge', 'olt', 'ole', 'one', 'ord', 'ueq', 'fugt', 'fuge', 'fult', 'fule', 'une', 'uno'}

# name, types, expression, the same expression in another form
TRUE = '''
demorgan_and   int   (xori (andi x y) -1)                 (ori (xori x -1) (xori y -1))
demorgan_or    int   (xori (ori x y) -1)                  (andi (xori x -1) (xori y -1))
times_8        int   (muli x 8)                           (shli x 3)
distribute     int   (muli x (addi y z))                  (addi (muli x y) (muli x z))
distribute_sub int   (muli (subi x y) z)                  (subi (muli x z) (muli y z))
associate      int   (addi (addi x y) z)                  (addi x (addi y z))
associate_mul  int   (muli (muli x y) z)                  (muli x (muli z y))
carry          int   (addi x y)                           (addi (xori x y) (shli (andi x y) 1))
subtract       int   (subi x y)                           (addi x (addi (xori y -1) 1))
twice          int   (muli x 2)                           (addi x x)
difference     int   (addi (subi x x) y)                  y
exclusive      int   (ori (xori x x) y)                   y
absorb_and     int   (andi x (ori x y))                   x
absorb_or      int   (ori x (andi x y))                   x
or_minus_and   int   (subi (ori x y) (andi x y))          (xori x y)
or_plus_and    int   (addi (ori x y) (andi x y))          (addi x y)
factor_bits    int   (ori (andi x y) (andi x z))          (andi x (ori y z))
xor_by_or      int   (xori x y)                           (andi (ori x y) (xori (andi x y) -1))
or_by_xor      int   (ori x y)                            (xori (xori x y) (andi x y))
divide_8       int   (divui x 8)                          (shrui x 3)
modulo_8       int   (remui x 8)                          (andi x 7)
times_3        int   (muli x 3)                           (addi (shli x 1) x)
times_7        int   (muli x 7)                           (subi (shli x 3) x)
negate         int   (subi 0 x)                           (addi (xori x -1) 1)
complement     int   (xori x -1)                          (subi -1 x)
negate_sum     int   (subi 0 (addi x y))                  (subi (subi 0 x) y)
negate_product int   (muli (subi 0 x) (subi 0 y))         (muli x y)
direction      int   (slt x y)                            (sgt y x)
inverse        int   (xori (slt x y) true)                (sge x y)
inverse_u      int   (xori (ult x y) true)                (ule y x)
equal_by_sub   int   (eq (subi x y) 0)                    (eq x y)
differ_by_xor  int   (ne (xori x y) 0)                    (ne x y)
below_one      int   (ult x 1)                            (eq x 0)
less_or_equal  int   (ori (slt x y) (eq x y))             (sle x y)
same_arms      int   (select c x x)                       x
swapped_arms   int   (select (xori c true) x y)           (select c y x)
minimum        int   (select (slt x y) x y)               (minsi x y)
maximum_u      int   (select (ugt x y) x y)               (maxui x y)
least_most     int   (addi (minsi x y) (maxsi x y))       (addi x y)
absolute       int   (select (slt x 0) (subi 0 x) x)      (absi x)
arms_of_sum    int   (select c (addi x y) (addi x z))     (addi x (select c y z))
shift_chain    int   (shli (shli x 2) 3)                  (shli x 5)
shift_back     int   (shli (shrui x 4) 4)                 (andi x -16)
shift_sum      int   (addi (shli x 2) (shli y 2))         (shli (addi x y) 2)
shift_and      int   (andi (shrui x 3) (shrui y 3))       (shrui (andi x y) 3)
by_one         int   (divsi x 1)                          x
by_zero        int   (addi (muli x 0) y)                  y
quotient       int   (addi (muli (divui x 10) 10) (remui x 10))  x
sign_bit       int   (slt x 0)                            (ne (andi x (shli 1 top)) 0)
round_trip_u   wide  (trunci (extui x))                   x
round_trip_s   wide  (trunci (extsi x))                   x
low_sum        wide  (trunci (addi (extui x) (extui y)))  (addi x y)
low_product    wide  (trunci (muli (extsi x) (extsi y)))  (muli x y)
extended_bits  wide  (extui (andi x y))                   (andi (extui x) (extui y))
extended_less  wide  (ult (extui x) (extui y))            (ult x y)
extended_s     wide  (slt (extsi x) (extsi y))            (slt x y)
mean_wide      wide  (trunci (shrui (addi (extui x) (extui y)) 1))  (addi (andi x y) (shrui (xori x y) 1))
truth_demorgan bit   (xori (andi c d) true)               (ori (xori c true) (xori d true))
truth_xor      bit   (xori c d)                           (ne c d)
truth_select   bit   (select c d false)                   (andi c d)
truth_self     bit   (select c true false)                c
truth_majority bit   (ori (andi c d) (andi c (xori d true)))  c
f_twice        float (mulf x 2.0)                         (addf x x)
f_subtract     float (subf x y)                           (addf x (negf y))
f_negate_twice float (negf (negf x))                      x
f_abs_negated  float (absf (negf x))                      (absf x)
f_commute      float (mulf (addf x y) z)                  (mulf z (addf y x))
f_times_one    float (mulf x 1.0)                         x
f_minus_zero   float (subf x 0.0)                         x
f_plus_minus_zero float (addf x -0.0)                     x
f_signs        float (mulf (negf x) (negf y))             (mulf x y)
f_sign_out     float (mulf (negf x) y)                    (negf (mulf x y))
f_half         float (divf x 2.0)                         (mulf x 0.5)
f_direction    float (olt x y)                            (ogt y x)
f_not_less     float (xori (olt x y) true)                (fuge x y)
f_abs_twice    float (absf (absf x))                      (absf x)
f_minus_one    float (mulf x -1.0)                        (negf x)
'''
FALSE = '''
mul_div        int   (divsi (muli x y) (ori z 1))         (muli x (divsi y (ori z 1)))
self_quotient  int   (divsi x x)                          1
float_quotient float (divf x x)                           1.0
float_sum      float (addf (addf x y) z)                  (addf x (addf y z))
float_product  float (mulf (mulf x y) z)                  (mulf x (mulf y z))
float_distribute float (mulf x (addf y z))                (addf (mulf x y) (mulf x z))
float_cancel   float (addf (subf x y) y)                  x
float_self     float (subf x x)                           0.0
float_zero     float (mulf x 0.0)                         0.0
float_plus_zero float (addf x 0.0)                        x
float_negate   float (subf 0.0 x)                         (negf x)
float_third    float (divf x 3.0)                         (mulf x 0.3333333333333333)
float_order    float (xori (olt x y) true)                (oge x y)
float_equal    float (oeq x x)                            true
float_minimum  float (select (olt x y) x y)               (minimumf x y)
float_square   float (sqrt (mulf x x))                    (absf x)
float_sub_swap float (subf x y)                           (negf (subf y x))
halve          int   (divsi x 2)                          (shrsi x 1)
remainder      int   (remsi x 8)                          (andi x 7)
shift_forth    int   (shrui (shli x 1) 1)                 x
shift_back     int   (shli (shrui x 1) 1)                 x
mean           int   (shrui (addi x y) 1)                 (addi (shrui x 1) (shrui y 1))
less_by_sign   int   (slt (subi x y) 0)                   (slt x y)
not_less       int   (xori (slt x y) true)                (slt y x)
signedness     int   (slt x y)                            (ult x y)
swapped        int   (select c x y)                       (select c y x)
minimum_u      int   (minsi x y)                          (minui x y)
successor      int   (sgt (addi x 1) x)                   true
demorgan_wrong int   (xori (andi x y) -1)                 (andi (xori x -1) (xori y -1))
twice_off      int   (muli x 2)                           (shli x 2)
times_7_off    int   (muli x 7)                           (subi (shli x 3) 1)
abs_negated    int   (subi 0 (absi x))                    x
divide_10      int   (divui x 10)                         (shrui x 3)
extension      wide  (extui x)                            (extsi x)
wide_sum       wide  (extui (addi x y))                   (addi (extui x) (extui y))
wide_product   wide  (extsi (muli x y))                   (muli (extsi x) (extsi y))
truncated      wide  (extui (trunci (extsi x)))           (extsi x)
truth_or       bit   (ori c d)                            (xori c d)
truth_implies  bit   (ori (xori c true) d)                (ori c (xori d true))
'''


def parse(text):
    tokens = re.findall(r'[()]|[^\s()]+', text)
    def read(at):
        if tokens[at] != '(':
            return tokens[at], at + 1
        items, at = [], at + 1
        while tokens[at] != ')':
            item, at = read(at)
            items.append(item)
        return tuple(items), at + 1
    found, at = [], 0
    while at < len(tokens):
        item, at = read(at)
        found.append(item)
    return found


def listed(text):
    for line in filter(None, text.splitlines()):
        name, kind, rest = line.split(None, 2)
        before, after = parse(rest)
        yield name, kind, before, after


class Function:
    """Writes an expression as operations."""
    def __init__(self, ty, indent='  '):
        self.ty, self.lines, self.count, self.indent = ty, [], 0, indent

    def op(self, text):
        self.count += 1
        self.lines.append(f'{self.indent}%{self.count} = {text}')
        return f'%{self.count}'

    def constant(self, text, ty):
        width = int(ty[1:])
        if text == 'true' or text == 'false':
            return self.op(f'arith.constant {text}')
        if ty[0] == 'f':
            return self.op(f'arith.constant {text} : {ty}')
        number = width - 1 if text == 'top' else int(text)
        return self.op(f'arith.constant {number} : {ty}')

    def type_of(self, e):
        """The type; None of a constant."""
        if isinstance(e, str):
            return self.vars.get(e, 'i1' if e in ('true', 'false') else None)
        name = e[0]
        if name in COMPARE or name in FCOMPARE:
            return 'i1'
        if name in ('extui', 'extsi'):
            return WIDE[self.type_of(e[1])]
        if name == 'trunci':
            inner = self.type_of(e[1])
            return next(n for n, w in WIDE.items() if w == inner)
        args = e[2:] if name == 'select' else e[1:]
        return next((t for t in map(self.type_of, args) if t), None)

    def value(self, e, ty):
        if isinstance(e, str):
            return self.vars_at[e] if e in self.vars else self.constant(e, ty)
        name, args = e[0], e[1:]
        if name in COMPARE or name in FCOMPARE:
            of = next((t for t in map(self.type_of, args) if t), self.ty)
            a, b = (self.value(x, of) for x in args)
            kind, name = ('cmpf', name.removeprefix('f')) if name in FCOMPARE else ('cmpi', name)
            return self.op(f'arith.{kind} {name}, {a}, {b} : {of}')
        if name == 'select':
            c, a, b = self.value(args[0], 'i1'), self.value(args[1], ty), self.value(args[2], ty)
            return self.op(f'arith.select {c}, {a}, {b} : {ty}')
        if name in ('extui', 'extsi', 'trunci'):
            of = self.type_of(args[0])
            return self.op(f'arith.{name} {self.value(args[0], of)} : {of} to {ty}')
        dialect = 'math' if name in ('absi', 'absf', 'sqrt') else 'arith'
        values = ', '.join([self.value(x, ty) for x in args])
        name, _, flag = name.partition('.')
        return self.op(f'{dialect}.{name} {values}{f" overflow<{flag}>" if flag else ""} : {ty}')


def loop(name, ty, e, out=None):
    f = Function(ty, '    ')
    f.vars = {'x': ty, 'y': ty, 'z': ty, 'c': 'i1', 'd': 'i1'}
    used = sorted(set(re.findall(r'\b[xyzcd]\b', str(e))))
    f.vars_at = {}
    for v in used:
        f.vars_at[v] = f.op(f'affine.load %m{v}[%i] : memref<64x{f.vars[v]}>')
    out = out or f.type_of(e) or ty
    result = f.value(e, out)
    f.lines.append(f'    affine.store {result}, %r[%i] : memref<64x{out}>')
    arguments = ', '.join(f'%m{v}: memref<64x{t}>' for v, t in f.vars.items())
    return (f'func.func @{name}({arguments}, %r: memref<64x{out}>) {{\n  affine.for %i = 0 to 64 {{\n'
            + '\n'.join(f.lines) + '\n  }\n  return\n}\n')


def types(kind):
    return {'int': INT, 'wide': ['i8', 'i16', 'i32'], 'bit': ['i8'], 'float': FLOAT}[kind]


def out_type(e, ty):
    f = Function(ty)
    f.vars = {'x': ty, 'y': ty, 'z': ty, 'c': 'i1', 'd': 'i1'}
    return f.type_of(e)


def write(folder):
    os.makedirs(folder, exist_ok=True)
    for title, text in (('equal', TRUE), ('different', FALSE)):
        sides = ['', '']
        for number, (name, kind, before, after) in enumerate(listed(text)):
            ty = types(kind)[number % len(types(kind))]
            out = out_type(before, ty) or out_type(after, ty) or ty
            for side, e in enumerate((before, after)):
                # Constants take the other side's type.
                sides[side] += scalar_or_loop(number, name, ty, e, out) + '\n'
        for side, what in enumerate(('before', 'after')):
            with open(os.path.join(folder, f'{title}.{what}.mlir'), 'w') as file:
                file.write(f'// Written by `scripts/mlir_datapaths.py write`.\n\n{sides[side].rstrip()}\n')


def scalar_or_loop(number, name, ty, e, out):
    if number % 2:
        return loop(name, ty, e, out)
    f = Function(ty)
    f.vars = {'x': ty, 'y': ty, 'z': ty, 'c': 'i1', 'd': 'i1'}
    f.vars_at = {v: f'%{v}' for v in f.vars}
    result = f.value(e, out)
    arguments = ', '.join(f'%{v}: {t}' for v, t in f.vars.items())
    body = ''.join(line + '\n' for line in f.lines)
    return f'func.func @{name}({arguments}) -> {out} {{\n{body}  return {result} : {out}\n}}\n'


def substituted(e, by):
    if isinstance(e, str):
        return by.get(e, e)
    return (e[0],) + tuple(substituted(x, by) for x in e[1:])


def random_pair(rng, table):
    """A listed pair at another type, its operands expressions, in an expression."""
    name, kind, before, after = rng.choice(table)
    ty = rng.choice(types(kind))
    if kind in ('int', 'wide'):
        inner = lambda v: rng.choice([v, v, ('addi', v, 'x'), ('xori', v, 'y'), ('andi', 'z', v), ('select', 'c', v, 'z'),
                                      ('subi', v, str(rng.randrange(1, 100)))])
    elif kind == 'float':
        inner = lambda v: rng.choice([v, v, ('addf', v, 'x'), ('mulf', v, 'y'), ('negf', v), ('select', 'c', v, 'z')])
    else:
        inner = lambda v: v
    by = {v: inner(v) for v in 'xyz'}
    if kind == 'bit':
        by.update(c=rng.choice(['c', ('slt', 'x', 'y')]), d=rng.choice(['d', ('ult', 'y', 'z')]))
    before, after = substituted(before, by), substituted(after, by)
    out = out_type(before, ty) or out_type(after, ty) or ty
    if out == ty and kind != 'float':
        wrap = rng.choice([lambda e: e, lambda e: ('xori', e, 'y'), lambda e: ('select', 'd', e, 'x'), lambda e: ('subi', 'z', e)])
        before, after = wrap(before), wrap(after)
    if rng.random() < 0.5:
        before, after = after, before
    return name, ty, out, before, after


class Undefined(Exception):
    """What is computed has undefined behaviour."""


def rounded(number, ty):
    if ty == 'f64' or not math.isfinite(number):
        return number
    try:
        return struct.unpack('f', struct.pack('f', number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def divided(x, y):
    if y:
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)


def extreme(x, y, larger):
    """The larger or smaller float, as `maximumf` and `minimumf` choose it."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    order = lambda value: (value, math.copysign(1, value))
    return (max if larger else min)(x, y, key=order)


class Evaluator(Function):
    """The value of an expression: of integers their bits, a NaN for all."""
    def __init__(self, ty, values):
        super().__init__(ty)
        self.vars, self.vars_at = {'x': ty, 'y': ty, 'z': ty, 'c': 'i1', 'd': 'i1'}, values

    def constant(self, text, ty):
        width = int(ty[1:])
        if text in ('true', 'false'):
            return int(text == 'true')
        if ty[0] == 'f':
            return rounded(float(text), ty)
        return (width - 1 if text == 'top' else int(text)) % (1 << width)

    def value(self, e, ty):
        if isinstance(e, str):
            return super().value(e, ty)
        name, args = e[0], e[1:]
        if name in COMPARE or name in FCOMPARE:
            of = next((t for t in map(self.type_of, args) if t), self.ty)
            x, y = (self.value(arg, of) for arg in args)
            if of[0] == 'f':
                name = name.removeprefix('f')
                unordered = math.isnan(x) or math.isnan(y)
                if name in ('ord', 'uno'):
                    return int(unordered == (name == 'uno'))
                if unordered:
                    return int(name[0] == 'u')
                name = name[1:]
            elif name[0] == 's':
                x, y, name = signed(x, of), signed(y, of), name[1:]
            elif name[0] == 'u':
                name = name[1:]
            return int({'eq': x == y, 'ne': x != y, 'lt': x < y, 'le': x <= y, 'gt': x > y, 'ge': x >= y}[name])
        if name == 'select':
            return self.value(args[1 if self.value(args[0], 'i1') else 2], ty)
        bits = 1 << int(ty[1:])
        if name in ('extui', 'extsi', 'trunci'):
            of = self.type_of(args[0])
            x = self.value(args[0], of)
            return (signed(x, of) if name == 'extsi' else x) % bits
        values = [self.value(arg, ty) for arg in args]
        x, y = values[0], values[-1]
        if ty[0] == 'f':
            return rounded({
                'addf': lambda: x + y, 'subf': lambda: x - y, 'mulf': lambda: x * y, 'divf': lambda: divided(x, y),
                'negf': lambda: -x, 'absf': lambda: abs(x), 'sqrt': lambda: math.sqrt(x) if x >= 0 else math.nan,
                'minimumf': lambda: extreme(x, y, False), 'maximumf': lambda: extreme(x, y, True)}[name](), ty)
        a, b = signed(x, ty), signed(y, ty)
        if name[:3] in ('div', 'rem') and (y == 0 or name[3] == 's' and a == -bits // 2 and b == -1):
            raise Undefined
        quotient = lambda: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return {
            'addi': lambda: x + y, 'subi': lambda: x - y, 'muli': lambda: x * y, 'andi': lambda: x & y, 'ori': lambda: x | y,
            'xori': lambda: x ^ y, 'shli': lambda: x << y, 'shrui': lambda: x >> y, 'shrsi': lambda: a >> y,
            'divui': lambda: x // y, 'remui': lambda: x % y, 'divsi': quotient, 'remsi': lambda: a - b * quotient(),
            'minsi': lambda: min(a, b), 'maxsi': lambda: max(a, b), 'minui': lambda: min(x, y), 'maxui': lambda: max(x, y),
            'absi': lambda: abs(a)}[name]() % bits


def signed(x, ty):
    bits = 1 << int(ty[1:])
    return x - bits if 2 * x >= bits else x


def differs(rng, ty, out, before, after):
    """Whether two expressions are found to differ on an input on which the first one is defined."""
    bits = 1 << int(ty[1:])
    near = [int(n) for n in re.findall(r"'(-?\d+)'", str(before) + str(after))]
    near = [base + sign * n + step for n in near + [0] for base in (0, bits // 2) for sign in (1, -1) for step in (-1, 0, 1)]
    for _ in range(2000):
        def choose():
            if ty[0] == 'f':
                number = rng.choice([0.0, 1.0, 3.0, 0.1, 1e30, 1e-30, 1e300, 1e-300, math.inf, math.nan, rng.random(), rng.uniform(0, 1e6)])
                return rounded(rng.choice([number, -number]), ty)
            return rng.choice([rng.choice(near), rng.randrange(bits), rng.randrange(16)]) % bits
        values = {'x': choose(), 'y': choose(), 'z': choose(), 'c': rng.randrange(2), 'd': rng.randrange(2)}
        try:
            first = Evaluator(ty, values).value(before, out)
        except Undefined:
            continue
        try:
            second = Evaluator(ty, values).value(after, out)
        except Undefined:
            return True
        alike = first == second and math.copysign(1, first) == math.copysign(1, second)
        if not alike and not (first != first and second != second):
            return True
    return False


def run(rewright, seed, count):
    rng = random.Random(int(seed))
    failed = 0
    for title, table, wanted in (('true', list(listed(TRUE)), 'proved'), ('false', list(listed(FALSE)), 'refuted')):
        sides, names = ['', ''], []
        for number in range(int(count)):
            name, ty, out, before, after = random_pair(rng, table)
            found = differs(rng, ty, out, before, after)
            if title == 'true' and found:
                sys.exit(f'{name} of {ty} is not true: {before}, {after}')
            while title == 'false' and not found:
                name, ty, out, before, after = random_pair(rng, table)
                found = differs(rng, ty, out, before, after)
            names.append(f'{name}_{number}')
            for side, e in enumerate((before, after)):
                sides[side] += scalar_or_loop(number, names[-1], ty, e, out)
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f'{what}.mlir') for what in ('before', 'after')]
            for path, text in zip(paths, sides):
                open(path, 'w').write(text)
            text = subprocess.run([rewright, 'validate', *paths], capture_output=True, text=True).stdout
        counts = {}
        for line in text.splitlines():
            found = re.match(r'@?(\w+)_\d+: (\w+)', line.strip())
            if found:
                counts[found[2]] = counts.get(found[2], 0) + 1
                if found[2] != wanted:
                    print(title, line.strip())
                failed += title == 'false' and found[2] == 'proved' or title == 'true' and found[2] == 'refuted'
        print(f'{title} pairs: ' + ', '.join(f'{n} {word}' for word, n in sorted(counts.items())))
    return 1 if failed else 0


# Wrong rewrites of i32: `seen` ones on most inputs, `rare` ones on few.
WRONG = {
    'seen': ['shift_forth', 'mean', 'demorgan_wrong', 'times_7_off', 'halve', 'minimum_u', 'divide_10'],
    'rare': ['(addi x y)  (addi x (select (eq y 1234577) 1234578 y))', '(xori x y)  (select (eq x 7654321) 1 (xori x y))',
             '(subi x y)  (select (eq y 7654321) x (subi x y))', '(andi x y)  (select (slt x -2147483000) x (andi x y))'],
}


def wrong_row(rng, kind):
    if kind == 'rare':
        before, after = parse(rng.choice(WRONG[kind]))
        return 'rare', 'int', before, after
    name = rng.choice(WRONG[kind])
    return next(row for row in listed(FALSE) if row[0] == name)


def straight(seed, column, more, wrong_at=None, wrong=None):
    """One version of straight-line code, written while `more` of its statements and lines; the line of the wrong one."""
    table = [t for t in listed(TRUE) if t[1] == 'int' and out_type(t[2], 'i32') in ('i32', None)]
    rng = random.Random(int(seed))
    f = Function('i32')
    f.vars = {'x': 'i32', 'y': 'i32', 'z': 'i32', 'c': 'i1'}
    f.vars_at = {'x': '%a', 'y': '%b', 'z': '%c0', 'c': '%p'}
    head = ''.join(f'  %i{n} = arith.constant {n} : index\n' for n in range(8))
    count, wrong_line = 0, None
    while more(count, len(f.lines)):
        name, one, two = rng.choice(['addi', 'xori', 'subi', 'muli']), rng.choice('xyz'), rng.choice('xyz')
        row, target, cell = rng.choice(table), rng.choice('xyz'), rng.randrange(7)
        e = row[column] if count % 10 == 9 else (name, one, two if name != 'muli' else str(2 * rng.randrange(50) + 1))
        e = wrong[column] if count == wrong_at else e
        value = f.value(e, 'i32')
        if count == wrong_at:
            wrong_line = len(f.lines) + 1 + head.count('\n')
        f.vars_at[target] = f.op(f'arith.addi {value}, {f.vars_at[target]} : i32')
        if count == wrong_at:
            # Whatever follows, it is seen.
            f.lines.append(f'  memref.store {value}, %m[%i7] : memref<8xi32>')
        if count % 10 == 4:
            f.lines.append(f'  memref.store {f.vars_at[target]}, %m[%i{count % 7}] : memref<8xi32>')
        if count % 10 == 7:
            f.vars_at[target] = f.op(f'memref.load %m[%i{cell}] : memref<8xi32>')
        count += 1
    text = ('func.func @long(%a: i32, %b: i32, %c0: i32, %p: i1, %m: memref<8xi32>) -> i32 {\n' + head
            + '\n'.join(f.lines) + f'\n  return {f.vars_at["x"]} : i32\n}}\n')
    return text, count, wrong_line


def long(path, lines, seed=1, wrong=None):
    """Straight-line code: every tenth statement has an identity's other side; one of the later ones may be wrong."""
    text, statements, _ = straight(seed, 2, lambda count, length: length < int(lines) - 10)
    rng, texts, places = random.Random(f'{seed} {wrong}'), {'before': text}, None
    if wrong:
        at, row = rng.randrange(statements // 2, statements - 1), wrong_row(rng, wrong)
    for column, what in ((2, 'before'), (3, 'after')):
        given = (at, row) if wrong else (None, None)
        texts[what], _, line = straight(seed, column, lambda count, length: count < statements, *given)
        places = (places or []) + [line]
    for what, text in texts.items():
        with open(f'{path}.{what}.mlir', 'w') as file:
            file.write(text)
    if wrong:
        print(f'{row[0]}: computed at line {places[0]} of the first file, {places[1]} of the second')


def scale(rewright, seed, *sizes):
    """Verdicts and processor time of straight-line code, right and wrong, with the exponent from one size to the next."""
    failed, last = 0, {}
    for lines in map(int, sizes):
        for wrong in (None, 'seen', 'rare'):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'long')
                long(path, lines, seed, wrong)
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [rewright, 'validate', f'{path}.before.mlir', f'{path}.after.mlir']
                text = subprocess.run(command, capture_output=True, text=True).stdout
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
            time = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            exponent = ''
            if wrong in last:
                size, other = last[wrong]
                exponent = f', exponent {math.log(time / other) / math.log(lines / size):.2f}'
            last[wrong] = lines, time
            verdict = text.partition('\n')[0]
            print(f'{lines} lines, {wrong or "right"}: {time:.1f} s{exponent}: {verdict[:400]}', flush=True)
            failed += (': proved' in verdict) != (wrong is None)
    return 1 if failed else 0


if __name__ == '__main__':
    commands = {'write': write, 'run': run, 'long': long, 'scale': scale}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
