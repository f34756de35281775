#!/usr/bin/env python3
"""Straight-line MLIR of several shapes, in two versions that differ in every tenth statement.

    scripts/mlir_straight.py write SHAPE FILE LINES [SEED [WRONG]]    FILE.{before,after}.mlir
    scripts/mlir_straight.py run REWRIGHT LINES [SEED ...]            verdicts and processor time of all shapes

Shapes: `widths` (integers of all widths, conversions, truth values), `floats`, `chain` (each value is made of the one
before), `fan` (values are made of arguments only, and all are combined at the end), `once` (each argument is used once),
`select` (comparisons and selections). With WRONG, one statement in the second half has a wrong rewrite, which a store shows.
`run` exits with 1 where a wrong one is proved or a right one is not.
"""
import os, random, re, resource, subprocess, sys, tempfile
from mlir_datapaths import FALSE, TRUE, WRONG, Function, listed, out_type, types

SHAPES = {'widths': ['i8', 'i16', 'i32', 'i64'], 'floats': ['f32', 'f64'], 'chain': ['i32'], 'fan': ['i32', 'i64'],
          'once': ['i32', 'i64'], 'select': ['i16', 'i32']}
PLAIN = {'i': [('addi', 'x', 'y'), ('subi', 'x', 'y'), ('xori', 'x', 'y'), ('muli', 'x', '5'), ('minsi', 'x', 'y'), ('ori', 'x', 'y'),
               ('addi', 'x', '77'), ('maxui', 'x', 'y')],
         'f': [('addf', 'x', 'y'), ('mulf', 'x', 'y'), ('subf', 'x', 'y'), ('maximumf', 'x', 'y'), ('negf', 'x')]}
SELECT = [('select', 'c', 'x', 'y'), ('slt', 'x', 'y'), ('ult', 'x', 'y'), ('addi', 'x', 'y'), ('select', ('eq', 'x', 'y'), 'z', 'x')]
# Undefined behaviour is for the script of pairs.
ROWS = [row for row in listed(TRUE) if not re.search(r'div|rem', str(row[2:]))]


class Code:
    """One version, written statement by statement; the same seed makes the same choices in both."""
    def __init__(self, shape, seed, column):
        self.shape, self.column, self.rng = shape, column, random.Random(f'{shape} {seed}')
        self.f, self.arguments, self.count = Function('i32'), [], 0
        self.used = SHAPES[shape] + ['i1']
        self.pools = {ty: [self.argument(ty) for _ in range(4)] for ty in self.used}

    def argument(self, ty):
        self.arguments.append((f'%a{len(self.arguments)}', ty))
        return self.arguments[-1][0]

    def pick(self, ty, last=False):
        pool = self.pools.setdefault(ty, [])
        if self.shape == 'once' and not last and ty != 'i1' or not pool:
            return self.argument(ty)
        if self.shape == 'fan':
            return pool[self.rng.randrange(4)]
        return pool[-1] if last else pool[-1 - self.rng.randrange(min(len(pool), 12))]

    def expression(self):
        """A type, the two forms and the result's type."""
        ty = self.rng.choice(SHAPES[self.shape])
        if self.count % 10 == 9:
            rows = [row for row in ROWS if ty in types(row[1]) or row[1] == 'bit' and ty[0] == 'i']
            _, kind, before, after = self.rng.choice(rows)
        else:
            before = after = self.rng.choice(SELECT if self.shape == 'select' else PLAIN[ty[0]])
        return ty, before, after

    def statement(self, wrong=None):
        ty, *forms = wrong or self.expression()
        out = out_type(forms[0], ty) or out_type(forms[1], ty) or ty
        self.f.ty, self.f.vars = ty, {'x': ty, 'y': ty, 'z': ty, 'c': 'i1', 'd': 'i1'}
        self.f.vars_at = {'x': self.pick(ty, last=self.shape in ('chain', 'once')), 'y': self.pick(ty), 'z': self.pick(ty),
                          'c': self.pick('i1'), 'd': self.pick('i1')}
        value = self.f.value(forms[self.column], out)
        # Values do not end in few: what is 0, or all bits, whatever it is made of tells nothing apart.
        if self.shape != 'floats' and out == ty:
            value = self.f.op(f'arith.xori {value}, {self.f.vars_at["x"]} : {ty}')
        self.pools.setdefault(out, []).append(value)
        if wrong:
            self.f.lines.append(f'  memref.store {value}, %m{out}[%i7] : memref<8x{out}>')
        elif self.count % 10 == 4:
            self.f.lines.append(f'  memref.store {value}, %m{out}[%i{self.count % 7}] : memref<8x{out}>')
        self.count += 1

    def text(self):
        for ty, pool in sorted(self.pools.items()):
            values = pool if self.shape == 'fan' else pool[-4:]
            name = {'i': 'arith.xori', 'f': 'arith.addf'}[ty[0]]
            while len(values) > 1:
                values = [self.f.op(f'{name} {a}, {b} : {ty}') for a, b in zip(values[::2], values[1::2])] + values[len(values) & ~1:]
            self.f.lines += [f'  memref.store {value}, %m{ty}[%i7] : memref<8x{ty}>' for value in values]
        arguments = [f'{name}: {ty}' for name, ty in self.arguments] + [f'%m{ty}: memref<8x{ty}>' for ty in sorted(self.pools)]
        head = ''.join(f'  %i{n} = arith.constant {n} : index\n' for n in range(8))
        return f'func.func @{self.shape}({", ".join(arguments)}) {{\n{head}' + '\n'.join(self.f.lines) + '\n  return\n}\n'


def wrong_statement(shape, rng):
    rows = {row[0]: row for row in listed(FALSE)}
    if shape == 'floats':
        names = ['float_sum', 'float_negate', 'float_third', 'float_square']
    else:
        names = WRONG['seen']
    _, _, before, after = rows[rng.choice(names)]
    return SHAPES[shape][-1], before, after


def write(shape, path, lines, seed=1, wrong=None):
    first = Code(shape, seed, 0)
    while len(first.f.lines) < int(lines):
        first.statement()
    statements, rng = first.count, random.Random(f'{shape} {seed} wrong')
    at, instead = rng.randrange(statements // 2, statements - 1), wrong_statement(shape, rng)
    for column, what in enumerate(('before', 'after')):
        code = Code(shape, seed, column)
        for n in range(statements):
            code.statement(instead if wrong and n == at else None)
        with open(f'{path}.{what}.mlir', 'w') as file:
            file.write(code.text())


def run(rewright, lines, *seeds):
    failed = 0
    for seed in seeds or ('1',):
        for shape in SHAPES:
            for wrong in (None, 'wrong'):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, shape)
                    write(shape, path, lines, seed, wrong)
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    done = subprocess.run([rewright, 'validate', f'{path}.before.mlir', f'{path}.after.mlir'],
                                          capture_output=True, text=True)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                verdict = (done.stdout or done.stderr).partition('\n')[0]
                print(f'{shape}, seed {seed}, {lines} lines, {wrong or "right"}: {took:.1f} s: {verdict[:300]}', flush=True)
                failed += (': proved' in verdict) != (wrong is None)
    return 1 if failed else 0


if __name__ == '__main__':
    commands = {'write': write, 'run': run}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
