#!/usr/bin/env python3
"""Certificates of pairs of MLIR files: are genuine ones accepted, and corrupted ones rejected?

    scripts/mlir_certificates.py FOLDER REWRIGHT [SEED [COUNT]]

FOLDER has truth.csv (name,source,target,..). `validate --certificate` writes a certificate for each pair that it proves;
`--check-certificate` must accept it. Then COUNT of each kind (by sequence, by cells, by order) are corrupted, each by one
change, and must be rejected. Of cells and orders: one of several cases left out (they exclude each other), or what wrote a
cell left out or replaced by another instance (only one is the last); a statement taken for another instance, or the only instance
left out. Of sequences: a step left out, put in twice or in another place; a number of copies, a size or a
coefficient changed, so that polynomials have other values at small numbers (else the change is none, and is not counted);
a precondition left out or weakened, where a counterexample of `validate` is within what is left of it.
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


def corrupted(certificate, rng, outside):
    """A certificate with one change, and what was changed; none if it is no change."""
    result = copy.deepcopy(certificate)
    side = rng.choice(['before', 'after'])
    steps = result[side]
    kind = rng.choice(['drop', 'twice', 'swap', 'coefficient', 'coefficient', 'number', 'precondition'])
    if kind == 'precondition':
        if not result['precondition'] or not outside:
            return None
        n = rng.randrange(len(result['precondition']))
        # A size that the counterexample does not need is none.
        if len(result['precondition']) > 1:
            result['precondition'] = []
        elif rng.random() < 0.5:
            del result['precondition'][n]
        else:
            size, bound = result['precondition'][n].split(' >= ')
            bound = int(bound) - rng.randrange(1, 4)
            if int(outside.get(size, bound)) < bound:  # The counterexample is still outside: it may be true.
                return None
            result['precondition'][n] = f'{size} >= {bound}'
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


def moved(at, rng):
    """Another instance: a variable that is not what it was."""
    named = [p for p in at if any(factors for _, factors in p)]
    if not named:
        return False
    rng.choice(named).append([rng.choice([-2, -1, 1, 2]), []])
    return True


def corrupted_reason(certificate, rng):
    """The same of what is said of cells or of an order."""
    result = copy.deepcopy(certificate)
    (name, said), = result['reason'].items()
    if name == 'order':
        if rng.random() < 0.6:
            return ('match', result) if moved(rng.choice(said['matches'])[1], rng) else None
        instances = rng.choice(said['instances'])
        if len(instances) != 1:  # Of several, one may be needed nowhere.
            return None
        del instances[rng.randrange(len(instances))]
        return 'instance left out', result
    flow = said[rng.choice(['before', 'after'])]
    places = [pieces for _, pieces in flow['loads'] + flow['last'] if pieces]
    pieces = rng.choice(places) if places else []
    if not pieces:
        return None
    n = rng.randrange(len(pieces))
    kind = rng.choice(['piece left out', 'source left out', 'source'])
    if kind == 'piece left out':
        del pieces[n]
        return kind, result
    if pieces[n]['source'] is None:
        return None
    if kind == 'source left out':
        pieces[n]['source'] = None
        return kind, result
    return (kind, result) if moved(pieces[n]['source'][1], rng) else None


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
            said = json.loads(done.stdout)['functions'][0] if done.stdout else {}
            outside = said.get('outside', {}).get('input', {}).get('sizes')
            reason = name_of(found['functions'][0]['reason'])
            reasons[reason] += 1
            genuine.append((reason, row['name'], files, found, outside))
            os.remove(path)
        accepted = ', '.join(f'{number} by {reason}' for reason, number in sorted(reasons.items()))
        print(f'{sum(reasons.values())} genuine certificates accepted ({accepted}), {len(failed)} not; {without} pairs '
              'without', flush=True)
        for name, said in failed:
            print(f'  {name}: {said.splitlines()[0] if said else ""}')
        kinds, accepted = collections.Counter(), 0
        for wanted in sorted(reasons):
            of_kind, left = [g for g in genuine if g[0] == wanted], count
            while left > 0:
                reason, name, files, found, outside = rng.choice(of_kind)
                certificate = found['functions'][0]
                made = corrupted(certificate, rng, outside) if reason == 'sequence' else corrupted_reason(certificate, rng)
                if made is None:
                    continue
                kind, certificate = made
                with open(path, 'w') as file:
                    json.dump({**found, 'functions': [certificate]}, file)
                done = check(files)
                kinds[f'{reason}: {kind}'] += 1
                left -= 1
                if done.returncode != 1:
                    accepted += 1
                    print(f'NOT REJECTED {name}: {kind}: {done.stderr.strip()[:200]}', flush=True)
                    with open(os.path.join(tempfile.gettempdir(), f'not-rejected-{accepted}.json'), 'w') as file:
                        json.dump({**found, 'functions': [certificate]}, file)
    print(f'{sum(kinds.values())} corrupted certificates: {accepted} not rejected')
    for kind, number in sorted(kinds.items()):
        print(f'  {number:5} {kind}')
    return 1 if accepted or failed else 0


if __name__ == '__main__':
    sys.exit(main() if len(sys.argv) > 2 else __doc__)
