#!/usr/bin/env python3
"""Certificates of pairs of MLIR files: are genuine ones accepted, and corrupted ones rejected?

    scripts/mlir_certificates.py FOLDER REWRIGHT [SEED [COUNT]]

FOLDER has truth.csv (name,source,target,..). `validate --certificate` writes a certificate for each pair that it proves;
`--check-certificate` must accept it. Then COUNT of those of one sequence are corrupted, each by one change, and must be
rejected: a step left out, put in twice or in another place; a number of copies, a size or a
coefficient changed, so that polynomials have other values at small numbers (else the change is none, and is not counted);
a precondition left out or weakened by one, where `validate` has a counterexample outside of it.
"""
import collections, copy, csv, itertools, json, os, random, subprocess, sys, tempfile


def value(polynomial, at):
    total = 0
    for coefficient, factors in polynomial:
        for factor in factors:
            if 'var' in factor:
                coefficient *= at.get(factor['var'], 0)
            else:
                inner, divisor = factor['floor']
                coefficient *= value(inner, at) // divisor
        total += coefficient
    return total


def variables(polynomial):
    for _, factors in polynomial:
        for factor in factors:
            if 'var' in factor:
                yield factor['var']
            else:
                yield from variables(factor['floor'][0])


def differ(before, after, join):
    """Whether two lists of bounds have other values somewhere among small numbers."""
    names = sorted({v for p in before + after for v in variables(p)})
    points = itertools.product(range(6), repeat=len(names)) if len(names) < 5 else \
        [[random.Random(n).randrange(9) for _ in names] for n in range(2000)]
    for point in points:
        at = dict(zip(names, point))
        if join(value(p, at) for p in before) != join(value(p, at) for p in after):
            return True
    return False


def steps_of(certificate, side):
    return certificate[side]


def name_of(step):
    return step if isinstance(step, str) else next(iter(step))


def polynomials(step):
    """Lists of polynomials in a step, with how they are joined."""
    if isinstance(step, str):
        return []
    (name, inner), = step.items()
    if name == 'once':
        return [([inner], max)]
    if name == 'bounds':
        return [(inner['lower'], max), (inner['upper'], min)]
    if name == 'untile':
        return [(inner['upper'], min)]
    return []


def corrupted(certificate, rng, has_outside):
    """A certificate with one change, and what was changed; none if it is no change."""
    result = copy.deepcopy(certificate)
    side = rng.choice(['before', 'after'])
    steps = result[side]
    kind = rng.choice(['drop', 'twice', 'swap', 'coefficient', 'coefficient', 'number', 'precondition'])
    if kind == 'precondition':
        if not result['precondition'] or not has_outside:
            return None
        n = rng.randrange(len(result['precondition']))
        # A size that the counterexample does not need is none.
        if len(result['precondition']) > 1:
            result['precondition'] = []
        elif rng.random() < 0.5:
            del result['precondition'][n]
        else:
            size, bound = result['precondition'][n].split(' >= ')
            result['precondition'][n] = f'{size} >= {int(bound) - rng.randrange(1, 4)}'
        return kind, result
    if not steps:
        return None
    n = rng.randrange(len(steps))
    if kind == 'drop' and name_of(steps[n]) != 'bounds':
        del steps[n]
        return f'drop {name_of(certificate[side][n])}', result
    if kind == 'twice' and name_of(steps[n]) != 'bounds':
        steps.insert(n, copy.deepcopy(steps[n]))
        return f'twice {name_of(steps[n])}', result
    if kind == 'swap' and n + 1 < len(steps) and steps[n] != steps[n + 1]:
        steps[n], steps[n + 1] = steps[n + 1], steps[n]
        return f'swap {name_of(steps[n])} {name_of(steps[n + 1])}', result
    if kind == 'coefficient':
        lists = [(s, l) for s in range(len(steps)) for l in range(len(polynomials(steps[s])))]
        if not lists:
            return None
        s, l = rng.choice(lists)
        before, join = polynomials(certificate[side][s])[l]
        after, _ = polynomials(steps[s])[l]
        polynomial = rng.choice(after)
        if polynomial and rng.random() < 0.7:
            rng.choice(polynomial)[0] += rng.choice([-1, 1, 2, -3])
        else:
            polynomial.append([rng.choice([-2, -1, 1]), []])
        return (f'coefficient of {name_of(steps[s])}', result) if differ(before, after, join) else None
    if kind == 'number':
        step = steps[n]
        name = name_of(step)
        if name == 'reroll':
            step['reroll'] = rng.choice([k for k in (0, 1, 2, 3, 4, 5, 6, 8) if k != step['reroll']])
        elif name == 'untile':
            step['untile']['size'] += rng.choice([-1, 1, 2])
        elif name == 'split':
            if step['split']['floors'] and rng.random() < 0.5:
                rng.choice(step['split']['floors'])[2] += rng.choice([-1, 1])
            else:
                step['split']['size'] += rng.choice([-1, 1])
        else:
            return None
        return f'number of {name}', result
    return None


def main():
    folder, rewright = sys.argv[1], sys.argv[2]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    genuine, failed, without, reasons = [], [], 0, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'certificate.json')
        check = lambda files: subprocess.run([rewright, 'validate', *files, '--check-certificate', path],
                                             capture_output=True, text=True)
        for row in csv.DictReader(open(os.path.join(folder, 'truth.csv'))):
            files = [os.path.join(folder, row['source']), os.path.join(folder, row['target'])]
            done = subprocess.run([rewright, 'validate', *files, '--format', 'json', '--certificate', path],
                                  capture_output=True, text=True)
            found = json.load(open(path)) if os.path.exists(path) else {'functions': []}
            if not found['functions']:
                without += 1
                continue
            if check(files).returncode != 0:
                failed.append((row['name'], check(files).stdout))
                continue
            outside = 'outside' in json.loads(done.stdout)['functions'][0] if done.stdout else False
            reason = name_of(found['functions'][0]['reason'])
            reasons[reason] += 1
            if reason == 'sequence':
                genuine.append((row['name'], files, found, outside))
            os.remove(path)
        accepted = ', '.join(f'{number} by {reason}' for reason, number in sorted(reasons.items()))
        print(f'{sum(reasons.values())} genuine certificates accepted ({accepted}), {len(failed)} not; {without} pairs '
              'without', flush=True)
        for name, said in failed:
            print(f'  {name}: {said.splitlines()[0] if said else ""}')
        kinds, accepted = {}, 0
        while count > 0 and genuine:
            name, files, found, outside = rng.choice(genuine)
            made = corrupted(found['functions'][0], rng, outside)
            if made is None:
                continue
            kind, certificate = made
            json.dump({**found, 'functions': [certificate]}, open(path, 'w'))
            done = check(files)
            kinds[kind] = kinds.get(kind, 0) + 1
            count -= 1
            if done.returncode == 0:
                accepted += 1
                print(f'ACCEPTED {name}: {kind}: {json.dumps(certificate)[:300]}', flush=True)
    print(f'{sum(kinds.values())} corrupted certificates: {accepted} accepted')
    for kind, number in sorted(kinds.items()):
        print(f'  {number:5} {kind}')
    return 1 if accepted or failed else 0


if __name__ == '__main__':
    sys.exit(main() if len(sys.argv) > 2 else __doc__)
